import { addressIn } from '../../../base/addresses.js';
import { normal } from '../../../base/text.js';
import { isBlankText } from '../../../base/validation.js';
import type { People } from '../../contract/records/people.js';
import { fold } from '../search.js';
import type { ReferenceField } from '../sheet/columns.js';
import { problemAt, type Candidate, type RowProblem } from './candidate.js';

/** Looks up the records that contracts of an import may reference by name. */
export interface Directory {
  subject(text: string): Found;
  member(text: string): Found;
  template(text: string): Found;
  isRole(code: string): boolean;
}
/** An id, or the problem as the end of a sentence. */
export type Found = { readonly id: string } | { readonly problem: string };

export function directoryOf(
  { people: { members, subjects }, roleCodes }: { readonly people: People; readonly roleCodes?: readonly string[] },
  templates: readonly { readonly id: string; readonly code: string }[],
): Directory {
  const subjectsById = new Map(subjects.map((subject) => [subject.id, subject]));
  const subjectsByName = grouped(subjects, ({ name }) => fold(name));
  const membersById = new Map(members.map((member) => [member.id, member]));
  const membersByEmail = new Map(members.map((member) => [addressIn(member.email) ?? member.email, member]));
  const roles = roleCodes && new Set(roleCodes);
  const templatesByKey = new Map(
    templates.flatMap(
      ({ id, code }) =>
        [
          [code, id],
          [id, id],
        ] as const,
    ),
  );
  return {
    subject(text) {
      const named = subjectsById.has(text) ? [{ id: text }] : (subjectsByName.get(fold(text)) ?? []);
      const [one] = named;
      if (!one) return { problem: 'is not the id or name of a subject company that you may see' };
      return named.length > 1 ? { problem: 'is the name of several subject companies; give the id' } : { id: one.id };
    },
    member(text) {
      const found = membersById.get(text) ?? membersByEmail.get(addressIn(text) ?? text);
      if (!found) return { problem: "is not a member's id or email address" };
      return found.active ? { id: found.id } : { problem: 'is not an active member' };
    },
    template(text) {
      const id = templatesByKey.get(text);
      return id === undefined ? { problem: 'is not the id or code of a lifecycle template' } : { id };
    },
    isRole: (code) => roles?.has(code) ?? true,
  };
}

const KIND = {
  subjectId: 'subject',
  ownerId: 'member',
  ownerSuperiorId: 'member',
  lifecycleTemplateId: 'template',
} as const satisfies Record<ReferenceField, Kind>;
type Kind = Exclude<keyof Directory, 'isRole'>;

/**
 * The contract with references resolved to ids: when an id is unknown, the name, email address or code in another
 * column is used.
 */
export function withReferences(
  { input, beside, place }: Candidate,
  directory: Directory,
): { readonly input: Record<string, unknown>; readonly problems: readonly RowProblem[] } {
  const found: Record<string, unknown> = { ...input };
  const problems: RowProblem[] = [];
  for (const [field, kind] of Object.entries(KIND) as [ReferenceField, Kind][]) {
    const given = input[field];
    // The schema refuses values that are not texts.
    if (given !== undefined && given !== null && typeof given !== 'string') continue;
    const attempts = [{ column: field as string, text: given ?? '' }, beside.get(field) ?? { column: field, text: '' }]
      .map(({ column, text }) => ({ column, text: text.trim() }))
      .filter(({ text }) => text !== '');
    const results = attempts.map(({ column, text }) => ({ column, result: foundBy(text, directory[kind]) }));
    const [known] = results.flatMap(({ result }) => ('id' in result ? [result.id] : []));
    if (known !== undefined) found[field] = known;
    else if (results[0] && 'problem' in results[0].result) {
      problems.push(problemAt(place(results[0].column), results[0].result.problem, 'REFERENCE_INVALID'));
      if (attempts[0]) found[field] = attempts[0].text.slice(0, 100); // already refused; cut so that the schema does not report its length as well
    }
  }
  return { input: found, problems: [...problems, ...unknownRoles(input['workflowAllowedRoles'], place, directory)] };
}

/** The schema refuses values that are not lists of texts. */
function unknownRoles(codes: unknown, place: Candidate['place'], { isRole }: Directory): RowProblem[] {
  const texts: readonly unknown[] = Array.isArray(codes) ? codes : [];
  return texts.flatMap((code, i) =>
    typeof code !== 'string' || isBlankText(code) || isKnown(code.trim(), isRole)
      ? []
      : [problemAt(place(`workflowAllowedRoles[${i}]`), 'is not the code of a role', 'REFERENCE_INVALID')],
  );
}

function foundBy(text: string, find: (text: string) => Found): Found {
  const plain = normal(text, { max: LONGEST });
  return plain.ok ? find(plain.text) : { problem: plain.problem };
}

function isKnown(code: string, isRole: Directory['isRole']): boolean {
  const plain = normal(code, { max: LONGEST });
  return plain.ok && isRole(plain.text);
}

/** In UTF-16 units; names have at most five hundred characters, which may be in decomposed form. */
const LONGEST = 4_000;

function grouped<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}
