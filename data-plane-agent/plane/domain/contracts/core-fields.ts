import type { ContractPatch } from '../../contract/records/contracts.js';
import type { ContractRow } from '../../tables/contracts.js';

/**
 * The request fields that a lock protects, with their columns. `terms` and `payments` are protected as well, but are
 * not columns.
 */
const CORE_COLUMNS = {
  archiveCode: 'archiveCode',
  contractNo: 'contractNo',
  projectName: 'projectName',
  type: 'type',
  typeCode: 'typeCode',
  subjectId: 'subjectId',
  partyA: 'partyA',
  partyB: 'partyB',
  equipmentName: 'equipmentName',
  equipmentModel: 'equipmentModel',
  quantity: 'quantity',
  unitPrice: 'unitPrice',
  totalAmount: 'totalMinor',
  currencyCode: 'currencyCode',
  paymentMethod: 'paymentMethod',
  payeeAccount: 'payeeAccount',
  payeeBank: 'payeeBank',
  deposit: 'depositMinor',
  periodicRent: 'periodicRentMinor',
  paymentCycle: 'paymentCycle',
  signDate: 'signDate',
  startDate: 'startDate',
  endDate: 'endDate',
  workflowAllowedRoles: 'allowedRoles',
} as const satisfies Partial<Record<keyof ContractPatch, keyof ContractRow>>;

/** The core fields that a request changes. Fields sent with the present value are not changes. */
export const changedCoreFields = (sent: ContractPatch, before: ContractRow, after: ContractRow): string[] =>
  (Object.keys(CORE_COLUMNS) as (keyof typeof CORE_COLUMNS)[]).filter(
    (field) => sent[field] !== undefined && before[CORE_COLUMNS[field]] !== after[CORE_COLUMNS[field]],
  );
