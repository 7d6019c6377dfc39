import { warn } from '../../../base/warnings.js';
import type { Warning } from '../../contract/records/common.js';
import type { LineRow } from '../../tables/payment-lines.js';
import type { StageRow } from '../../tables/lifecycle.js';
import type { ContractRow } from '../../tables/contracts.js';

export interface MoveFacts {
  readonly from: StageRow;
  readonly to: StageRow;
  readonly row: ContractRow;
  readonly lines: readonly LineRow[];
  readonly note: string | null;
  /** Fields extracted with low confidence and not yet reviewed. */
  readonly doubtfulFields: readonly string[];
}

/**
 * Whether a move completes a contract, so that open items are checked. Contracts restored from the archive were
 * completed before.
 */
export const completes = ({ from, to }: Pick<MoveFacts, 'from' | 'to'>): boolean =>
  to.category === 'completed' && from.category !== 'completed' && from.category !== 'archived';

/** Whether a move submits extracted data for review. */
export const submitsExtracted = ({ from, to }: Pick<MoveFacts, 'from' | 'to'>): boolean =>
  from.category === 'extracted' && to.category === 'review';

/**
 * Warnings that do not prevent a move. They depend on the categories of the stages, so they also apply to custom
 * templates.
 */
export function moveWarnings({ row, lines, note, doubtfulFields, ...move }: MoveFacts): Warning[] {
  const { from, to } = move;
  const openLines = completes(move) ? lines.filter(({ outstandingMinor }) => outstandingMinor > 0) : [];
  const openTasks = completes(move) ? row.tasksLive - row.tasksDone : 0;
  return [
    ...(openLines.length === 0
      ? []
      : [warn('OPEN_BALANCE', { paymentIds: openLines.slice(0, NAMED_LINES).map(({ id }) => id) })]),
    ...(openTasks === 0
      ? []
      : [warn('OPEN_TASKS', { message: `${openTasks} fulfillment tasks are neither completed nor accepted.` })]),
    ...(doubtfulFields.length === 0
      ? []
      : [
          warn('EXTRACTION_UNREVIEWED', {
            message: `Fields that were read with low confidence are still to be reviewed: ${doubtfulFields.slice(0, NAMED_FIELDS).join(', ')}.`,
          }),
        ]),
    ...(from.category === 'review' && to.category === 'draft' && note === null
      ? [warn('NOTE_RECOMMENDED', { message: 'A contract that is returned should carry a note on why.' })]
      : []),
  ];
}

/** How many lines a warning names. */
const NAMED_LINES = 20;
/** Limits the message to five hundred characters; field keys have at most a hundred. */
const NAMED_FIELDS = 4;
