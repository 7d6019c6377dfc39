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

/** What stands in a cell: `null` is an empty one. Texts are guarded against formulas where the sheet is written, numbers and days are not. */
export type Cell = string | number | null;
/** `list` is a list as JSON. */
export type CellKind = 'text' | 'number' | 'day' | 'list';

/** A column that an export writes and an import reads. */
export interface Column<Source, Field extends string> {
  /** The header of an export: the field's name, of a payment line with `line.` in front. */
  readonly name: string;
  /** What an import takes for the name as well, whatever its case and spaces. */
  readonly labels: { readonly en: string; readonly zh: string };
  readonly kind: CellKind;
  /** The request field that an import fills from it; `null` is a figure that is computed, or a name that stands beside an id. */
  readonly field: Field | null;
  /** A name, e-mail address or code by which an import finds the record when the id of this field is not there, or is not known here. */
  readonly insteadOf?: ReferenceField;
  /** What is written is an id, in whose place the control plane puts the name, which it alone knows. */
  readonly names?: Naming;
  readonly write: (source: Source, writing: Writing) => Cell;
}

export type ContractField = Exclude<keyof ContractInput, 'dynamicFields' | 'payments'>;
export type LineField = keyof PaymentLineInput;
export type ReferenceField = 'subjectId' | 'ownerId' | 'ownerSuperiorId' | 'lifecycleTemplateId';
export type ContractColumn = Column<ContractSource, ContractField>;
export type LineColumn = Column<LineRow, LineField>;

/** A contract as it was read for a sheet. */
export interface ContractSource {
  readonly row: ContractRow;
  /** What is overdue today in the contract's currency. */
  readonly overdueMinor: number;
  readonly terms: readonly Pick<TermRow, 'kind' | 'title' | 'date' | 'note'>[];
  readonly notes: readonly Pick<NoteRow, 'label' | 'value'>[];
}

/** For whom a sheet is written, and with what beside the rows. */
export interface Writing {
  readonly rights: Pick<Rights, 'sensitive'>;
  readonly templateCode: (id: string) => string | null;
}

/** Header of a custom field: this and its code. */
export const CUSTOM_FIELD = 'cf:';
/** In front of the fields of a payment line. */
export const OF_LINE = 'line.';

const asIs = <F extends ContractField & keyof ContractRow>(field: F, en: string, zh: string, kind: CellKind = 'text'): ContractColumn => ({
  name: field, labels: { en, zh }, kind, field, write: ({ row }) => row[field] as Cell, // those named below hold text, numbers or null
});
const contractColumn = (name: string, en: string, zh: string, kind: CellKind, field: ContractField | null, write: ContractColumn['write']): ContractColumn => ({ name, labels: { en, zh }, kind, field, write });
const money = (name: string, en: string, zh: string, field: ContractField | null, minor: (source: ContractSource) => number | null): ContractColumn =>
  contractColumn(name, en, zh, 'number', field, (source) => major(minor(source), source.row.currencyCode));
const beside = (insteadOf: ReferenceField, name: string, en: string, zh: string, write: ContractColumn['write'], names?: Naming): ContractColumn =>
  ({ name, labels: { en, zh }, kind: 'text', field: null, insteadOf, write, ...(names ? { names } : {}) });

const major = (minor: number | null, currencyCode: string): number | null => (minor === null ? null : toMajor(minor, currencyCode));
const json = (list: readonly unknown[]): string | null => (list.length === 0 ? null : listText(list));

const subjectName = beside('subjectId', 'subjectName', 'Subject company', '签约主体', ({ row }) => row.subjectId, 'subjectName');
/** Several members may have one name, so nobody is found by it. */
const ownerName: ContractColumn = { ...contractColumn('ownerName', 'Owner', '负责人', 'text', null, ({ row }) => row.ownerId), names: 'memberName' };
const totalAmount = money('totalAmount', 'Total amount', '合同总额', 'totalAmount', ({ row }) => row.totalMinor);
const workflowStage = contractColumn('workflowStage', 'Workflow stage', '流程阶段', 'text', 'workflowStage', ({ row }) => row.stageCategory);
const lifecycleStageCode = contractColumn('lifecycleStageCode', 'Stage code', '阶段代码', 'text', 'lifecycleStageCode', ({ row }) => row.stageCode);

/**
 * The columns of a contract in the profile `full`, in this order: all that a request may send of it (API document 2.7). After them come the
 * visible custom fields, and then `LINE_COLUMNS`.
 */
