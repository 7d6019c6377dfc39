import type { FailureCode } from '../../../base/failures.js';
import { normal } from '../../../base/text.js';
import { uniqueKey } from '../unique-key.js';
import type { ReferenceField } from '../sheet/columns.js';

/** Something wrong with a row. */
export interface RowProblem {
  readonly row: number;
  /** The column's name in a sheet, the path in a request; `null` when it is the row as a whole. */
  readonly field: string | null;
  readonly code: FailureCode;
  readonly message: string;
  /** As it came. */
  readonly value: unknown;
}

/** Where a field of a contract stood in what was sent. */
export interface CellOfRow {
  readonly row: number;
  readonly field: string;
  readonly value: unknown;
}

/** A contract that is to be entered, out of one row or of several, and what is known to be wrong with it already. */
export interface Candidate {
  /** All rows that it is made of, in their order. */
  readonly rows: readonly [number, ...number[]];
  /** As far as it could be read, in the shape of a request. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly problems: readonly RowProblem[];
  /** What stands beside an id, and by which the record is found when the id is not there or unknown here. */
  readonly beside: ReadonlyMap<ReferenceField, { readonly column: string; readonly text: string }>;
  /** Finds what a path of the request (`payments[2].amount`) was read from. */
  place(path: string): CellOfRow;
}

/** A contract out of the list `rows` of a request. */
export function candidateOfRow(row: number, input: Readonly<Record<string, unknown>>): Candidate {
  return {
    rows: [row],
    input,
    problems: [],
    beside: new Map(),
    place: (path) => ({ row, field: path, value: valueAt(input, path) }),
  };
}

export const problemAt = (
  { row, field, value }: CellOfRow,
  problem: string,
  code: FailureCode = 'INVALID_INPUT',
): RowProblem => ({ row, field, code, message: `${field} ${problem}`, value });

/** The contract number as far as it can be read. */
export const numberOf = ({ input }: Pick<Candidate, 'input'>): string | undefined => {
  const number = input['contractNo'];
  return typeof number === 'string' ? codeIn(number) : undefined;
};

/**
 * A contract number or an archive code in normal form; `undefined` for what is none, and is refused where it is
 * checked.
 */
export function codeIn(text: string): string | undefined {
  const plain = normal(text.trim(), { max: LONGEST_CODE });
  return plain.ok && plain.text !== '' ? plain.text : undefined;
}

/** In UTF-16 units: a code has at most a hundred characters, and each of them may come taken apart. */
const LONGEST_CODE = 1_000;

/**
 * Marks contracts whose number or archive code another one in the same file has: the first keeps it, whether or not it
 * can be entered.
 */
export function withDuplicates(candidates: readonly Candidate[]): Candidate[] {
  const seen = { contractNo: new Map<string, number>(), archiveCode: new Map<string, number>() };
  return candidates.map((candidate) => {
    const problems = (['contractNo', 'archiveCode'] as const).flatMap((field): RowProblem[] => {
      const text = candidate.input[field];
      const code = typeof text === 'string' ? codeIn(text) : undefined;
      if (code === undefined) return [];
      const key = uniqueKey(code);
      const first = seen[field].get(key);
      if (first === undefined) seen[field].set(key, candidate.rows[0]);
      return first === undefined
        ? []
        : [
            problemAt(
              candidate.place(field),
              `is that of row ${first} already`,
              field === 'contractNo' ? 'DUPLICATE_CONTRACT_NO' : 'DUPLICATE_ARCHIVE_CODE',
            ),
          ];
    });
    return problems.length === 0 ? candidate : { ...candidate, problems: [...candidate.problems, ...problems] };
  });
}

/** The value at `payments[2].amount`, if there is one. */
function valueAt(root: unknown, path: string): unknown {
  let value: unknown = root;
  for (const part of path.split(/[.[\]]+/).filter((one) => one !== '')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}
