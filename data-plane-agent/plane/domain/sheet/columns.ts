import { toMajor } from '../../../base/money.js';
import type { Rights } from '../../contract/call.js';
import type { Naming } from '../../contract/records/export.js';
import type { ContractInput } from '../../contract/records/contracts.js';
import type { PaymentLineInput } from '../../contract/records/lines.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { TermRow } from '../../tables/terms.js';
import type { NoteRow } from '../../tables/notes.js';
import type { ContractRow } from '../../tables/contracts.js';
import { shown } from '../sensitive.js';
import { listText } from './guard.js';

/**
 * The content of a cell; `null` is an empty cell. Texts are guarded against formulas when the sheet is written; numbers
 * and days are not.
 */
export type Cell = string | number | null;
/**
 * `amount`, `whole` and `percent` are numbers: an amount in the currency of the row, and numbers without decimals;
 * `percent` may end in a percent sign. `list` is a JSON list.
 */
export type CellKind = 'text' | 'number' | 'amount' | 'whole' | 'percent' | 'day' | 'list';

/** A column that an export writes and an import reads. */
export interface Column<Source, Field extends string> {
  /** The header in exports: the field name, with the prefix `line.` for payment lines. */
  readonly name: string;
  /** Labels that an import accepts as headers too, ignoring case and spaces. */
  readonly labels: { readonly en: string; readonly zh: string };
  readonly kind: CellKind;
  /**
   * The request field that an import reads from the column; `null` for computed figures and names given alongside ids.
   */
  readonly field: Field | null;
  /**
   * The column contains a name, email address or code, by which an import finds the record when the id in this field is
   * missing or unknown.
   */
  readonly insteadOf?: ReferenceField;
  /** The data plane writes an id, which the control plane replaces by the name. */
  readonly names?: Naming;
  readonly write: (source: Source, writing: Writing) => Cell;
}

/** The fields of a line that a sheet contains. An export reads no others, since it reads all lines. */
export const SHEET_LINE_FIELDS = [
  'period',
  'dueDate',
  'amountMinor',
  'currencyCode',
  'receivedMinor',
  'receivedDate',
  'method',
  'payerName',
  'receiptAccount',
  'bankSerialNo',
  'reconciliationStatus',
  'reconciliationNote',
  'invoiceMinor',
  'invoiceDate',
  'invoiceNo',
  'invoiceAttachment',
  'proof',
] as const satisfies readonly (keyof LineRow)[];
export type SheetLine = Pick<LineRow, (typeof SHEET_LINE_FIELDS)[number]>;

export type ContractField = Exclude<keyof ContractInput, 'dynamicFields' | 'payments'>;
export type LineField = keyof PaymentLineInput;
export type ReferenceField = 'subjectId' | 'ownerId' | 'ownerSuperiorId' | 'lifecycleTemplateId';
export type ContractColumn = Column<ContractSource, ContractField>;
export type LineColumn = Column<SheetLine, LineField>;

/** The data of a contract for a sheet. */
export interface ContractSource {
  readonly row: ContractRow;
  /** The amount overdue today in the contract's currency. */
  readonly overdueMinor: number;
  readonly terms: readonly Pick<TermRow, 'kind' | 'title' | 'date' | 'note'>[];
  readonly notes: readonly Pick<NoteRow, 'label' | 'value'>[];
}

/** The reader's rights, and lookups for writing a sheet. */
export interface Writing {
  readonly rights: Pick<Rights, 'sensitive'>;
  readonly templateCode: (id: string) => string | null;
}

/** The header prefix of custom fields, followed by the code. */
export const CUSTOM_FIELD = 'cf:';
/** The header prefix of payment line fields. */
export const OF_LINE = 'line.';

