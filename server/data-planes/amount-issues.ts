import { unlessRefused, type Sound } from '../../data-plane-agent/base/sound.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import type { ContractInput, ContractPatch } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { InvoicePatch } from '../../data-plane-agent/plane/contract/records/invoices.js';
import type { PaymentLinePatch } from '../../data-plane-agent/plane/contract/records/lines.js';
import { AmountReader } from '../../data-plane-agent/plane/domain/amounts.js';
import { redLetterIssues } from '../../data-plane-agent/plane/domain/invoices/reversal.js';
import { accountSent } from '../../data-plane-agent/plane/domain/sensitive.js';
import type { Principal } from '../access/principal.js';
import type { Plane } from './plane.js';

/**
 * Further issues of bodies with amounts, with the messages of the operations: the allowed number of decimals depends on
 * the currency, which is in the body or in the existing record.
 */
interface Asked<P = unknown> {
  readonly params: P;
  /** Whether a field was sent and refused. */
  isRefused(path: string): boolean;
  readonly principal: Pick<Principal, 'settings'>;
  readonly plane: Pick<Plane, 'getContract' | 'getLineCurrency'>;
}
interface OfContract {
  readonly id: string;
}
interface OfLine {
  readonly paymentId: string;
}
interface OfInvoice extends OfContract {
  readonly invoiceId?: string;
}

export function newContractIssues(sound: Sound<ContractInput>, { isRefused, principal }: Asked): Issue[] {
  const amounts = new AmountReader();
  const currency = isRefused('currencyCode') ? undefined : (sound.currencyCode ?? principal.settings.defaultCurrency);
  ofContract(amounts, sound, currency);
  accountSent(sound.payeeAccount, null, (problem) => amounts.refuse('payeeAccount', problem));
  if (sound.startDate && sound.endDate && sound.endDate < sound.startDate)
    amounts.refuse('endDate', 'must not be before startDate');
  ofPlan(amounts, sound, { isRefused, currency });
  return amounts.found();
}

export async function contractPatchIssues(
  sound: Sound<ContractPatch>,
  { isRefused, params, plane, principal }: Asked<OfContract>,
): Promise<Issue[]> {
  const amounts = new AmountReader();
  const contract = await unlessRefused(() => plane.getContract({ contractId: params.id }));
  const said = isRefused('currencyCode')
    ? undefined
    : sound.currencyCode === null
      ? principal.settings.defaultCurrency
      : (sound.currencyCode ?? contract?.currencyCode);
  ofContract(amounts, sound, said);
  const [start, end] = (['startDate', 'endDate'] as const).map((field) =>
    isRefused(field) ? undefined : (sound[field] ?? contract?.[field]),
  );
  if ((sound.startDate || sound.endDate) && start && end && end < start)
    amounts.refuse('endDate', 'must not be before startDate');
  // An existing line keeps its own currency; which line that is, is not determined here.
  const isOne = contract?.payments.every(({ currencyCode }) => currencyCode === contract.currencyCode) === true;
  ofPlan(amounts, sound, { isRefused, currency: isOne ? said : undefined });
  return amounts.found();
}

export async function newLineIssues(
  sound: Sound<PaymentLinePatch>,
  { isRefused, params, plane }: Asked<OfContract>,
): Promise<Issue[]> {
  const amounts = new AmountReader();
  const contract = await unlessRefused(() => plane.getContract({ contractId: params.id }));
  ofLine(amounts, sound, {
    path: '',
    currency: isRefused('currencyCode') ? undefined : (sound.currencyCode ?? contract?.currencyCode),
  });
  return amounts.found();
}

export async function lineIssues(
  sound: Sound<PaymentLinePatch>,
  { isRefused, params, plane }: Asked<OfLine>,
): Promise<Issue[]> {
  const amounts = new AmountReader();
  const line = await unlessRefused(() => plane.getLineCurrency(params));
  const said = sound.currencyCode === null ? line?.contractCurrencyCode : (sound.currencyCode ?? line?.currencyCode);
  ofLine(amounts, sound, { path: '', currency: isRefused('currencyCode') ? undefined : said });
  return amounts.found();
}

export async function invoiceIssues(
  sound: Sound<InvoicePatch>,
  { isRefused, params, plane }: Asked<OfInvoice>,
): Promise<Issue[]> {
  const amounts = new AmountReader();
  const contract = await unlessRefused(() => plane.getContract({ contractId: params.id }));
  const present = contract?.invoices.find(({ id }) => id === params.invoiceId);
  const isThere = (present !== undefined || params.invoiceId === undefined) && !isRefused('receivablePlanId');
  const lineId = sound.receivablePlanId === undefined ? present?.receivablePlanId : sound.receivablePlanId;
  const line = lineId ? contract?.payments.find(({ id }) => id === lineId) : undefined;
  const currency =
    present && present.status !== 'draft' ? present.currencyCode : lineId ? line?.currencyCode : contract?.currencyCode;
  read(amounts, sound, { path: '', fields: ['invoiceAmount'], currency: isThere ? currency : undefined });
  const reversed = present?.reversesInvoiceId
    ? contract?.invoices.find(({ id }) => id === present.reversesInvoiceId)
    : present;
  if (!isRefused('status'))
    for (const { path, problem } of redLetterIssues(sound, reversed?.invoiceDate)) amounts.refuse(path, problem);
  if (typeof sound.taxRate === 'number') amounts.unitPrice('taxRate', sound.taxRate);
  return amounts.found();
}

function ofContract(amounts: AmountReader, sound: Sound<ContractPatch>, currency: string | undefined): void {
  if (typeof sound.unitPrice === 'number') amounts.unitPrice('unitPrice', sound.unitPrice);
  read(amounts, sound, { path: '', fields: ['totalAmount', 'deposit', 'periodicRent'], currency });
}

function ofPlan(
  amounts: AmountReader,
  { payments }: Sound<Pick<ContractPatch, 'payments'>>,
  { isRefused, currency }: { isRefused: (path: string) => boolean; currency: string | undefined },
): void {
  for (const [i, line] of (payments ?? []).entries()) {
    const path = `payments[${i}].`;
    if (line)
      ofLine(amounts, line, {
        path,
        currency: isRefused(`${path}currencyCode`) ? undefined : (line.currencyCode ?? currency),
      });
  }
}

const ofLine = (
  amounts: AmountReader,
  sound: Sound<PaymentLinePatch>,
  { path, currency }: { path: string; currency: string | undefined },
): void => read(amounts, sound, { path, fields: ['amount', 'receivedAmount', 'invoiceAmount'], currency });

/** If the currency is unknown, no issues are reported. */
function read(
  amounts: AmountReader,
  record: Readonly<Record<string, unknown>>,
  { path, fields, currency }: { path: string; fields: readonly string[]; currency: string | undefined },
): void {
  for (const field of fields) {
    const value = record[field];
    if (typeof value === 'number' && currency !== undefined) amounts.minor(`${path}${field}`, value, currency);
  }
}
