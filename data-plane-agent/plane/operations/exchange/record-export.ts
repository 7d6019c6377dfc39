import { OK, Ok } from '../../contract/records/common.js';
import { ExportRecord } from '../../contract/records/export.js';
import { operation } from '../../steps/operation-context.js';

/** How many of the requested ids are recorded, beside their count. */
const KEPT_IDS = 100;

/** Records a completed export in the audit: who exported which contracts, and how many. */
export const recordExport = operation({
  effect: 'write',
  input: ExportRecord,
  output: Ok,
  fails: [],
  async run({ recorder, newId }, _call, { filter: { ids, ...filter }, ...about }) {
    recorder.recordEvent({
      record: 'export',
      id: newId(),
      about: { ...about, filter, ...(ids ? { ids: ids.slice(0, KEPT_IDS), idCount: ids.length } : {}) },
    });
    return OK;
  },
});
