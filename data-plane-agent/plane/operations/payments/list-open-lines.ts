import { toMajor } from '../../../base/money.js';
import { s } from '../../../base/schema.js';
import { OPEN_LINES_CHUNK, OpenLine } from '../../contract/records/open-lines.js';
import { operation } from '../../steps/operation-context.js';

/**
 * The lines in the caller's scope that have an outstanding amount, whether or not they are due, by id: the first ones,
 * or those after the given one. `next` is the id to continue with, `null` at the end.
 */
export const listOpenLines = operation({
  effect: 'read',
  input: s.object({ after: s.nullable(s.id()) }),
  output: s.object({ lines: s.list(OpenLine, OPEN_LINES_CHUNK), next: s.nullable(s.id()) }),
  fails: [],
  async run({ store }, _call, { after }) {
    const rows = await store.paymentList.open({ after, limit: OPEN_LINES_CHUNK });
    return {
      lines: rows.map(({ id, contractNo, projectName, partyA, period, dueDate, outstandingMinor, currencyCode }) => ({
        paymentId: id,
        contractNo,
        projectName,
        partyA,
        period,
        dueDate,
        outstandingAmount: toMajor(outstandingMinor, currencyCode),
        currencyCode,
      })),
      next: rows.length < OPEN_LINES_CHUNK ? null : (rows.at(-1)?.id ?? null),
    };
  },
});
