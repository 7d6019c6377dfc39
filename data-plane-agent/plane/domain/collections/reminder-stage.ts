import type { ContractTypeRow } from '../../tables/contract-types.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { StageRow } from '../../tables/lifecycle.js';

/** Where a contract stands, as far as it decides on reminders. */
type Standing = Pick<ContractRow, 'typeCode' | 'stageCode'> & { readonly templateId: string };

/**
 * Whether a contract is before the stage from which its type reminds. A stage that the contract's own template does not
 * have does not hold reminders back.
 */
export function beforeReminders({
  types,
  stages,
}: {
  readonly types: readonly ContractTypeRow[];
  /** In the order of the stages of each template. */
  readonly stages: readonly StageRow[];
}): (contract: Standing) => boolean {
  const from = new Map(
    types.flatMap(({ code, defaultRules: { remindFromStage } }) =>
      typeof remindFromStage === 'string' ? [[code, remindFromStage]] : [],
    ),
  );
  const order = new Map<string, number>();
  for (const [i, { templateId, code }] of stages.entries()) order.set(`${templateId} ${code}`, i);
  return ({ typeCode, templateId, stageCode }) => {
    const first = typeCode === null ? undefined : from.get(typeCode);
    const start = first === undefined ? undefined : order.get(`${templateId} ${first}`);
    const present = order.get(`${templateId} ${stageCode}`);
    return start !== undefined && present !== undefined && present < start;
  };
}
