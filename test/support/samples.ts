import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';

let made = 0;

/** A valid contract with unique numbers and without lines. Subject and owner are random unless given. */
export function aContract(changes: Partial<ContractInput> = {}): ContractInput {
  const n = ++made;
  return {
    archiveCode: `AR-${n}`,
    contractNo: `C-${n}`,
    projectName: `Project ${n}`,
    subjectId: newId(),
    partyA: 'Harbour Logistics Ltd',
    partyB: '上海远东机械有限公司',
    equipmentName: 'Crawler crane',
    equipmentModel: 'QUY-80',
    quantity: 2,
    unitPrice: 5_000,
    paymentMethod: 'bank transfer',
    startDate: '2026-01-01',
    endDate: '2026-12-31',
    ownerId: newId(),
    ...changes,
  };
}

/** A payment line due in the future with nothing received. */
export function aLine(changes: Partial<PaymentLineInput> = {}): PaymentLineInput {
  return { period: '2026-04', dueDate: '2026-04-30', amount: 1_000, ...changes };
}
