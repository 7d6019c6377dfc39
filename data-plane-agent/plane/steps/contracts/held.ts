import { fail } from '../../../base/failures.js';
import type { Call } from '../../contract/call.js';
import { touched } from '../../domain/contracts/changes.js';
import type { ContractRow } from '../../tables/contracts.js';
import type { OperationContext } from '../operation-context.js';
import { checkVersion } from '../../domain/contracts/checks.js';

/** Reads a contract and locks its row until the transaction ends. Checks `If-Match`. */
export async function heldContract({ store }: OperationContext, call: Call, contractId: string): Promise<ContractRow> {
  const row = await store.contracts.find(contractId, { forUpdate: true });
  if (!row) throw fail('NOT_FOUND', {});
  checkVersion(row, call);
  return row;
}

/** Increments the version of a contract of which only a part changed. */
export const touchContract = ({ store, clock }: OperationContext, call: Call, row: ContractRow): Promise<ContractRow> =>
  store.contracts.update(row, touched(row, { now: clock.now(), actorId: call.actor.id }));

/** A lock protects existing terms, because they are part of the agreement. */
export function refuseLockedTerms({ locked }: ContractRow): void {
  if (locked) throw fail('CONTRACT_LOCKED', { fields: ['terms'] });
}