const asIs = <F extends ContractField & keyof ContractRow>(
  field: F,
  { en, zh }: { readonly en: string; readonly zh: string },
  kind: CellKind = 'text',
): ContractColumn => ({
  name: field,
  labels: { en, zh },
  kind,
  field,
  write: ({ row }) => row[field] as Cell, // the fields used below hold text, numbers or null
});
const contractColumn = (
  name: string,
  {
    en,
    zh,
    kind,
    field,
    write,
  }: {
    readonly en: string;
    readonly zh: string;
    readonly kind: CellKind;
    readonly field: ContractField | null;
    readonly write: ContractColumn['write'];
  },
): ContractColumn => ({ name, labels: { en, zh }, kind, field, write });
const money = (
  name: string,
  { en, zh, field }: { readonly en: string; readonly zh: string; readonly field: ContractField | null },
  minor: (source: ContractSource) => number | null,
): ContractColumn =>
  contractColumn(name, {
    en,
    zh,
    kind: 'amount',
    field,
    write: (source) => major(minor(source), source.row.currencyCode),
  });
const beside = (
  insteadOf: ReferenceField,
  {
    name,
    en,
    zh,
    write,
    names,
  }: {
    readonly name: string;
    readonly en: string;
    readonly zh: string;
    readonly write: ContractColumn['write'];
    readonly names?: Naming;
  },
): ContractColumn => ({
  name,
  labels: { en, zh },
  kind: 'text',
  field: null,
  insteadOf,
  write,
  ...(names ? { names } : {}),
});

const major = (minor: number | null, currencyCode: string): number | null =>
  minor === null ? null : toMajor(minor, currencyCode);
const json = (list: readonly unknown[]): string | null => (list.length === 0 ? null : listText(list));

const subjectName = beside('subjectId', {
  name: 'subjectName',
  en: 'Subject company',
  zh: '签约主体',
  write: ({ row }) => row.subjectId,
  names: 'subjectName',
});
/** Names of members are not unique, so imports do not use this column to find one. */
const ownerName: ContractColumn = {
  ...contractColumn('ownerName', {
    en: 'Owner',
    zh: '负责人',
    kind: 'text',
    field: null,
    write: ({ row }) => row.ownerId,
  }),
  names: 'memberName',
};
const totalAmount = money(
  'totalAmount',
  { en: 'Total amount', zh: '合同总额', field: 'totalAmount' },
  ({ row }) => row.totalMinor,
);
const workflowStage = contractColumn('workflowStage', {
  en: 'Workflow stage',
  zh: '流程阶段',
  kind: 'text',
  field: 'workflowStage',
  write: ({ row }) => row.stageCategory,
});
const lifecycleStageCode = contractColumn('lifecycleStageCode', {
  en: 'Stage code',
  zh: '阶段代码',
  kind: 'text',
  field: 'lifecycleStageCode',
  write: ({ row }) => row.stageCode,
});

/**
 * The contract columns of the profile `full`, in order: all fields that a request may contain (API document 2.7). They
 * are followed by the visible custom fields and `LINE_COLUMNS`.
 */
