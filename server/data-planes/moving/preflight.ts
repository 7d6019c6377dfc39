import { isFailure } from '../../../data-plane-agent/base/failures.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import { MoveFault } from './move-fault.js';
import type { Source, Target } from './sides.js';

/**
 * Asks the agent for each step of a move that does not exist, before anything is changed: the policy of the agent, or an
 * older version of it, may refuse some. Throws DATA_MOVE_DENIED or DATA_MOVE_UNSUPPORTED.
 */
export async function preflight(questions: readonly Question[]): Promise<void> {
  const denied: string[] = [];
  for (const [name, ask] of questions) {
    try {
      await ask();
    } catch (error) {
      if (isFailure(error, 'DATA_PLANE_DENIED')) denied.push(name);
      else if (isUnknownOperation(error))
        throw new MoveFault(
          'DATA_MOVE_UNSUPPORTED',
          'the agent is too old to move data: upgrade it to the version of this service',
          { cause: error },
        );
      else if (!isFailure(error, 'DATA_MOVE_REFUSED')) throw error;
    }
  }
  if (denied.length > 0)
    throw new MoveFault(
      'DATA_MOVE_DENIED',
      `the policy of the agent refuses ${denied.join(', ')}; nothing was changed. The operator of the agent has to allow these operations in its policy file until the move is complete`,
    );
}

export type Question = readonly [name: string, ask: () => Promise<unknown>];

/** Refused by a data plane that takes part in no such move; `tables` of no version refuses the first step. */
const nothing = { tables: 'none' };
const noRow = { table: 'contracts', key: '[""]', column: 'remark', from: 0 };

export const asTarget = (target: Target): readonly Question[] => {
  const moveId = newId();
  return [
    ['beginReceiving', () => target.beginReceiving({ moveId, ...nothing })],
    ['receiveRows', () => target.receiveRows({ moveId, table: 'contracts', rows: '[]' })],
    ['receiveLongText', () => target.receiveLongText({ moveId, ...noRow, text: '-' })],
    ['digestRows', () => target.digestRows({ moveId, table: 'contracts', from: null })],
    ['receiveFilePart', () => target.receiveFilePart({ moveId, fileId: moveId, part: 0, isLast: false, base64: '' })],
    ['hashFile', () => target.hashFile({ moveId, fileId: moveId })],
    ['finishReceiving', () => target.finishReceiving({ moveId })],
    ['removeMovedData', () => target.removeMovedData({ moveId })],
    ['cancelMove', () => target.cancelMove({ moveId })],
  ];
};

export const asSource = (source: Source): readonly Question[] => {
  const moveId = newId();
  return [
    ['beginMovingOut', () => source.beginMovingOut({ moveId, ...nothing })],
    ['chainAudit', () => source.chainAudit({})],
    ['readRowsToMove', () => source.readRowsToMove({ moveId, table: 'contracts', after: null })],
    ['readLongText', () => source.readLongText({ moveId, ...noRow })],
    ['digestRows', () => source.digestRows({ moveId, table: 'contracts', from: null })],
    ['listFilesToMove', () => source.listFilesToMove({ moveId, after: null })],
    ['readFilePart', () => source.readFilePart({ moveId, fileId: moveId, part: 0 })],
    ['hashFile', () => source.hashFile({ moveId, fileId: moveId })],
    ['finishMovingOut', () => source.finishMovingOut({ moveId })],
    ['cancelMove', () => source.cancelMove({ moveId })],
  ];
};

const isUnknownOperation = (error: unknown): boolean =>
  isFailure(error, 'INVALID_INPUT') && error.details.issues.some(({ path }) => path === 'name');
