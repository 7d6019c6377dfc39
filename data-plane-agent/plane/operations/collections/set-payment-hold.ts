import { fail, invalid } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import { Hold, HoldInput } from '../../contract/records/collections.js';
import { holdAnswer, holdIssues } from '../../domain/collections/holds.js';
import { outstanding } from '../../domain/payments/receivable.js';
import { heldLine } from '../../steps/collections/held-line.js';
import { operation } from '../../steps/operation-context.js';
import type { HoldRow } from '../../tables/holds.js';

/** Stops the reminders of an open line, or replaces its hold. The same hold again changes nothing. */
export const setPaymentHold = operation({
  effect: 'write',
  input: s.object({ paymentId: s.id(), ...HoldInput.properties }),
  output: Hold,
  fails: ['NOTHING_OUTSTANDING'],
  async run(context, call, { paymentId, kind, until, note }) {
    const issues = holdIssues({ kind, until }, call.today);
    if (issues.length > 0) throw invalid(...issues);
    const { store, clock } = context;
    const line = await heldLine(context, paymentId);
    if (outstanding(line) === 0) throw fail('NOTHING_OUTSTANDING', { paymentId });
    const before = await store.holds.ofLine(line.id);
    const now = clock.now();
    const given = { kind, until: until ?? null, note: note ?? null };
    const after: HoldRow = {
      id: line.id,
      contractId: line.contractId,
      createdBy: call.actor.id,
      createdAt: now,
      ...before,
      ...given,
      updatedAt: now,
    };
    if (!before) await store.holds.insert(after);
    else if (before.kind === after.kind && before.until === after.until && before.note === after.note)
      return holdAnswer(before, call);
    else await store.holds.update(before, after);
    return holdAnswer(after, call);
  },
});