export const CONTRACT_COLUMNS: readonly ContractColumn[] = [
  asIs('archiveCode', { en: 'Archive code', zh: '档案编号' }),
  asIs('contractNo', { en: 'Contract number', zh: '合同编号' }),
  asIs('projectName', { en: 'Project', zh: '项目名称' }),
  asIs('type', { en: 'Type', zh: '合同类型' }),
  asIs('typeCode', { en: 'Type code', zh: '类型代码' }),
  asIs('subjectId', { en: 'Subject company id', zh: '签约主体ID' }),
  subjectName,
  asIs('partyA', { en: 'Party A', zh: '甲方' }),
  asIs('partyB', { en: 'Party B', zh: '乙方' }),
  asIs('equipmentName', { en: 'Equipment', zh: '设备名称' }),
  asIs('equipmentModel', { en: 'Model', zh: '设备型号' }),
  asIs('quantity', { en: 'Quantity', zh: '数量' }, 'whole'),
  asIs('unitPrice', { en: 'Unit price', zh: '单价' }, 'number'),
  totalAmount,
  asIs('currencyCode', { en: 'Currency', zh: '币种' }),
  asIs('paymentMethod', { en: 'Payment method', zh: '付款方式' }),
  contractColumn('payeeAccount', {
    en: 'Payee account',
    zh: '收款账号',
    kind: 'text',
    field: 'payeeAccount',
    write: ({ row }, { rights }) => shown(row.payeeAccount, rights),
  }),
  asIs('payeeBank', { en: 'Payee bank', zh: '收款银行' }),
  money('deposit', { en: 'Deposit', zh: '押金', field: 'deposit' }, ({ row }) => row.depositMinor),
  money(
    'periodicRent',
    { en: 'Periodic rent', zh: '每期租金', field: 'periodicRent' },
    ({ row }) => row.periodicRentMinor,
  ),
  asIs('paymentCycle', { en: 'Payment cycle', zh: '付款周期' }),
  asIs('signDate', { en: 'Signed on', zh: '签订日期' }, 'day'),
  asIs('startDate', { en: 'Starts on', zh: '开始日期' }, 'day'),
  asIs('endDate', { en: 'Ends on', zh: '结束日期' }, 'day'),
  asIs('invoicePoints', { en: 'Tax percent', zh: '开票税点' }, 'percent'),
  asIs('contractAttachment', { en: 'Contract attachment', zh: '合同附件' }),
  asIs('status', { en: 'Status', zh: '状态' }),
  asIs('statusCode', { en: 'Status code', zh: '状态代码' }),
  asIs('ownerId', { en: 'Owner id', zh: '负责人ID' }),
  beside('ownerId', {
    name: 'ownerEmail',
    en: 'Owner e-mail',
    zh: '负责人邮箱',
    write: ({ row }) => row.ownerId,
    names: 'memberEmail',
  }),
  asIs('ownerSuperiorId', { en: 'Superior id', zh: '上级ID' }),
  beside('ownerSuperiorId', {
    name: 'ownerSuperiorEmail',
    en: 'Superior e-mail',
    zh: '上级邮箱',
    write: ({ row }) => row.ownerSuperiorId,
    names: 'memberEmail',
  }),
  asIs('remark', { en: 'Remark', zh: '备注' }),
  workflowStage,
  asIs('lifecycleTemplateId', { en: 'Lifecycle template id', zh: '流程模板ID' }),
  beside('lifecycleTemplateId', {
    name: 'lifecycleTemplateCode',
    en: 'Lifecycle template',
    zh: '流程模板',
    write: ({ row }, { templateCode }) => templateCode(row.lifecycleTemplateId),
  }),
  lifecycleStageCode,
  contractColumn('workflowAllowedRoles', {
    en: 'Allowed roles',
    zh: '可操作角色',
    kind: 'list',
    field: 'workflowAllowedRoles',
    write: ({ row }) => json(row.allowedRoles),
  }),
  contractColumn('terms', {
    en: 'Terms',
    zh: '条款',
    kind: 'list',
    field: 'terms',
    write: ({ terms }) =>
      json(terms.map(({ kind, title, date, note }) => ({ kind, title, ...(date === null ? {} : { date }), note }))),
  }),
  contractColumn('extraNotes', {
    en: 'Notes',
    zh: '附加说明',
    kind: 'list',
    field: 'extraNotes',
    write: ({ notes }) => json(notes.map(({ label, value }) => ({ label, value }))),
  }),
];

const lineColumn = (
  field: LineField,
  {
    en,
    zh,
    kind,
    write,
  }: { readonly en: string; readonly zh: string; readonly kind: CellKind; readonly write: LineColumn['write'] },
): LineColumn => ({ name: `${OF_LINE}${field}`, labels: { en, zh }, kind, field, write });
const lineAsIs = <F extends LineField & keyof SheetLine>(
  field: F,
  { en, zh }: { readonly en: string; readonly zh: string },
  kind: CellKind = 'text',
): LineColumn => lineColumn(field, { en, zh, kind, write: (line) => line[field] });
const lineMoney = (
  field: LineField,
  { en, zh }: { readonly en: string; readonly zh: string },
  minor: (line: SheetLine) => number | null,
): LineColumn => lineColumn(field, { en, zh, kind: 'amount', write: (line) => major(minor(line), line.currencyCode) });

