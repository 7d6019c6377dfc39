import { fail } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { TermPatch, TermResult } from '../../contract/records/contracts.js';
import { termAnswer } from '../../domain/contracts/presenter.js';
import { areSameTerms } from '../../domain/contracts/patch.js';
import { heldContract, refuseLockedTerms, touchContract } from '../../steps/contracts/held.js';
import { operation } from '../../steps/operation-context.js';
import type { TermRow } from '../../tables/terms.js';

/** Updates a term of a contract. A request without effect writes nothing, and succeeds on a locked contract too. */
export const updateTerm = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), termId: s.id(), ...TermPatch.properties }),
  output: TermResult,
  fails: ['VERSION_MISMATCH', 'CONTRACT_LOCKED'],
  async run(context, call, { contractId, termId, kind, title, date, note }) {
    const contract = await heldContract(context, call, contractId);
    const before = (await context.store.contracts.terms(contract.id)).find(({ id }) => id === termId);
    if (!before) throw fail('NOT_FOUND', {});
    const after: TermRow = {
      ...before,
      kind: kind ?? before.kind,
      title: title ?? before.title,
      date: date === undefined ? before.date : date,
      note: note ?? before.note,
      updatedAt: context.clock.now(),
    };
    if (areSameTerms([before], [after])) return { ...termAnswer(before), contractVersion: contract.version };
    refuseLockedTerms(contract);
    await context.store.contracts.updateTerm(before, after);
    const { version } = await touchContract(context, call, contract);
    return { ...termAnswer(after), contractVersion: version };
  },
});
