import { OK, Ok } from '../../contract/records/common.js';
import { ExportRecord } from '../../contract/records/export.js';
import { operation } from '../../steps/operation-context.js';

/** So many of the ids that an export was asked for stay on record, beside how many they were. */
const KEPT_IDS = 100;

/** Keeps on record that contracts left the house, when the last of them is out: who took which, and how many. */
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
