import Type from 'typebox';
import { s, type Static } from '../../../base/schema.js';
import { ACTOR_KINDS } from '../../../base/audit/records.js';
import { page, pageQuery } from './common.js';

/** The kinds of records whose changes appear in the history of a contract. */
export const HISTORY_RECORDS = [
  'contract',
  'payment_line',
  'term',
  'note',
  'invoice',
  'fulfillment_task',
  'hold',
  'reminder',
] as const;
export type HistoryRecord = (typeof HISTORY_RECORDS)[number];

/** The maximum number of changed fields listed per entry. */
export const MAX_HISTORY_CHANGES = 200;

const anything = (about: string) => Type.Unsafe<unknown>({ description: about });

export const historyChangeProperties = {
  record: s.enum(HISTORY_RECORDS),
  recordId: s.id(),
  recordName: s.nullable(
    s.text({
      about:
        "The displayed name: a contract's number, a line's period, a term's title, a note's label, an invoice's number, a task's code, the period of a hold's line, a reminder's step.",
    }),
  ),
  field: s.text({
    max: 200,
    about: "The field name as used in requests and responses; for a custom value `dynamicFields.` and the field's id.",
  }),
  before: anything(
    'The value before, in the format of responses; `null` if there was none. Account numbers are masked.',
  ),
  after: anything('The value after, in the format of responses; `null` if there is none.'),
};
export const HistoryChange = s.object(historyChangeProperties);
export type HistoryChange = Static<typeof HistoryChange>;

export const historyEntryProperties = {
  id: s.id(),
  at: s.instant(),
  action: s.text({ max: 64, about: 'The operation, such as `recordReceipt` or `updateContract`.' }),
  actor: s.object({ kind: s.enum(ACTOR_KINDS), id: s.nullable(s.id()), name: s.text() }),
  changeCount: s.integer({ about: `The total number of changed fields; the first ${MAX_HISTORY_CHANGES} are listed.` }),
};
export const HistoryEntry = s.object({
  ...historyEntryProperties,
  changes: s.list(HistoryChange, MAX_HISTORY_CHANGES),
});
export type HistoryEntry = Static<typeof HistoryEntry>;

export const HistoryPage = page(HistoryEntry);
export type HistoryPage = Static<typeof HistoryPage>;
export const HistoryQuery = s.object({ ...pageQuery });
