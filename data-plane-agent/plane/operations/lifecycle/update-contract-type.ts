import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { ContractType, ContractTypePatch } from '../../contract/records/lifecycle.js';
import { patchedType } from '../../domain/lifecycle/config-changes.js';
import { typeAnswer } from '../../domain/lifecycle/presenter.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';
import { checkCode, checkTypeRules, checkTypeTemplate, openConfig } from '../../steps/lifecycle/checks.js';

/** Updates a contract type. Existing contracts keep their values; only new ones are affected. */
export const updateContractType = operation({
  effect: 'write',
  input: s.object({ typeId: s.id(), changes: ContractTypePatch }),
  output: ContractType,
  fails: ['DUPLICATE_CODE', 'TYPE_IN_USE', 'REFERENCE_INVALID'],
  async run(context, _call, { typeId, changes }) {
    const { store } = context;
    await openConfig(context);
    const types = await store.lifecycleConfig.types();
    const before = types.find(({ id }) => id === typeId);
    if (!before) throw fail('NOT_FOUND', {});
    const after = patchedType(before, changes);
    await checkTypeRules(context, after);
    checkCode(types, after);
    if (after.code !== before.code) await refuseUsed(context, before.code);
    await checkTypeTemplate(context, after);
    return typeAnswer(await store.lifecycleConfig.updateType(before, after));
  },
});

/** Contracts and custom fields refer to a type by its code. */
async function refuseUsed({ store }: OperationContext, code: string): Promise<void> {
  await store.lifecycleConfig.holdStages(); // creating a contract locks them before it reads the type
  const contracts = await store.lifecycleConfig.contractsOfType(code);
  const fieldCodes = (await store.fields.all())
    .filter(({ typeCodes }) => typeCodes.includes(code))
    .map((field) => field.code);
  if (contracts + fieldCodes.length > 0) throw fail('TYPE_IN_USE', { contracts, fieldCodes });
}
