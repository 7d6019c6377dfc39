import type { Effects } from '../../contract/records/conditions.js';
import type { FailedCondition } from './conditions.js';
import type { StageRow } from '../../tables/lifecycle.js';
import type { ContractRow } from '../../tables/contracts.js';

/** The contract after a move: in the new stage, with its lock, and with the transition's effects. */
export function moved(
  row: ContractRow,
  { to, effects, today }: { readonly to: StageRow; readonly effects: Effects; readonly today: string },
): ContractRow {
  const sets = (field: 'signDate' | 'startDate' | 'endDate') => effects.setFieldToday?.includes(field) === true;
  return {
    ...row,
    stageCode: to.code,
    stageCategory: to.category,
    stageName: to.name,
    locked: effects.setLocked ?? to.locksCoreFields,
    status: effects.setStatus ?? row.status,
    signDate: sets('signDate') ? (row.signDate ?? today) : row.signDate,
    startDate: sets('startDate') ? today : row.startDate,
    endDate: sets('endDate') ? today : row.endDate,
  };
}

/** Refuses a move whose dates would make the contract end before it starts. */
export const failedEffects = ({ startDate, endDate }: ContractRow): FailedCondition[] =>
  endDate < startDate
    ? [
        {
          condition: 'setFieldToday',
          of: 'transition',
          message: `The contract would end (${endDate}) before it starts (${startDate}).`,
        },
      ]
    : [];
