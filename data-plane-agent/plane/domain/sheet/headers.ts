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
 * The column that says how a file of rejected rows is read: a number and a day in the style of the file that they come
 * from, which other rows of it may have shown.
 */
export const STYLE_COLUMN = 'read as';

export interface MatchedHeader {
  readonly targets: readonly (Target | undefined)[];
  /** Unknown headers as written. */
  readonly unknown: readonly string[];
}

/**
 * Finds the meaning of each header: a field, its label in English or Chinese, or a custom field (`cf:` and its code, or
 * its name), ignoring case and spaces. `fields` are those that the caller may see. Fails with IMPORT_FILE_INVALID when
 * two columns name the same field, or no header is known.
 */
export function matchHeader(header: readonly (string | null)[], fields: readonly FieldRow[]): MatchedHeader {
  const known = new Map([...customTargets(fields), ...OWN]);
  const targets = withOwner(
    header.map((text) => (text === null ? undefined : (known.get(keyOf(text)) ?? known.get(keyOf(unguarded(text)))))),
  );
  if (targets.every((target) => target === undefined))
    throw fail('IMPORT_FILE_INVALID', { reason: 'no column has a known header' });
  const seen = new Set<string>();
  for (const target of targets) {
    if (!target || target.kind === 'ignored') continue;
    if (seen.has(target.name))
      throw fail('IMPORT_FILE_INVALID', { reason: `two columns are for the field ${target.name}` });
    seen.add(target.name);
  }
  return {
    targets,
    unknown: header
      .filter((text, at): text is string => text !== null && targets[at] === undefined)
      .map((text) => text.trim().slice(0, 200)),
  };
}

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

const named = (target: Target, ...names: readonly string[]): [string, Target][] =>
  names.map((name) => [keyOf(name), target]);

const isRead = (column: ContractColumn): boolean => column.field !== null || column.insteadOf !== undefined;

/** Built-in columns take precedence over custom fields with the same name, and imported columns over ignored ones. */
const OWN: readonly [string, Target][] = [
  ...named({ kind: 'ignored', name: ERROR_COLUMN }, ERROR_COLUMN),
  ...named({ kind: 'ignored', name: STYLE_COLUMN }, STYLE_COLUMN),
  ...[...SUMMARY_COLUMNS, ...CONTRACT_COLUMNS]
    .filter((column) => !isRead(column))
    .flatMap((column) =>
      named(
        { kind: 'ignored', name: column.name, cells: column.kind },
        column.name,
        column.labels.en,
        column.labels.zh,
      ),
    ),
  ...LINE_COLUMNS.flatMap((column) =>
    named({ kind: 'line', name: column.name, column }, column.labels.en, column.labels.zh, column.name),
  ),
  ...CONTRACT_COLUMNS.filter(isRead).flatMap((column) =>
    named({ kind: 'contract', name: column.name, column }, column.labels.en, column.labels.zh, column.name),
  ),
];

/** Codes take precedence over names of other fields. */
function customTargets(fields: readonly FieldRow[]): [string, Target][] {
  const target = (field: FieldRow): Target => ({ kind: 'custom', name: `${CUSTOM_FIELD}${field.code}`, field });
  return [
    ...fields.flatMap((field) => named(target(field), field.name)),
    ...fields.flatMap((field) => named(target(field), `${CUSTOM_FIELD}${field.code}`)),
  ];
}
