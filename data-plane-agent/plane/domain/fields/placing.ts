import type { FieldRow } from '../../tables/fields.js';
import { inOrder } from './definition.js';

/**
 * The section of a field and its position in it, counted from 1. Without a position, or beyond the end, it is the last.
 */
export interface FieldPosition {
  readonly section: string | null;
  readonly at?: number | undefined;
}

/**
 * Moves `row` to a position and renumbers its new and its former section from 1 without gaps. Returns the moved field,
 * and the other fields whose position changes.
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

/** The changed positions of other fields when a field is archived. */
export const closedUp = (fields: readonly FieldRow[], row: FieldRow): readonly (readonly [FieldRow, number])[] =>
  inSection(
    fields.filter(({ id, archived }) => id !== row.id && !archived),
    row.section,
  ).flatMap((field, i) => (field.position === i + 1 ? [] : [[field, i + 1] as const]));

const inSection = (fields: readonly FieldRow[], section: string | null): FieldRow[] =>
  fields.filter((field) => field.section === section).toSorted(inOrder);
