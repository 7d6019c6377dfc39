import { weight } from '../../../base/json-pieces.js';
import { yielding } from '../../../base/yielding.js';
import type { Call } from '../../contract/call.js';
import type { ImportInput, ImportReport } from '../../contract/records/imports.js';
import type { Sheet } from '../../contract/records/sheet.js';
import { candidateOfRow, withDuplicates, type Candidate } from '../../domain/imports/candidate.js';
import { checkCandidate, type CheckedCandidate } from '../../domain/imports/check-candidate.js';
import { directoryOf } from '../../domain/imports/references.js';
import type { Rejected } from '../../tables/imports.js';
import { rejectedOfRows, rejectedOfSheet } from '../../domain/imports/rejected.js';
import { sheetCandidates } from '../../domain/imports/sheet-candidates.js';
import { NO_UNREAD_COLUMNS, unreadColumns, type UnreadColumns } from '../../domain/imports/unread-columns.js';
import { matchHeader, type MatchedHeader } from '../../domain/sheet/headers.js';
import { missingColumns } from '../../domain/sheet/required-columns.js';
import { readingOf, styleOf } from '../../domain/sheet/sheet-style.js';
import { isExampleNumber } from '../../domain/sheet/template.js';
import type { OperationContext } from '../operation-context.js';
import type { FieldRow } from '../../tables/fields.js';

/** The part of the report that describes the whole file. */
export type ReadFile = Pick<ImportReport, 'unknownColumns' | 'suggestions' | 'missingColumns' | 'reading'>;

/** The part of an import that is computed before anything is entered. */
export interface PreparedImport {
  readonly checked: readonly { readonly candidate: Candidate; readonly result: CheckedCandidate }[];
  readonly blank: readonly number[];
  readonly file: ReadFile;
  readonly unread: UnreadColumns;
  readonly rejected: (failed: readonly Pick<Candidate, 'rows' | 'input'>[]) => Promise<Rejected>;
}

/** What is shorter is imported sooner than a thread is started for it, and committed within a few milliseconds. */
const LONG = { rows: 500, lines: 1_000, characters: 500_000 } as const;

/** Whether an import is so long that it should have a thread of its own. */
export const isLongImport = ({ rows, sheet }: ImportInput): boolean =>
  (rows ?? sheet?.records ?? []).length > LONG.rows ||
  (rows ?? []).reduce((sum, { payments }) => sum + (Array.isArray(payments) ? payments.length : 0), 0) > LONG.lines ||
  weight(rows ?? sheet?.records, LONG.characters) > LONG.characters;

/**
 * Parses the cells and checks each contract on its own. This runs before the transaction, to keep that short: fields
 * and templates that disappear in between are refused when the contract is entered.
 */
export async function prepareCandidates(
  { store, signal }: OperationContext,
  call: Call,
  input: ImportInput,
): Promise<PreparedImport> {
  const fields = await store.fields.visible();
  const directory = directoryOf(input, (await store.lifecycle.all()).templates);
  const { candidates, missing, ...read } = await readInput(call, input, { fields, signal });
  const yieldIfDue = yielding(signal);
  const checked: PreparedImport['checked'][number][] = [];
  for (const candidate of await withDuplicates(candidates)) {
    await yieldIfDue();
    checked.push({ candidate, result: await checkCandidate(candidate, { directory, rights: call.rights, missing }) });
  }
  return { checked, ...read };
}

interface Reading extends Pick<PreparedImport, 'blank' | 'file' | 'unread' | 'rejected'> {
  readonly candidates: readonly Candidate[];
  /** The fields whose columns are missing in the file. */
  readonly missing: ReadonlySet<string>;
}

async function readInput(
  call: Call,
  { rows, sheet: sent, people }: ImportInput,
  { fields, signal }: { readonly fields: readonly FieldRow[]; readonly signal: AbortSignal },
): Promise<Reading> {
  if (!sent) {
    const candidates = (rows ?? []).map((row, i) => candidateOfRow(i + 1, row));
    return {
      candidates,
      missing: new Set(),
      blank: [],
      file: { unknownColumns: [], suggestions: [], missingColumns: [], reading: null },
      unread: NO_UNREAD_COLUMNS,
      rejected: (failed) => rejectedOfRows(failed, fields),
    };
  }
  const matched = matchHeader(sent.header, fields);
  const { targets, unknown, suggestions } = matched;
  const { sheet, examples } = withoutExamples(sent, targets);
  const style = await styleOf({ sheet, targets, signal });
  const candidates = await sheetCandidates({ sheet, targets, style, people, timeZone: call.timeZone, signal });
  const missing = missingColumns(targets);
  const unread = await unreadColumns(sheet, matched, signal);
  return {
    candidates,
    missing: new Set(missing.map(({ field }) => field)),
    blank: [...sheet.blank, ...examples],
    file: {
      unknownColumns: [...unknown],
      suggestions: [...suggestions, ...unread.suggestions].slice(0, MAX_SUGGESTIONS),
      missingColumns: missing.map(({ name }) => name),
      reading: readingOf(sheet, style),
    },
    unread,
    rejected: (failed) =>
      rejectedOfSheet({ sheet, targets, style }, new Set(failed.flatMap((candidate) => candidate.rows))),
  };
}

/** As many as a report may have. */
const MAX_SUGGESTIONS = 500;

/** The sheet without the example row of the template, and the positions of such rows. */
function withoutExamples(
  sheet: Sheet,
  targets: MatchedHeader['targets'],
): { readonly sheet: Sheet; readonly examples: readonly number[] } {
  const at = targets.findIndex((target) => target?.name === 'contractNo');
  const examples = sheet.records.filter(({ cells }) => isExampleNumber(cells[at])).map(({ row }) => row);
  if (examples.length === 0) return { sheet, examples };
  return { sheet: { ...sheet, records: sheet.records.filter(({ row }) => !examples.includes(row)) }, examples };
}
