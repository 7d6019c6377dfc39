import { s, partial, type Static } from '../../../base/schema.js';
import {
  CONTRACT_STATUSES,
  CONTRACT_TYPES,
  FULFILLMENT_STATUSES,
  PAYMENT_STATUSES,
  TERM_KINDS,
  VALIDITIES,
  WORKFLOW_STAGES,
} from '../vocabulary.js';
import { page, pageQuery, PARTY_A, PARTY_B, stamps, warnings } from './common.js';
import { MAX_VALUES_KB } from './fields.js';
import { Invoice, MAX_INVOICES } from './invoices.js';
import { PaymentLine, PaymentLineInput } from './lines.js';
import { MAX_TASKS, Task } from './tasks.js';

/** The maximum number of lines, terms or notes of one contract: a weekly plan of thirty years fits. */
export const MAX_LINES = 2_000;

/** The limit of one write, about five hundred pages: other writes wait while it is stored. */
const MAX_CHARACTERS = 1_000_000;
const WHOLE = {
  characters: MAX_CHARACTERS,
  about: `Lines, terms and notes have at most ${MAX_CHARACTERS} characters together.`,
};

export const NoteInput = s.object({ label: s.plain(), value: s.longText() }, { title: 'NoteInput' });
export const TermInput = s.object(
  { kind: s.enum(TERM_KINDS), title: s.plain(), date: s.optional(s.day()), note: s.longText() },
  { title: 'TermInput' },
);
export type NoteInput = Static<typeof NoteInput>;
export type TermInput = Static<typeof TermInput>;

/** Fields common to requests and responses; no computed ones. */
const required = {
  archiveCode: s.name({ max: 100 }),
  contractNo: s.name({ max: 100 }),
  projectName: s.plain(),
  subjectId: s.id('Subject company: the legal entity that the contract belongs to.'),
  partyA: s.plain({ about: PARTY_A }),
  partyB: s.plain({ about: PARTY_B }),
  equipmentName: s.plain(),
  equipmentModel: s.plain(),
  quantity: s.integer({ min: 1 }),
  unitPrice: s.amount('Up to six decimals.'),
  paymentMethod: s.plain(),
  startDate: s.day(),
  endDate: s.day(),
  ownerId: s.id('The member who is responsible for the contract.'),
};
const optional = {
  typeCode: s.text({ max: 64 }),
  payeeAccount: s.plain(),
  payeeBank: s.plain(),
  deposit: s.amount(),
  periodicRent: s.amount(),
  paymentCycle: s.plain(),
  signDate: s.day(),
  invoicePoints: s.integer({ max: 100, about: "Default tax rate of the contract's invoices, in percent." }),
  contractAttachment: s.id('File reference.'),
  statusCode: s.plain({ max: 64 }),
  ownerSuperiorId: s.id(),
  remark: s.longText(),
};
/** A contract as a client sends it (API document 2.7). */
export const ContractInput = s.object(
  {
    archiveCode: required.archiveCode,
    contractNo: required.contractNo,
    projectName: required.projectName,
    type: s.optional(s.enum(CONTRACT_TYPES)),
    typeCode: s.optional(optional.typeCode),
    subjectId: required.subjectId,
    partyA: required.partyA,
    partyB: required.partyB,
    equipmentName: required.equipmentName,
    equipmentModel: required.equipmentModel,
    quantity: required.quantity,
    unitPrice: required.unitPrice,
    totalAmount: s.optional(s.amount('Default: quantity × unitPrice.')),
    currencyCode: s.optional(s.currency()),
    paymentMethod: required.paymentMethod,
    payeeAccount: s.optional(optional.payeeAccount),
    payeeBank: s.optional(optional.payeeBank),
    deposit: s.optional(optional.deposit),
    periodicRent: s.optional(optional.periodicRent),
    paymentCycle: s.optional(optional.paymentCycle),
    signDate: s.optional(optional.signDate),
    startDate: required.startDate,
    endDate: required.endDate,
    invoicePoints: s.optional(optional.invoicePoints),
    contractAttachment: s.optional(optional.contractAttachment),
    status: s.optional(s.enum(CONTRACT_STATUSES)),
    statusCode: s.optional(optional.statusCode),
    ownerId: required.ownerId,
    ownerSuperiorId: s.optional(optional.ownerSuperiorId),
    remark: s.optional(optional.remark),
    dynamicFields: s.optional(
      s.free(
        'Custom field values by field id: texts, numbers, flags, days, instants with their zone, or ids of an option, a member or a file (a list of ids for several options). `null`, a blank text and an empty list mean no value. ' +
          'Fields that are archived or not visible to the caller are unknown fields; fields that the caller may read but not write accept only their current value. A change merges by key; `null` for the whole object clears all fields that the caller may write. The values of one contract have at most 256 KB in total.',
        { kilobytes: MAX_VALUES_KB },
      ),
    ),
    workflowStage: s.optional(s.enum(WORKFLOW_STAGES)),
    lifecycleTemplateId: s.optional(s.id()),
    lifecycleStageCode: s.optional(s.text({ max: 64 })),
    workflowAllowedRoles: s.optional(s.list(s.text({ max: 64 }), 100)),
    payments: s.optional(s.list(PaymentLineInput, MAX_LINES)),
    terms: s.optional(s.list(TermInput, MAX_LINES)),
    extraNotes: s.optional(s.list(NoteInput, MAX_LINES)),
  },
  { title: 'ContractInput', ...WHOLE },
);
export type ContractInput = Static<typeof ContractInput>;

