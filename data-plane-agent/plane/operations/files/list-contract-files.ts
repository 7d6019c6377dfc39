import { fail } from '../../../base/failures.js';
import { isId } from '../../../base/ids.js';
import { s } from '../../../base/schema.js';
import { ContractFile, MAX_CONTRACT_FILES } from '../../contract/records/files.js';
import { fileAnswer } from '../../domain/files/answer.js';
import type { ContractRow } from '../../tables/contracts.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';

/** The records that a response names for each file. */
const NAMED_RECORDS = 100;

/** All files of a contract: uploaded for it, or referred to by it or by its records. */
export const listContractFiles = operation({
  effect: 'read',
  input: s.object({ contractId: s.id() }),
  output: s.list(ContractFile, MAX_CONTRACT_FILES),
  fails: [],
  async run({ store }, _call, { contractId }) {
    const contract = await store.contracts.find(contractId);
    if (!contract) throw fail('NOT_FOUND', {});
    const references = [
      ...(await ofContractItself(store, contract)),
      ...(await store.contractFiles.references(contract.id)),
    ];
    const byFile = Map.groupBy(references, ({ fileId }) => fileId);
    const rows = await store.contractFiles.ofContract(contract.id, [...byFile.keys()]);
    return rows.map((row) => ({
      ...fileAnswer(row),
      attachedTo: (byFile.get(row.id) ?? [])
        .slice(0, NAMED_RECORDS)
        .map(({ record, id, field }) => ({ record, id, field })),
    }));
  },
});

/** The contract's attachment, and its custom fields of type file that the caller may see. */
async function ofContractItself(store: OperationContext['store'], contract: ContractRow) {
  const { id, contractAttachment } = contract;
  const [shown] = await store.fields.shown([contract]);
  const values: Readonly<Record<string, unknown>> = shown?.dynamicFields ?? {};
  const inFields = (await store.fields.visible())
    .filter(({ type }) => type === 'file')
    .flatMap((field) => {
      const fileId = values[field.id];
      return typeof fileId === 'string' && isId(fileId) ? [{ field: `dynamicFields.${field.id}`, fileId }] : [];
    });
  return [
    ...(contractAttachment === null ? [] : [{ field: 'contractAttachment', fileId: contractAttachment }]),
    ...inFields,
  ].map((reference) => ({ record: 'contract' as const, id, ...reference }));
}
