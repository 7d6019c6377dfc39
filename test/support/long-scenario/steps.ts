import type { Step } from '../lockstep.js';

type More = Pick<Step, 'as' | 'headers' | 'keep'>;
export const step = (request: string, status: number, body?: unknown, more: More = {}): Step => ({
  request,
  status,
  ...(body === undefined ? {} : { body }),
  ...more,
});

/** The defaults of all contracts of the scenario. */
export const contract = (n: number, more: Readonly<Record<string, unknown>> = {}) => ({
  archiveCode: `A-${n}`,
  contractNo: `C-${n}`,
  projectName: `Project ${n}`,
  subjectId: '{subject}',
  partyA: 'Harbour Logistics Ltd',
  partyB: '上海远东机械有限公司',
  equipmentName: 'Crawler crane',
  equipmentModel: 'QUY-80',
  quantity: 3,
  unitPrice: 0.333333,
  paymentMethod: 'bank transfer',
  startDate: '2026-01-01',
  endDate: '2026-12-31',
  ownerId: '{owner}',
  ...more,
});
export const line = (
  period: string,
  dueDate: string,
  amount: number,
  more: Readonly<Record<string, unknown>> = {},
) => ({
  period,
  dueDate,
  amount,
  ...more,
});
export const command = (type: string, payload: unknown) => ({ type, payload });
export const NOWHERE = '01890000-0000-7000-8000-000000000000';
