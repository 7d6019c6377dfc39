import { fail, invalid } from '../../../base/failures.js';
import type { Issue } from '../../../base/issue.js';
import { MAX_KNOWN_OPTIONS, type FieldOption, type FieldOptionInput } from '../../contract/records/fields.js';

export interface NextOptions {
  readonly options: readonly FieldOption[];
  /** Ids of options that were active and are no longer listed. */
  readonly removed: readonly string[];
}

interface Listing {
  readonly given: readonly FieldOptionInput[];
  /** Whether options left out are deleted instead of archived. */
  readonly forgets?: boolean;
  readonly newId: () => string;
}

/**
 * The options in the order of a request; options left out are archived and follow after. An option given only by label
 * matches the present option with that label, including archived ones. Throws 400 for duplicate labels, and 422 for an
 * unknown id.
 */
export function nextOptions(present: readonly FieldOption[], { given, forgets = false, newId }: Listing): NextOptions {
  refuseAlike(given);
  const byId = new Map(present.map((option) => [option.id, option]));
  const claimed = new Set(given.flatMap(({ id }) => (id ? [id] : [])));
  const byLabel = new Map(
    present.filter(({ id }) => !claimed.has(id)).map((option) => [option.label.toLowerCase(), option]),
  );
  const listed = given.map(({ id, label, color }, i): FieldOption => {
    const known = id ? byId.get(id) : byLabel.get(label.toLowerCase());
    if (id && !known) throw fail('REFERENCE_INVALID', { field: `payload.options[${i}].id`, value: id });
    return {
      id: known?.id ?? newId(),
      label,
      color: color === undefined ? (known?.color ?? null) : color,
      order: i + 1,
      archived: false,
    };
  });
  const ids = new Set(listed.map(({ id }) => id));
  const left = present.filter(({ id }) => !ids.has(id));
  const kept = forgets ? left.filter(({ archived }) => archived) : left;
  const taken = new Set(kept.map(({ label }) => label.toLowerCase()));
  const clash = listed.findIndex(({ label }) => taken.has(label.toLowerCase()));
  if (clash >= 0)
    throw invalid({
      path: `payload.options[${clash}].label`,
      problem: 'is the label of an option that is left out; list that one instead',
    });
  const options = [
    ...listed,
    ...kept.map((option, i): FieldOption => ({ ...option, order: listed.length + i + 1, archived: true })),
  ];
  if (options.length > MAX_KNOWN_OPTIONS) throw fail('LIMIT_REACHED', { limit: MAX_KNOWN_OPTIONS });
  return { options, removed: left.filter(({ archived }) => !archived).map(({ id }) => id) };
}

function refuseAlike(given: readonly FieldOptionInput[]): void {
  const issues: Issue[] = [];
  const labels = new Set<string>();
  const ids = new Set<string>();
  for (const [i, { id, label }] of given.entries()) {
    const key = label.toLowerCase();
    if (labels.has(key))
      issues.push({
        path: `payload.options[${i}].label`,
        problem: 'must differ from the other labels, in more than case',
      });
    if (id && ids.has(id)) issues.push({ path: `payload.options[${i}].id`, problem: 'must not be repeated' });
    labels.add(key);
    if (id) ids.add(id);
  }
  if (issues.length > 0) throw invalid(...issues);
}
