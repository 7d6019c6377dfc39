import { s, type Static } from '../../../base/schema.js';

/** The maximum number of lines of one call. */
export const OPEN_LINES_CHUNK = 500;

/** A payment line with an outstanding amount, with what a calendar shows of it. */
export const OpenLine = s.object({
  paymentId: s.id(),
  contractNo: s.text(),
  projectName: s.text(),
  partyA: s.text(),
  period: s.text(),
  dueDate: s.day(),
  outstandingAmount: s.amount(),
  currencyCode: s.currency(),
});
export type OpenLine = Static<typeof OpenLine>;
