import type { FailureCode } from '../../../base/failures.js';
import { normal } from '../../../base/text.js';
import { mapYielding } from '../../../base/yielding.js';
import { uniqueKey } from '../unique-key.js';
import type { ReferenceField } from '../sheet/columns.js';

/** A problem with a row. */
export interface RowProblem {
  readonly row: number;
  /** The column name in a sheet, or the path in a request; `null` for the whole row. */
  readonly field: string | null;
  readonly code: FailureCode;
  readonly message: string;
  /** The value as it was sent. */
  readonly value: unknown;
}

/** The cell from which a field of a contract was read. */
export interface CellOfRow {
  readonly row: number;
  readonly field: string;
  readonly value: unknown;
}

/** A contract to be created from one or several rows, with the problems found so far. */
export interface Candidate {
  /** All its rows in order. */
  readonly rows: readonly [number, ...number[]];
  /** The readable values in the shape of a request. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly problems: readonly RowProblem[];
  /** Names, email addresses or codes in other columns, used when an id is missing or unknown. */
  readonly beside: ReadonlyMap<ReferenceField, { readonly column: string; readonly text: string }>;
  /** Finds the cell from which a path of the request (`payments[2].amount`) was read. */
  place(path: string): CellOfRow;
}

/** A contract from the `rows` of a request. */
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

/** The contract number, if it can be read. */
export const numberOf = ({ input }: Pick<Candidate, 'input'>): string | undefined => {
  const number = input['contractNo'];
  return typeof number === 'string' ? codeIn(number) : undefined;
};

/**
 * The normal form of a contract number or an archive code. `undefined` for invalid texts, which are refused by the
 * schema later.
 */
export function codeIn(text: string): string | undefined {
  const plain = normal(text.trim(), { max: LONGEST_CODE });
  return plain.ok && plain.text !== '' ? plain.text : undefined;
}

/** In UTF-16 units; a code has at most a hundred characters, which may be in decomposed form. */
const LONGEST_CODE = 1_000;

/**
 * Marks contracts whose number or archive code is used by an earlier contract of the same file, whether or not that one
 * can be created.
 */
export function withDuplicates(candidates: readonly Candidate[]): Promise<Candidate[]> {
  const seen = { contractNo: new Map<string, number>(), archiveCode: new Map<string, number>() };
  return mapYielding(candidates, (candidate) => {
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
              `is already used in row ${first}`,
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
