import { ContractDetail, ContractInput } from '../../contract/records/contracts.js';
import { operation } from '../tools.js';
import { detailOf } from './detail.js';
import { enterContract } from './enter-contract.js';

/** Enters a contract with its lines, terms and notes: all of it or nothing. */
export const createContract = operation({
  effect: 'write',
  input: ContractInput,
  output: ContractDetail,
  fails: ['DUPLICATE_CONTRACT_NO', 'DUPLICATE_ARCHIVE_CODE', 'REFERENCE_INVALID', 'FILE_REFERENCE_INVALID', 'WORKFLOW_CONTROL_REQUIRED', 'RECONCILE_WITHOUT_RECEIPT'],
  async run(tools, call, input) {
    const { row, warnings, ...parts } = await enterContract(tools, call, input);
    return detailOf(tools, call, row, parts, warnings);
  },
});