export const CONTRACT_COLUMNS: readonly ContractColumn[] = [
  asIs('archiveCode', 'Archive code', '档案编号'),
  asIs('contractNo', 'Contract number', '合同编号'),
  asIs('projectName', 'Project', '项目名称'),
  asIs('type', 'Type', '合同类型'),
  asIs('typeCode', 'Type code', '类型代码'),
  asIs('subjectId', 'Subject company id', '签约主体ID'),
  subjectName,
  asIs('partyA', 'Party A', '甲方'),
  asIs('partyB', 'Party B', '乙方'),
  asIs('equipmentName', 'Equipment', '设备名称'),
  asIs('equipmentModel', 'Model', '设备型号'),
  asIs('quantity', 'Quantity', '数量', 'number'),
  asIs('unitPrice', 'Unit price', '单价', 'number'),
  totalAmount,
  asIs('currencyCode', 'Currency', '币种'),
  asIs('paymentMethod', 'Payment method', '付款方式'),
  contractColumn('payeeAccount', 'Payee account', '收款账号', 'text', 'payeeAccount', ({ row }, { rights }) => shown(row.payeeAccount, rights)),
  asIs('payeeBank', 'Payee bank', '收款银行'),
  money('deposit', 'Deposit', '押金', 'deposit', ({ row }) => row.depositMinor),
  money('periodicRent', 'Periodic rent', '每期租金', 'periodicRent', ({ row }) => row.periodicRentMinor),
  asIs('paymentCycle', 'Payment cycle', '付款周期'),
  asIs('signDate', 'Signed on', '签订日期', 'day'),
  asIs('startDate', 'Starts on', '开始日期', 'day'),
  asIs('endDate', 'Ends on', '结束日期', 'day'),
  asIs('invoicePoints', 'Tax percent', '开票税点', 'number'),
  asIs('contractAttachment', 'Contract attachment', '合同附件'),
  asIs('status', 'Status', '状态'),
  asIs('statusCode', 'Status code', '状态代码'),
  asIs('ownerId', 'Owner id', '负责人ID'),
  beside('ownerId', 'ownerEmail', 'Owner e-mail', '负责人邮箱', ({ row }) => row.ownerId, 'memberEmail'),
  asIs('ownerSuperiorId', 'Superior id', '上级ID'),
  beside('ownerSuperiorId', 'ownerSuperiorEmail', 'Superior e-mail', '上级邮箱', ({ row }) => row.ownerSuperiorId, 'memberEmail'),
  asIs('remark', 'Remark', '备注'),
  workflowStage,
  asIs('lifecycleTemplateId', 'Lifecycle template id', '流程模板ID'),
  beside('lifecycleTemplateId', 'lifecycleTemplateCode', 'Lifecycle template', '流程模板', ({ row }, { templateCode }) => templateCode(row.lifecycleTemplateId)),
  lifecycleStageCode,
  contractColumn('workflowAllowedRoles', 'Allowed roles', '可操作角色', 'list', 'workflowAllowedRoles', ({ row }) => json(row.allowedRoles)),
  contractColumn('terms', 'Terms', '条款', 'list', 'terms', ({ terms }) => json(terms.map(({ kind, title, date, note }) => ({ kind, title, ...(date === null ? {} : { date }), note })))),
  contractColumn('extraNotes', 'Notes', '附加说明', 'list', 'extraNotes', ({ notes }) => json(notes.map(({ label, value }) => ({ label, value })))),
];

const lineColumn = (field: LineField, en: string, zh: string, kind: CellKind, write: LineColumn['write']): LineColumn => ({ name: `${OF_LINE}${field}`, labels: { en, zh }, kind, field, write });
const lineAsIs = <F extends LineField & keyof LineRow>(field: F, en: string, zh: string, kind: CellKind = 'text'): LineColumn => lineColumn(field, en, zh, kind, (line) => line[field]);
const lineMoney = (field: LineField, en: string, zh: string, minor: (line: LineRow) => number | null): LineColumn => lineColumn(field, en, zh, 'number', (line) => major(minor(line), line.currencyCode));

/** The columns of a payment line in the profile `full` (API document 2.9). All are empty in the one row of a contract without lines. */
export const LINE_COLUMNS: readonly LineColumn[] = [
  lineAsIs('period', 'Period', '期次'),
  lineAsIs('dueDate', 'Due on', '应收日期', 'day'),
  lineMoney('amount', 'Amount due', '应收金额', ({ amountMinor }) => amountMinor),
  lineAsIs('currencyCode', 'Line currency', '应收币种'),
  lineMoney('receivedAmount', 'Amount received', '已收金额', ({ receivedMinor }) => receivedMinor),
  lineAsIs('receivedDate', 'Received on', '收款日期', 'day'),
  lineAsIs('method', 'Received by', '收款方式'),
  lineAsIs('payerName', 'Payer', '付款人'),
  lineColumn('receiptAccount', 'Receipt account', '到账账号', 'text', (line, { rights }) => shown(line.receiptAccount, rights)),
  lineAsIs('bankSerialNo', 'Bank serial number', '银行流水号'),
  lineAsIs('reconciliationStatus', 'Reconciliation', '对账状态'),
  lineAsIs('reconciliationNote', 'Reconciliation note', '对账说明'),
  lineMoney('invoiceAmount', 'Invoice amount', '开票金额', ({ invoiceMinor }) => invoiceMinor),
  lineAsIs('invoiceDate', 'Invoiced on', '开票日期', 'day'),
  lineAsIs('invoiceNo', 'Invoice number', '发票号码'),
  lineAsIs('invoiceAttachment', 'Invoice attachment', '发票附件'),
  lineAsIs('proof', 'Receipt proof', '收款凭证'),
];

const column = (name: string): ContractColumn => {
  const found = CONTRACT_COLUMNS.find((one) => one.name === name);
  if (!found) throw new Error(`there is no column ${name}`);
  return found;
};

/** The columns of the profile `summary`, one row for a contract. An import knows those without a field and leaves them alone. */
export const SUMMARY_COLUMNS: readonly ContractColumn[] = [
  ...['archiveCode', 'contractNo', 'projectName', 'type', 'typeCode'].map(column),
  subjectName,
  ...['partyA', 'partyB'].map(column),
  totalAmount,
  column('currencyCode'),
  money('receivedAmount', 'Received in all', '累计已收', null, ({ row }) => row.receivedMinor),
  money('outstandingAmount', 'Outstanding', '未收金额', null, ({ row }) => row.outstandingMinor),
  money('overdueAmount', 'Overdue', '逾期金额', null, ({ overdueMinor }) => overdueMinor),
  contractColumn('paymentStatus', 'Payment status', '收款状态', 'text', null, ({ row }) => row.paymentStatus),
  contractColumn('nextDueDate', 'Next due on', '下次应收日期', 'day', null, ({ row }) => row.nextDueDate),
  column('status'),
  workflowStage,
  lifecycleStageCode,
  ...['signDate', 'startDate', 'endDate'].map(column),
  ownerName,
];
