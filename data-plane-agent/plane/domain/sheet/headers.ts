import { fail } from '../../../base/failures.js';
import { normal } from '../../../base/text.js';
import type { FieldRow } from '../../tables/fields.js';
import {
  CONTRACT_COLUMNS,
  CUSTOM_FIELD,
  LINE_COLUMNS,
  SUMMARY_COLUMNS,
  type CellKind,
  type ContractColumn,
  type LineColumn,
} from './columns.js';
import { unguarded } from './guard.js';
import { HEADER_WORDS } from './header-words.js';
import { suggestionsFor, type Suggestion } from './suggestions.js';
import { wordKey } from './word-key.js';

/** The meaning of a column. */
export type Target =
  | { readonly kind: 'contract'; readonly name: string; readonly column: ContractColumn }
  | { readonly kind: 'line'; readonly name: string; readonly column: LineColumn }
  | { readonly kind: 'custom'; readonly name: string; readonly field: FieldRow }
  /** Known but not imported: computed figures, and the columns that a file of rejected rows has in addition. */
  | { readonly kind: 'ignored'; readonly name: string; readonly cells?: CellKind };

/** The column with the errors in a file of rejected rows. */
export const ERROR_COLUMN = 'error';

/**
 * The column of a file of rejected rows that states its style: a number and a date in the style of the original file,
 * which may have been decided by other rows.
 */
export const STYLE_COLUMN = 'read as';

export interface MatchedHeader {
  readonly targets: readonly (Target | undefined)[];
  /** Unknown headers as written. */
  readonly unknown: readonly string[];
  /** Fields that unknown headers probably mean. */
  readonly suggestions: readonly Suggestion[];
}

/**
 * Finds the meaning of each header: a field, its label in English or Chinese, or a custom field (`cf:` and its code, or
 * its name), ignoring case and spaces; and where none of these matches, another word for it, ignoring punctuation too.
 * `fields` are those that the caller may see. Fails with IMPORT_FILE_INVALID if two columns name the same field, or no
 * header is known.
 */
export function matchHeader(header: readonly (string | null)[], fields: readonly FieldRow[]): MatchedHeader {
  const exact = new Map([...customTargets(fields, keyOf), ...OWN]);
  const words = new Map([...customTargets(fields, wordKey), ...OWN_WORDS]);
  const found = (text: string, known: ReadonlyMap<string, Target>, key: (one: string) => string) =>
    known.get(key(text)) ?? known.get(key(unguarded(text)));
  const named = header.map((text) => (text === null ? undefined : found(text, exact, keyOf)));
  const taken = new Set(named.map((target) => target?.name));
  const targets = withOwner(
    header.map((text, at) => {
      if (named[at] || text === null) return named[at];
      // Another word for a field is ignored if a column has the field's name or label.
      const target = found(text, words, wordKey);
      return target && taken.has(target.name) ? undefined : target;
    }),
  );
  if (targets.every((target) => target === undefined))
    throw fail('IMPORT_FILE_INVALID', {
      reason: 'no column has a known header; the first row must be the header, without a title above it',
    });
  const seen = new Map<string, string>();
  for (const [at, target] of targets.entries()) {
    if (!target || target.kind === 'ignored') continue;
    const text =
      header[at]
        ?.replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim()
        .slice(0, 100) ?? '';
    const other = seen.get(target.name);
    if (other !== undefined)
      throw fail('IMPORT_FILE_INVALID', {
        reason: `two columns are for the field ${target.name}: "${other}" and "${text}"; remove or rename one of them`,
      });
    seen.set(target.name, text);
  }
  const unknown = header
    .filter((text, at): text is string => text !== null && targets[at] === undefined)
    .map((text) => text.trim().slice(0, 200));
  return { targets, unknown, suggestions: suggestionsFor(unknown, unusedWords(words, seen)) };
}

/** The words for fields without a column in the file. */
const unusedWords = (words: ReadonlyMap<string, Target>, seen: ReadonlyMap<string, string>): [string, string][] =>
  [...words].flatMap(([word, { kind, name }]) =>
    kind === 'ignored' || seen.has(name) ? [] : [[word, name] as [string, string]],
  );

/**
 * When no other column identifies the owner, the name column of exports is read as the owner's id or email address,
 * since people use that header for both.
 */
function withOwner(targets: readonly (Target | undefined)[]): readonly (Target | undefined)[] {
  if (
    targets.some((target) => target?.kind === 'contract' && (target.name === 'ownerId' || target.name === 'ownerEmail'))
  )
    return targets;
  const byEmail = OWN.find(([, { name }]) => name === 'ownerEmail')?.[1];
  return targets.map((target) => (target?.kind === 'ignored' && target.name === 'ownerName' ? byEmail : target));
}

/** The key of a header for comparison; a header that cannot be normalized matches nothing. */
function keyOf(header: string): string {
  const plain = normal(header, { max: LONGEST, form: 'NFKC' });
  return plain.ok ? plain.text.toLowerCase().replaceAll(/\s/g, '') : header;
}

/** In UTF-16 units; names of custom fields have at most a hundred characters. */
const LONGEST = 1_000;

const named = ({ name, labels }: ContractColumn | LineColumn, target: Target): Named[] =>
  [name, labels.en, labels.zh].map((text) => [text, target]);

const isRead = (column: ContractColumn): boolean => column.field !== null || column.insteadOf !== undefined;

type Named = readonly [string, Target];

/** Built-in columns take precedence over custom fields with the same name, and imported columns over ignored ones. */
const NAMES: readonly Named[] = [
  [ERROR_COLUMN, { kind: 'ignored', name: ERROR_COLUMN }],
  [STYLE_COLUMN, { kind: 'ignored', name: STYLE_COLUMN }],
  ...[...SUMMARY_COLUMNS, ...CONTRACT_COLUMNS]
    .filter((column) => !isRead(column))
    .flatMap((column) => named(column, { kind: 'ignored', name: column.name, cells: column.kind })),
  ...LINE_COLUMNS.flatMap((column) => named(column, { kind: 'line', name: column.name, column })),
  ...CONTRACT_COLUMNS.filter(isRead).flatMap((column) =>
    named(column, { kind: 'contract', name: column.name, column }),
  ),
];
const OWN: readonly Named[] = NAMES.map(([text, target]) => [keyOf(text), target]);

/** The names and labels without punctuation, and other words. */
const OWN_WORDS: readonly Named[] = [
  ...NAMES.flatMap(([, target]) => (HEADER_WORDS[target.name] ?? []).map((word): Named => [wordKey(word), target])),
  ...NAMES.map(([text, target]): Named => [wordKey(text), target]),
];

/** Codes take precedence over names of other fields. */
function customTargets(fields: readonly FieldRow[], key: (text: string) => string): Named[] {
  const target = (field: FieldRow): Target => ({ kind: 'custom', name: `${CUSTOM_FIELD}${field.code}`, field });
  return [
    ...fields.map((field): Named => [key(field.name), target(field)]),
    ...fields.map((field): Named => [key(`${CUSTOM_FIELD}${field.code}`), target(field)]),
  ];
}
