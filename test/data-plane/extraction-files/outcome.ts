import type { ExtractedField } from '../../../data-plane-agent/plane/tables/extractions.js';

/** Compares the extracted fields of a document with those that a person entered. */
export interface Outcome {
  readonly name: string;
  readonly labelled: number;
  readonly right: number;
  /** `field: actual instead of expected`. */
  readonly wrong: readonly string[];
  readonly missing: readonly string[];
  /** Extracted fields that are not in the document. */
  readonly invented: readonly string[];
}

export function compared(
  name: string,
  expected: Readonly<Record<string, string | number>>,
  fields: readonly ExtractedField[],
): Outcome {
  // Clauses are recognised by their headings, which these documents do not label.
  const read = new Map(
    fields.filter(({ fieldKey }) => !fieldKey.startsWith('terms[')).map(({ fieldKey, value }) => [fieldKey, value]),
  );
  const labelled = Object.entries(expected);
  const wrong = labelled.filter(([key, value]) => read.has(key) && !isSame(read.get(key), value));
  return {
    name,
    labelled: labelled.length,
    right: labelled.filter(([key, value]) => isSame(read.get(key), value)).length,
    wrong: wrong.map(([key, value]) => `${key}: ${String(read.get(key))} instead of ${value}`),
    missing: labelled.filter(([key]) => !read.has(key)).map(([key]) => key),
    invented: [...read]
      .filter(([key]) => !Object.hasOwn(expected, key))
      .map(([key, value]) => `${key}: ${String(value)}`),
  };
}

/** Spaces, and the width of characters, depend on printing and scanning. */
const isSame = (read: unknown, expected: string | number): boolean =>
  typeof expected === 'string' && typeof read === 'string'
    ? normalised(read) === normalised(expected)
    : read === expected;
const normalised = (text: string): string => text.normalize('NFKC').replaceAll(/[’‘]/g, "'").replaceAll(/\s+/g, '');

/** A text table of documents × fields. */
export function printed(outcomes: readonly Outcome[]): string {
  const width = Math.max(...outcomes.map(({ name }) => name.length));
  const row = (name: string, ...cells: readonly (string | number)[]) =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(10)).join('')}`;
  const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + count(outcome), 0);
  return [
    row('document', 'fields', 'right', 'wrong', 'missing', 'invented'),
    ...outcomes.flatMap((outcome) => [
      row(
        outcome.name,
        outcome.labelled,
        outcome.right,
        outcome.wrong.length,
        outcome.missing.length,
        outcome.invented.length,
      ),
      ...outcome.wrong.map((text) => `    wrong    ${text}`),
      ...outcome.missing.map((text) => `    missing  ${text}`),
      ...outcome.invented.map((text) => `    invented ${text}`),
    ]),
    row(
      'all',
      sum(({ labelled }) => labelled),
      sum(({ right }) => right),
      sum(({ wrong }) => wrong.length),
      sum(({ missing }) => missing.length),
      sum(({ invented }) => invented.length),
    ),
  ].join('\n');
}
