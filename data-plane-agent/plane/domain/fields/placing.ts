import type { FieldRow } from '../../tables/fields.js';
import { inOrder } from './definition.js';

/**
 * Where a live field goes: its section, and its place in it from 1; beyond the end is the end, and no place is the end.
 */
export interface FieldPosition {
  readonly section: string | null;
  readonly at?: number | undefined;
}

/**
 * The places of a section's fields when `row` comes to stand in it, and of those that it leaves: from 1, without gaps.
 * Answers the field at its place, and the others that move.
 */
export function placed(
  fields: readonly FieldRow[],
  row: FieldRow,
  { section, at }: FieldPosition,
): { readonly row: FieldRow; readonly others: readonly (readonly [FieldRow, number])[] } {
  const others = fields.filter(({ id, archived }) => id !== row.id && !archived);
  const there = inSection(others, section);
  const place = Math.min(at ?? Infinity, there.length + 1);
  const moved = there.flatMap((field, i) =>
    (i + 1 < place ? i + 1 : i + 2) === field.position ? [] : [[field, i + 1 < place ? i + 1 : i + 2] as const],
  );
  const left =
    row.section === section
      ? []
      : inSection(others, row.section).flatMap((field, i) =>
          field.position === i + 1 ? [] : [[field, i + 1] as const],
        );
  return { row: { ...row, section, position: place }, others: [...moved, ...left] };
}

/** The places that are left when a field goes out of sight. */
export const closedUp = (fields: readonly FieldRow[], row: FieldRow): readonly (readonly [FieldRow, number])[] =>
  inSection(
    fields.filter(({ id, archived }) => id !== row.id && !archived),
    row.section,
  ).flatMap((field, i) => (field.position === i + 1 ? [] : [[field, i + 1] as const]));

const inSection = (fields: readonly FieldRow[], section: string | null): FieldRow[] =>
  fields.filter((field) => field.section === section).toSorted(inOrder);
