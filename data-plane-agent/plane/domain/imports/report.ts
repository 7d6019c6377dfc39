import type { Rights } from '../../contract/call.js';
import { mapYielding } from '../../../base/yielding.js';
import {
  MAX_REPORT_ERRORS,
  MAX_ROW_ERRORS,
  type ImportedRow,
  type ImportError,
  type ImportReading,
  type ImportReport,
} from '../../contract/records/imports.js';
import type { Warning } from '../../contract/records/common.js';
import type { FieldRow } from '../../tables/fields.js';
import { isAccountField, shown } from '../sensitive.js';
import { CUSTOM_FIELD } from '../sheet/columns.js';
import { numberOf, type Candidate, type RowProblem } from './candidate.js';

interface Entered {
  readonly contractId: string;
  readonly contractNo: string;
  /** All its lines. */
  readonly lineIds: readonly string[];
  /** Its lines that were paid by a bank transfer, with the rows that they were read from. */
  readonly transferred: readonly { readonly id: string; readonly bankSerialNo: string; readonly row: number }[];
  /** Warnings by row number; those of the contract as a whole are with its first row. */
  readonly warnings: readonly (readonly [row: number, warnings: readonly Warning[]])[];
}

/** The result for one contract of an import. */
export interface Outcome {
  readonly candidate: Pick<Candidate, 'rows' | 'input'>;
  readonly entered: Entered | null;
  /** At least one when the contract was not created. */
  readonly problems: readonly RowProblem[];
}

interface ImportResult {
  readonly outcomes: readonly Outcome[];
  readonly blank: readonly number[];
  readonly unknownColumns: readonly string[];
  readonly suggestions: ImportReport['suggestions'];
  readonly missingColumns: readonly string[];
  readonly reading: ImportReading | null;
  /** Warnings of created rows by row number. */
  readonly warnings: ReadonlyMap<number, readonly Warning[]>;
  readonly rights: Pick<Rights, 'sensitive'>;
}

/** The report of an import, ordered by row. */
export async function reportOf(
  batchId: string | null,
  { outcomes, blank, warnings, rights, ...file }: ImportResult,
): Promise<ImportReport> {
  const skipped = blank.map((row): ImportedRow => ({ row, status: 'skipped' }));
  const made = new Set(batchId === null ? outcomes.flatMap(({ entered }) => entered?.lineIds ?? []) : []);
  const context: ReportContext = {
    rights,
    isPreview: batchId === null,
    warnings: (row) => (warnings.get(row) ?? []).map((warning) => withoutLines(warning, made)),
    errors: 0,
  };
  const reported = await mapYielding(outcomes, (outcome) => rowsOf(outcome, context));
  const rows = [...reported.flat(), ...skipped].toSorted((a, b) => a.row - b.row);
  const count = (status: ImportedRow['status']): number => rows.filter((row) => row.status === status).length;
  return {
    batchId,
    total: rows.length,
    created: count('created'),
    failed: count('failed'),
    skipped: skipped.length,
    contracts: outcomes.filter(({ entered }) => entered !== null).length,
    unknownColumns: [...file.unknownColumns],
    suggestions: [...file.suggestions],
    missingColumns: [...file.missingColumns],
    reading: file.reading,
    rows,
  };
}

interface ReportContext extends Pick<ImportResult, 'rights'> {
  readonly isPreview: boolean;
  warnings(row: number): Warning[];
  /** The number of errors reported so far. */
  errors: number;
}

async function rowsOf({ candidate, entered, problems }: Outcome, context: ReportContext): Promise<ImportedRow[]> {
  const { isPreview } = context;
  if (entered) {
    return candidate.rows.map((row) => {
      const warnings = context.warnings(row);
      return {
        row,
        status: 'created',
        ...(isPreview ? {} : { contractId: entered.contractId }),
        contractNo: entered.contractNo,
        ...(warnings.length === 0 ? {} : { warnings }),
      };
    });
  }
  // Columns that the file lacks are reported once.
  const hasOwn = problems.length > 0;
  const contractNo = numberOf(candidate)?.slice(0, 1_000);
  const byRow = Map.groupBy(problems, ({ row }) => row);
  const [first] = byRow.keys();
  return mapYielding(candidate.rows, (row) => {
    const errors = !hasOwn ? [] : errorsOf(byRow.get(row) ?? [], { row: first ?? row, context });
    context.errors += errors.length;
    return { row, status: 'failed', ...(contractNo === undefined ? {} : { contractNo }), errors };
  });
}

/** Removes ids of lines that were rolled back from a warning. */
function withoutLines({ paymentIds, ...warning }: Warning, undone: ReadonlySet<string>): Warning {
  const there = paymentIds?.filter((id) => !undone.has(id)) ?? [];
  return there.length === 0 ? warning : { ...warning, paymentIds: there };
}

/** `row` is the row with the contract's error when `own` is empty. */
function errorsOf(
  own: readonly RowProblem[],
  { row, context: { rights, errors } }: { readonly row: number; readonly context: ReportContext },
): ImportError[] {
  // A contract is created completely or not at all.
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

/** The value as the caller may see it, limited to a hundred characters. */
function quoted(field: string | null, value: unknown, rights: ImportResult['rights']): string | null {
  if (value === null || value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return cut(field !== null && isAccountField(field) ? (shown(text, rights) ?? '') : text);
}

function cut(text: string): string {
  const start = text.slice(0, 200); // a hundred characters take at most two hundred units
  return [...start].slice(0, 100).join('').toWellFormed();
}

/**
 * A report for another reader than the importing user. `fields` are the custom fields that the reader may see; values
 * of others are removed. `null` for the importing user.
 */
export function reportFor(
  report: ImportReport,
  rights: ImportResult['rights'],
  fields: readonly Pick<FieldRow, 'id' | 'code'>[] | null,
): ImportReport {
  const seen = new Set(fields?.flatMap(({ id, code }) => [`${CUSTOM_FIELD}${code}`, `dynamicFields.${id}`]));
  const isHidden = (field: string | null) =>
    fields !== null && field !== null && /^(?:cf:|dynamicFields)/.test(field) && !seen.has(field);
  const shownError = (error: ImportError): ImportError => ({
    ...error,
    // Some messages quote the value.
    message: isHidden(error.field) ? `${error.field} has a value that you may not see` : error.message,
    value: isHidden(error.field)
      ? null
      : error.field !== null && isAccountField(error.field)
        ? shown(error.value, rights)
        : error.value,
  });
  return {
    ...report,
    // Reports of an earlier version have none of these.
    suggestions: report.suggestions ?? [],
    missingColumns: report.missingColumns ?? [],
    reading: report.reading ?? null,
    rows: report.rows.map((row) => (row.errors ? { ...row, errors: row.errors.map(shownError) } : row)),
  };
}