/**
 * The payment line columns of the profile `full` (API document 2.9). They are empty for a contract without lines, which
 * has one row.
 */
export const LINE_COLUMNS: readonly LineColumn[] = [
  lineAsIs('period', { en: 'Period', zh: '期次' }),
  lineAsIs('dueDate', { en: 'Due on', zh: '应收日期' }, 'day'),
  lineMoney('amount', { en: 'Amount due', zh: '应收金额' }, ({ amountMinor }) => amountMinor),
  lineAsIs('currencyCode', { en: 'Line currency', zh: '应收币种' }),
  lineMoney('receivedAmount', { en: 'Amount received', zh: '已收金额' }, ({ receivedMinor }) => receivedMinor),
  lineAsIs('receivedDate', { en: 'Received on', zh: '收款日期' }, 'day'),
  lineAsIs('method', { en: 'Received by', zh: '收款方式' }),
  lineAsIs('payerName', { en: 'Payer', zh: '付款人' }),
  lineColumn('receiptAccount', {
    en: 'Receipt account',
    zh: '到账账号',
    kind: 'text',
    write: (line, { rights }) => shown(line.receiptAccount, rights),
  }),
  lineAsIs('bankSerialNo', { en: 'Bank serial number', zh: '银行流水号' }),
  lineAsIs('reconciliationStatus', { en: 'Reconciliation', zh: '对账状态' }),
  lineAsIs('reconciliationNote', { en: 'Reconciliation note', zh: '对账说明' }),
  lineMoney('invoiceAmount', { en: 'Invoice amount', zh: '开票金额' }, ({ invoiceMinor }) => invoiceMinor),
  lineAsIs('invoiceDate', { en: 'Invoiced on', zh: '开票日期' }, 'day'),
  lineAsIs('invoiceNo', { en: 'Invoice number', zh: '发票号码' }),
  lineAsIs('invoiceAttachment', { en: 'Invoice attachment', zh: '发票附件' }),
  lineAsIs('proof', { en: 'Receipt proof', zh: '收款凭证' }),
];

const column = (name: string): ContractColumn => {
  const found = CONTRACT_COLUMNS.find((one) => one.name === name);
  if (!found) throw new Error(`there is no column ${name}`);
  return found;
};

/**
 * The columns of the profile `summary`, with one row per contract. An import recognizes columns without a field and
 * ignores them.
 */
export const SUMMARY_COLUMNS: readonly ContractColumn[] = [
  ...['archiveCode', 'contractNo', 'projectName', 'type', 'typeCode'].map(column),
  subjectName,
  ...['partyA', 'partyB'].map(column),
  totalAmount,
  column('currencyCode'),
  money('receivedAmount', { en: 'Received in all', zh: '累计已收', field: null }, ({ row }) => row.receivedMinor),
  money('outstandingAmount', { en: 'Outstanding', zh: '未收金额', field: null }, ({ row }) => row.outstandingMinor),
  money('overdueAmount', { en: 'Overdue', zh: '逾期金额', field: null }, ({ overdueMinor }) => overdueMinor),
  contractColumn('paymentStatus', {
    en: 'Payment status',
    zh: '收款状态',
    kind: 'text',
    field: null,
    write: ({ row }) => row.paymentStatus,
  }),
  contractColumn('nextDueDate', {
    en: 'Next due on',
    zh: '下次应收日期',
    kind: 'day',
    field: null,
    write: ({ row }) => row.nextDueDate,
  }),
  column('status'),
  workflowStage,
  lifecycleStageCode,
  ...['signDate', 'startDate', 'endDate'].map(column),
  ownerName,
];
