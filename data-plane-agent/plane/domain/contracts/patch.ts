import { toMajor } from '../../../base/money.js';
import type { ContractPatch, NoteInput, TermInput } from '../../contract/records/contracts.js';
import type { AmountReader } from '../amounts.js';
import { areSameRoles } from '../lifecycle/lifecycle.js';
import { uniqueKey } from '../unique-key.js';
import type { TermRow } from '../../tables/terms.js';
import type { NoteRow } from '../../tables/notes.js';
import type { ContractRow } from '../../tables/contracts.js';
import { accountSent } from '../sensitive.js';

export interface PatchContext {
  readonly amounts: AmountReader;
  /** The tenant's currency, used when the contract's currency is cleared. */
  readonly defaultCurrency: string;
  /** The type that `null` restores: the category of the contract's type code, or `sale`. */
  readonly defaultType: ContractRow['type'];
}

/**
 * The contract after a PATCH: fields that are not given stay, and `null` clears an optional field or restores its
 * default. When the currency changes, an amount that is not given keeps its number: 100.00 CNY become 100 JPY. Custom
 * values are handled separately.
 */
export function patched(
  row: ContractRow,
  patch: ContractPatch,
  { amounts, defaultCurrency, defaultType }: PatchContext,
): ContractRow {
  const currencyCode = patch.currencyCode === undefined ? row.currencyCode : (patch.currencyCode ?? defaultCurrency);
  const money = moneyOf(row, patch, { amounts, currencyCode });
  const contractNo = patch.contractNo ?? row.contractNo;
  const archiveCode = patch.archiveCode ?? row.archiveCode;
  const next: ContractRow = {
    ...row,
    ...money,
    currencyCode,
    archiveCode,
    archiveKey: uniqueKey(archiveCode),
    contractNo,
    contractKey: uniqueKey(contractNo),
    projectName: patch.projectName ?? row.projectName,
    type: patch.type === undefined ? row.type : (patch.type ?? defaultType),
    typeCode: given(patch.typeCode, row.typeCode),
    subjectId: patch.subjectId ?? row.subjectId,
    partyA: patch.partyA ?? row.partyA,
    partyB: patch.partyB ?? row.partyB,
    equipmentName: patch.equipmentName ?? row.equipmentName,
    equipmentModel: patch.equipmentModel ?? row.equipmentModel,
    paymentMethod: patch.paymentMethod ?? row.paymentMethod,
    payeeAccount: given(
      accountSent(patch.payeeAccount, row.payeeAccount, (problem) => amounts.refuse('payeeAccount', problem)),
      row.payeeAccount,
    ),
    payeeBank: given(patch.payeeBank, row.payeeBank),
    paymentCycle: given(patch.paymentCycle, row.paymentCycle),
    signDate: given(patch.signDate, row.signDate),
    startDate: patch.startDate ?? row.startDate,
    endDate: patch.endDate ?? row.endDate,
    invoicePoints: given(patch.invoicePoints, row.invoicePoints),
    contractAttachment: given(patch.contractAttachment, row.contractAttachment),
    status: patch.status === undefined ? row.status : (patch.status ?? 'in_progress'),
    statusCode: given(patch.statusCode, row.statusCode),
    ownerId: patch.ownerId ?? row.ownerId,
    ownerSuperiorId: given(patch.ownerSuperiorId, row.ownerSuperiorId),
    remark: given(patch.remark, row.remark),
    allowedRoles: rolesOf(row, patch),
  };
  if (next.endDate < next.startDate) amounts.refuse('endDate', 'must not be before startDate');
  return next;
}

type Money = Pick<
  ContractRow,
  'quantity' | 'unitPrice' | 'computedMinor' | 'totalMinor' | 'depositMinor' | 'periodicRentMinor'
>;

function moneyOf(
  row: ContractRow,
  patch: ContractPatch,
  { amounts, currencyCode }: { readonly amounts: AmountReader; readonly currencyCode: string },
): Money {
  const amount = (field: 'deposit' | 'periodicRent', minor: number | null) =>
    amounts.optional(field, patch[field] === undefined ? majorOf(minor, row) : patch[field], currencyCode);
  const quantity = patch.quantity ?? row.quantity;
  const unitPrice = patch.unitPrice === undefined ? row.unitPrice : amounts.unitPrice('unitPrice', patch.unitPrice);
  const computedMinor = amounts.product('totalAmount', { quantity, unitPrice, currency: currencyCode });
  // The total is recomputed unless it had been set to a different value.
  const follows =
    patch.totalAmount === null || (patch.totalAmount === undefined && row.totalMinor === row.computedMinor);
  return {
    quantity,
    unitPrice,
    computedMinor,
    totalMinor: follows
      ? computedMinor
      : amounts.minor('totalAmount', patch.totalAmount ?? toMajor(row.totalMinor, row.currencyCode), currencyCode),
    depositMinor: amount('deposit', row.depositMinor),
    periodicRentMinor: amount('periodicRent', row.periodicRentMinor),
  };
}

const majorOf = (minor: number | null, { currencyCode }: ContractRow): number | null =>
  minor === null ? null : toMajor(minor, currencyCode);

/**
 * The same roles in another order are not a change, so sending back a contract's present roles is allowed while it is
 * locked.
 */
function rolesOf({ allowedRoles }: ContractRow, { workflowAllowedRoles: sent }: ContractPatch): string[] {
  return sent === undefined || areSameRoles(allowedRoles, sent ?? []) ? allowedRoles : (sent ?? []);
}

/** `undefined` leaves a field as it is, `null` clears it. */
const given = <T>(value: T | undefined, present: T): T => (value === undefined ? present : value);

/** Whether nothing changed: then nothing is written, and the record keeps its time and version. */
export const isSameContract = (before: ContractRow, after: ContractRow): boolean =>
  (Object.keys(after) as (keyof ContractRow)[]).every(
    (field) =>
      before[field] === after[field] ||
      (typeof after[field] === 'object' && JSON.stringify(before[field]) === JSON.stringify(after[field])),
  );

/** Whether the sent array equals the contract's present terms, in the same order. */
export const areSameTerms = (present: readonly TermRow[], sent: readonly TermInput[]): boolean =>
  present.length === sent.length &&
  present.every(
    ({ kind, title, date, note }, i) =>
      kind === sent[i]?.kind && title === sent[i].title && date === (sent[i].date ?? null) && note === sent[i].note,
  );

export const areSameNotes = (present: readonly NoteRow[], sent: readonly NoteInput[]): boolean =>
  present.length === sent.length &&
  present.every(({ label, value }, i) => label === sent[i]?.label && value === sent[i].value);
