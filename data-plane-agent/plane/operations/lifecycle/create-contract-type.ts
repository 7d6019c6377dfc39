import { ContractType, ContractTypeInput, MAX_TYPES } from '../../contract/records/lifecycle.js';
import { afterLast, newType } from '../../domain/lifecycle/config-changes.js';
import { typeAnswer } from '../../domain/lifecycle/presenter.js';
import { operation } from '../../steps/operation-context.js';
import { checkCode, checkRoom, checkTypeRules, checkTypeTemplate, openConfig } from '../../steps/lifecycle/checks.js';

export const createContractType = operation({
  effect: 'write',
  input: ContractTypeInput,
  output: ContractType,
  fails: ['DUPLICATE_CODE', 'LIMIT_REACHED', 'REFERENCE_INVALID'],
  async run(context, _call, input) {
    const { store, newId } = context;
    await openConfig(context);
    const types = await store.lifecycleConfig.types();
    const type = newType(input, { id: newId(), position: afterLast(types) });
    await checkTypeRules(context, type);
    checkCode(types, type);
    checkRoom(types, MAX_TYPES);
    await checkTypeTemplate(context, type);
    return typeAnswer(await store.lifecycleConfig.insertType(type));
  },
});