export const ContractPatch = partial(ContractInput, { title: 'ContractPatch', ...WHOLE });
export type ContractPatch = Static<typeof ContractPatch>;

const nullables = Object.fromEntries(Object.entries(optional).map(([key, schema]) => [key, s.nullable(schema)])) as {
  [K in keyof typeof optional]: ReturnType<typeof s.nullable<(typeof optional)[K]>>;
};

const { payeeAccount, ...alwaysShown } = nullables;

/** What is the same for all readers on all days, until the contract has another version. */
const coreProperties = {
  id: s.id(),
  ...required,
  type: s.namedEnum('ContractKind', CONTRACT_TYPES),
  totalAmount: s.amount(),
  computedAmount: s.amount('quantity × unitPrice, rounded once'),
  amountDifference: s.signedAmount('totalAmount − computedAmount'),
  currencyCode: s.currency(),
  ...alwaysShown,
  status: s.enum(CONTRACT_STATUSES),
  workflowStage: s.enum(WORKFLOW_STAGES),
  workflow: s.enum(WORKFLOW_STAGES),
  lifecycleTemplateId: s.id(),
  lifecycleStageCode: s.text({ max: 64 }),
  workflowAllowedRoles: s.list(s.text({ max: 64 }), 100),
  locked: s.flag(),
  paymentStatus: s.enum(PAYMENT_STATUSES),
  receivableAmount: s.amount(),
  receivedAmount: s.amount(),
  outstandingAmount: s.amount(),
  overpaidAmount: s.amount(),
  invoicedAmount: s.signedAmount(),
  uninvoicedAmount: s.amount(),
  nextDueDate: s.nullable(s.day('The earliest due date of a line with an outstanding amount.')),
  createdBy: s.nullable(s.id()),
  updatedBy: s.nullable(s.id()),
  version: s.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  ...stamps,
};
/** What depends on the reader and on the day, or may change without the version. */
const stateProperties = {
  payeeAccount,
  dynamicFields: s.free(undefined, { kilobytes: MAX_VALUES_KB }),
  lifecycleStageName: s.text(),
  overdueAmount: s.amount(),
  daysOverdue: s.integer({ max: 4_000_000, about: 'The maximum over the lines.' }),
  isOverdue: s.flag(),
  isDueSoon: s.flag(),
  daysToEnd: s.integer({ min: -4_000_000, max: 4_000_000 }),
  validity: s.enum(VALIDITIES),
  fulfillmentStatus: s.enum(FULFILLMENT_STATUSES),
};
/** A contract in a list. The control plane adds the names of members and subject companies. */
export const contractProperties = { ...coreProperties, ...stateProperties };
export const ContractSummary = s.object(contractProperties);
export type ContractSummary = Static<typeof ContractSummary>;
const Core = s.object(coreProperties);
const State = s.object(stateProperties);
export type ContractCore = Static<typeof Core>;
export type ContractState = Static<typeof State>;

