import { yielding } from '../../../base/yielding.js';
import type { Call } from '../../contract/call.js';
import type { ImportInput, ImportReading } from '../../contract/records/imports.js';
import { candidateOfRow, withDuplicates, type Candidate } from '../../domain/imports/candidate.js';
import { checkCandidate, type CheckedCandidate } from '../../domain/imports/check-candidate.js';
import { directoryOf } from '../../domain/imports/references.js';
import type { Rejected } from '../../tables/imports.js';
import { rejectedOfRows, rejectedOfSheet } from '../../domain/imports/rejected.js';
import { sheetCandidates } from '../../domain/imports/sheet-candidates.js';
import { matchHeader } from '../../domain/sheet/headers.js';
import { readingOf, styleOf } from '../../domain/sheet/sheet-style.js';
import type { OperationContext } from '../operation-context.js';
import type { FieldRow } from '../../tables/fields.js';

/** The part of an import that is computed before anything is entered. */
export interface PreparedImport {
  readonly checked: readonly { readonly candidate: Candidate; readonly result: CheckedCandidate }[];
  readonly blank: readonly number[];
  readonly unknownColumns: readonly string[];
  readonly reading: ImportReading | null;
  readonly rejected: (failed: readonly Candidate[]) => Promise<Rejected>;
}

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
  const { candidates, ...read } = await readInput(call, input, { fields, signal });
  const yieldIfDue = yielding(signal);
  const checked: PreparedImport['checked'][number][] = [];
  for (const candidate of withDuplicates(candidates)) {
    await yieldIfDue();
    checked.push({ candidate, result: await checkCandidate(candidate, { directory, rights: call.rights }) });
  }
  return { checked, blank: input.sheet?.blank ?? [], ...read };
}

interface Reading extends Pick<PreparedImport, 'unknownColumns' | 'reading' | 'rejected'> {
  readonly candidates: readonly Candidate[];
}

async function readInput(
  call: Call,
  { rows, sheet, people }: ImportInput,
  { fields, signal }: { readonly fields: readonly FieldRow[]; readonly signal: AbortSignal },
): Promise<Reading> {
  if (!sheet) {
    const candidates = (rows ?? []).map((row, i) => candidateOfRow(i + 1, row));
    return { candidates, unknownColumns: [], reading: null, rejected: (failed) => rejectedOfRows(failed, fields) };
  }
  const { targets, unknown } = matchHeader(sheet.header, fields);
  const style = await styleOf({ sheet, targets, signal });
  const candidates = await sheetCandidates({ sheet, targets, style, people, timeZone: call.timeZone, signal });
  return {
    candidates,
    unknownColumns: unknown,
    reading: readingOf(sheet, style),
    rejected: (failed) =>
      rejectedOfSheet({ sheet, targets, style }, new Set(failed.flatMap((candidate) => candidate.rows))),
  };
}
