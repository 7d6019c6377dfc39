import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import { MAX_INVOICES } from '../../contract/records/invoices.js';
import type { AmountReader } from '../../domain/amounts.js';
import type { InvoiceChange, InvoiceRow } from '../../tables/invoices.js';
import { isStanding } from '../../domain/invoices/invoices.js';
import { followed, inNewCurrency, movesRecords } from '../../domain/invoices/line-evidence.js';
import type { OperationContext } from '../operation-context.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { LineRow } from '../../tables/payment-lines.js';

/** A line before and after a change; `before` is `null` for a new line. `path` is the prefix of its field names. */
export interface LineStep {
  readonly before: LineRow | null;
  readonly after: LineRow;
  readonly path: string;
}

export interface Followed {
  /** The lines updated from their records, in the order of the steps. */
  readonly lines: readonly LineRow[];
  readonly changes: readonly InvoiceChange[];
}

/**
 * Computes the invoice records that follow from changed lines, without writing: call `writeInvoices` after the lines
 * are written, and `amounts.done()` to throw the problems found. `contract` is the state after the request.
 */
export async function followLines(
  { store, clock, newId }: OperationContext,
  call: Call,
  {
    contract,
    steps,
    amounts,
  }: { readonly contract: ContractRow; readonly steps: readonly LineStep[]; readonly amounts: AmountReader },
): Promise<Followed> {
  const context = { amounts, contract, today: call.today, now: clock.now(), actorId: call.actor.id, newId };
  const moving = steps.filter(({ before, after }) => movesRecords(before, after));
  const records = await recordsOf(store, contract.id, moving);
  const results = steps.map(({ before, after, path }) =>
    movesRecords(before, after)
      ? followed({ before, after }, records.get(after.id) ?? [], { ...context, path })
      : { line: after, changes: [] },
  );
  return { lines: results.map(({ line }) => line), changes: results.flatMap(({ changes }) => changes) };
}

/** When a contract's currency changes, draft invoices without a line change with it; issued ones forbid the change. */
export async function followCurrency(
  { store, clock }: OperationContext,
  call: Call,
  {
    before,
    after,
    amounts,
  }: { readonly before: ContractRow; readonly after: ContractRow; readonly amounts: AmountReader },
): Promise<InvoiceChange[]> {
  if (before.currencyCode === after.currencyCode) return [];
  const unlinked = await store.invoices.linkedTo(before.id, null);
  if (unlinked.some(isStanding)) throw fail('CURRENCY_FIXED', { currencyCode: before.currencyCode });
  const stamps = { updatedAt: clock.now(), updatedBy: call.actor.id };
  return inNewCurrency(unlinked, after.currencyCode, { amounts, path: '' }).map((change) => ({
    ...change,
    after: { ...change.after, ...stamps },
  }));
}

/** Writes new and changed records, after the lines that they name. Refuses a number that another record has. */
export async function writeInvoices({ store }: OperationContext, changes: readonly InvoiceChange[]): Promise<void> {
  if (changes.length === 0) return;
  await refuseTooMany(store, changes);
  await refuseTaken(store, changes);
  await store.invoices.write(changes);
}

async function recordsOf(
  store: OperationContext['store'],
  contractId: string,
  steps: readonly LineStep[],
): Promise<Map<string, InvoiceRow[]>> {
  const withRecords = steps
    .filter(({ before }) => before !== null && before.invoiceRecords > 0)
    .map(({ after }) => after.id);
  const [only] = withRecords;
  if (only === undefined) return new Map();
  const found =
    withRecords.length === 1
      ? await store.invoices.linkedTo(contractId, only)
      : await store.invoices.ofContract(contractId);
  return new Map(withRecords.map((id) => [id, found.filter(({ lineId }) => lineId === id)]));
}

async function refuseTooMany(store: OperationContext['store'], changes: readonly InvoiceChange[]): Promise<void> {
  const added = changes.filter(({ before }) => before === null);
  const [first] = added;
  if (first && (await store.invoices.count(first.after.contractId)) + added.length > MAX_INVOICES)
    throw fail('LIMIT_REACHED', { limit: MAX_INVOICES });
}

/** A number is free if its holder gives it up in the same request. */
async function refuseTaken(store: OperationContext['store'], changes: readonly InvoiceChange[]): Promise<void> {
  const writing = new Map(changes.map((change) => [change.after.id, change.after]));
  const wanted = new Set<string>();
  for (const { before, after } of changes) {
    if (!holdsNumber(after)) continue;
    const isTwice = wanted.size === wanted.add(after.invoiceKey).size;
    const isKept =
      before !== null &&
      holdsNumber(before) &&
      before.invoiceKey === after.invoiceKey &&
      before.subjectId === after.subjectId;
    const holder = isTwice || isKept ? undefined : await store.invoices.holderOf(after.subjectId, after.invoiceKey);
    const isGivenUp = holder !== undefined && writing.has(holder);
    if (isTwice || (holder !== undefined && !isGivenUp))
      throw fail('DUPLICATE_CODE', {
        field: after.reversesId !== null ? 'redLetterNo' : 'invoiceNo',
        value: after.invoiceNo,
      });
  }
}

/** A void record frees its number. */
const holdsNumber = ({ status, deletedAt }: InvoiceRow): boolean => status !== 'void' && deletedAt === null;