export const Note = s.object({ id: s.id(), label: s.text(), value: s.longText(), ...stamps }, { title: 'Note' });
export type Note = Static<typeof Note>;
export const Term = s.object(
  { id: s.id(), kind: s.enum(TERM_KINDS), title: s.text(), date: s.nullable(s.day()), note: s.longText(), ...stamps },
  { title: 'Term' },
);
export type Term = Static<typeof Term>;

const contractVersion = s.integer({
  min: 1,
  max: Number.MAX_SAFE_INTEGER,
  about: 'The current version of the contract, for `If-Match`.',
});
/** The response to creating or updating a note or a term. */
export const NoteResult = s.object({ ...Note.properties, contractVersion }, { title: 'NoteResult' });
export const TermResult = s.object({ ...Term.properties, contractVersion }, { title: 'TermResult' });

export const NotePatch = partial(NoteInput, { title: 'NotePatch' });
export const TermPatch = partial(TermInput, { title: 'TermPatch' });

export const contractDetailProperties = {
  ...contractProperties,
  payments: s.list(PaymentLine, MAX_LINES),
  terms: s.list(Term, MAX_LINES),
  notes: s.list(Note, MAX_LINES),
  fulfillmentTasks: s.list(Task, MAX_TASKS),
  invoices: s.list(Invoice, MAX_INVOICES),
  warnings,
};
export const ContractDetail = s.object(contractDetailProperties);
export type ContractDetail = Static<typeof ContractDetail>;

export const CONTRACT_SORTS = [
  'createdAt',
  'updatedAt',
  'contractNo',
  'archiveCode',
  'projectName',
  'startDate',
  'endDate',
  'signDate',
  'totalAmount',
  'outstandingAmount',
  'nextDueDate',
] as const;
export type ContractSort = (typeof CONTRACT_SORTS)[number];

/** Filters, order and page of the contract list (API document 4.3). */
export const ContractQuery = s.object({
  ...pageQuery,
  q: s.optional(
    s.text({
      max: 200,
      about: 'Case-insensitive substring of archive code, contract number, project, parties, equipment or remark.',
    }),
  ),
  type: s.optional(s.enum(CONTRACT_TYPES)),
  typeCode: s.optional(s.text({ max: 64 })),
  status: s.optional(s.enum(CONTRACT_STATUSES)),
  statusCode: s.optional(s.text({ max: 64 })),
  payment: s.optional(s.enum(PAYMENT_STATUSES)),
  ownerId: s.optional(s.id()),
  subjectId: s.optional(s.id()),
  workflow: s.optional(s.enum(WORKFLOW_STAGES)),
  lifecycleStageCode: s.optional(s.text({ max: 64 })),
  overdue: s.optional(s.flag('Only contracts with a line that is overdue today; `false` is no filter.')),
  dueSoon: s.optional(s.flag('Only contracts with a line due within the reminder lead days; `false` is no filter.')),
  sort: s.optional(s.enum(CONTRACT_SORTS)),
  order: s.optional(s.enum(['asc', 'desc'] as const)),
});
export type ContractQuery = Static<typeof ContractQuery>;

/** A contract ready to be sent, with the ids whose names the control plane adds. */
export const PreparedContract = s.object({
  id: s.id(),
  json: s.jsonText(ContractSummary),
  subjectId: s.id(),
  ownerId: s.id(),
  ownerSuperiorId: s.nullable(s.id()),
  createdBy: s.nullable(s.id()),
  updatedBy: s.nullable(s.id()),
});
export type PreparedContract = Static<typeof PreparedContract>;

export const PreparedContractPage = page(PreparedContract);
export type PreparedContractPage = Static<typeof PreparedContractPage>;
