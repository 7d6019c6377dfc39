import type { Rights } from '../../contract/call.js';
import { mapYielding } from '../../../base/yielding.js';
import {
  MAX_REPORT_ERRORS,
  MAX_ROW_ERRORS,
  type ImportedRow,
  type ImportError,
  type ImportReport,
} from '../../contract/records/imports.js';
import type { Warning } from '../../contract/records/common.js';
import type { FieldRow } from '../../tables/fields.js';
import type { LineRow } from '../../tables/payment-lines.js';
import { isAccountField, shown } from '../sensitive.js';
import { CUSTOM_FIELD } from '../sheet/columns.js';
import { numberOf, type Candidate, type RowProblem } from './candidate.js';

interface Entered {
  readonly contractId: string;
  readonly contractNo: string;
  readonly lines: readonly LineRow[];
}

/** What became of a contract that was to be entered. */
export interface Outcome {
  readonly candidate: Candidate;
  readonly entered: Entered | null;
  /** Of one that was not entered, at least one. */
  readonly problems: readonly RowProblem[];
}

interface Told {
  readonly outcomes: readonly Outcome[];
  readonly blank: readonly number[];
  readonly unknownColumns: readonly string[];
  /** Of rows that were entered, by their number. */
  readonly warnings: ReadonlyMap<number, readonly Warning[]>;
  readonly rights: Pick<Rights, 'sensitive'>;
}

/** The report of an import, row by row in the order of the file. */
export async function reportOf(
  batchId: string | null,
  { outcomes, blank, unknownColumns, warnings, rights }: Told,
): Promise<ImportReport> {
  const skipped = blank.map((row): ImportedRow => ({ row, status: 'skipped' }));
  const made = new Set(
    batchId === null ? outcomes.flatMap(({ entered }) => entered?.lines.map(({ id }) => id) ?? []) : [],
  );
  const telling: Telling = {
    rights,
    isPreview: batchId === null,
    warnings: (row) => (warnings.get(row) ?? []).map((warning) => withoutLines(warning, made)),
    errors: 0,
  };
  const told = await mapYielding(outcomes, (outcome) => rowsOf(outcome, telling));
  const rows = [...told.flat(), ...skipped].toSorted((a, b) => a.row - b.row);
  const count = (status: ImportedRow['status']): number => rows.filter((row) => row.status === status).length;
  return {
    batchId,
    total: rows.length,
    created: count('created'),
    failed: count('failed'),
    skipped: skipped.length,
    contracts: outcomes.filter(({ entered }) => entered !== null).length,
    unknownColumns: [...unknownColumns],
    rows,
  };
}

interface Telling extends Pick<Told, 'rights'> {
  readonly isPreview: boolean;
  warnings(row: number): Warning[];
  /** How many have been told. */
  errors: number;
}

async function rowsOf({ candidate, entered, problems }: Outcome, telling: Telling): Promise<ImportedRow[]> {
  const { isPreview } = telling;
  if (entered) {
    return candidate.rows.map((row) => {
      const warnings = telling.warnings(row);
      return {
        row,
        status: 'created',
        ...(isPreview ? {} : { contractId: entered.contractId }),
        contractNo: entered.contractNo,
        ...(warnings.length === 0 ? {} : { warnings }),
      };
    });
  }
  const contractNo = numberOf(candidate)?.slice(0, 1_000);
  const byRow = Map.groupBy(problems, ({ row }) => row);
  const [first] = byRow.keys();
  return mapYielding(candidate.rows, (row) => {
    const errors = errorsOf(byRow.get(row) ?? [], { row: first ?? row, telling });
    telling.errors += errors.length;
    return { row, status: 'failed', ...(contractNo === undefined ? {} : { contractNo }), errors };
  });
}

/** Without these lines, which are undone; where it names no other, it names none. */
function withoutLines({ paymentIds, ...warning }: Warning, undone: ReadonlySet<string>): Warning {
  const there = paymentIds?.filter((id) => !undone.has(id)) ?? [];
  return there.length === 0 ? warning : { ...warning, paymentIds: there };
}

/** `row`: where the contract has an error, if these are none. */
function errorsOf(
  own: readonly RowProblem[],
  { row, telling: { rights, errors } }: { readonly row: number; readonly telling: Telling },
): ImportError[] {
  // A contract is entered whole or not at all.
  if (own.length === 0)
    return [
      { field: null, code: 'INVALID_INPUT', message: `row ${row} of the same contract has an error`, value: null },
    ];
  return own.slice(0, errors < MAX_REPORT_ERRORS ? MAX_ROW_ERRORS : 1).map(({ field, code, message, value }) => ({
    field: field?.slice(0, 400) ?? null,
    code,
    message: message.slice(0, 1_000),
    value: quoted(field, value, rights),
  }));
}

/** As the caller may see it, at most a hundred characters. */
function quoted(field: string | null, value: unknown, rights: Told['rights']): string | null {
  if (value === null || value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return cut(field !== null && isAccountField(field) ? (shown(text, rights) ?? '') : text);
}

function cut(text: string): string {
  const start = text.slice(0, 200); // a hundred characters are at most two hundred units
  return [...start].slice(0, 100).join('').toWellFormed();
}

/**
 * A report for somebody else than it was made for: `fields` are the custom fields that he sees, and of others he is
 * told no value; `null` for whoever sent them.
 */
export function reportFor(
  report: ImportReport,
  rights: Told['rights'],
  fields: readonly Pick<FieldRow, 'id' | 'code'>[] | null,
): ImportReport {
  const seen = new Set(fields?.flatMap(({ id, code }) => [`${CUSTOM_FIELD}${code}`, `dynamicFields.${id}`]));
  const isHidden = (field: string | null) =>
    fields !== null && field !== null && /^(?:cf:|dynamicFields)/.test(field) && !seen.has(field);
  const shownError = (error: ImportError): ImportError => ({
    ...error,
    value: isHidden(error.field)
      ? null
      : error.field !== null && isAccountField(error.field)
        ? shown(error.value, rights)
        : error.value,
  });
  return {
    ...report,
    rows: report.rows.map((row) => (row.errors ? { ...row, errors: row.errors.map(shownError) } : row)),
  };
}
