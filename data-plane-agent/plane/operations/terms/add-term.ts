import { invalid } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { MAX_LINES, TermInput, TermResult } from '../../contract/records/contracts.js';
import { termAnswer } from '../../domain/contracts/presenter.js';
import { heldContract, touchContract } from '../../steps/contracts/held.js';
import { operation } from '../../steps/operation-context.js';
import type { TermRow } from '../../tables/terms.js';

/** Adds a term to a contract, also to a locked one, since existing terms do not change. */
export const addTerm = operation({
  effect: 'write',
  input: s.object({ contractId: s.id(), ...TermInput.properties }),
  output: TermResult,
  fails: ['VERSION_MISMATCH'],
  async run(context, call, { contractId, kind, title, date, note }) {
    const { store, clock, newId } = context;
    const contract = await heldContract(context, call, contractId);
    const terms = await store.contracts.terms(contract.id);
    if (terms.length >= MAX_LINES) throw invalid({ path: 'terms', problem: `must have at most ${MAX_LINES} items` });
    const now = clock.now();
    const term: TermRow = {
      id: newId(),
      contractId: contract.id,
      position: (terms.at(-1)?.position ?? -1) + 1,
      kind,
      title,
      date: date ?? null,
      note,
      createdAt: now,
      updatedAt: now,
    };
    await store.contracts.insertTerms([term]);
    const { version } = await touchContract(context, call, contract);
    return { ...termAnswer(term), contractVersion: version };
  },
});
