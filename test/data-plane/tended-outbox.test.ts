import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const CHANNEL = { id: newId(), kind: 'email', enabled: true, digest: 1 };

const NOTHING_SENT = { recipients: [], subject: null, withdrawn: [] };

/** One reminder in a message of the outbox. */
async function reminded(t: TestPlane): Promise<string> {
  await t.plane.createContract(aContract({ payments: [aLine({ dueDate: '2026-03-14' })] }));
  await t.plane.decideReminders({ runId: newId(), channel: CHANNEL, after: null, limit: 500 });
  const [message] = (await t.plane.listMessages({ states: ['queued'], limit: 10 })).messages;
  return message?.id ?? '';
}

const lease = async (t: TestPlane) =>
  (await t.plane.leaseMessages({ lane: CHANNEL.id, limit: 1, leaseMs: 60_000 })).messages[0];

async function failed(t: TestPlane): Promise<string> {
  const id = await reminded(t);
  const attempts = (await lease(t))?.attempts ?? 0;
  await t.plane.settleReminders({
    ...NOTHING_SENT,
    id,
    attempts,
    error: 'refused',
    isFinal: true,
  });
  return id;
}

const reminder = async (t: TestPlane) => (await t.plane.listDeliveries({})).items[0];

const actions = (t: TestPlane): Promise<string[]> =>
  t.database.read(t.call, async (tx) =>
    (
      await tx.all("SELECT action FROM audit_log WHERE tenant_id = ? AND record_kind = 'message' ORDER BY id", [
        t.call.tenantId,
      ])
    ).map(({ action }) => String(action)),
  );

describe('the outbox as operators see it', () => {
  forEachPlane((_name, makePlane) => {
    it('lists messages with their last error, without content', async () => {
      const t = makePlane();
      const id = await failed(t);
      expect((await t.plane.listMessages({ states: ['queued'], limit: 10 })).messages).to.deep.equal([]);
      expect((await t.plane.listMessages({ states: ['failed', 'queued'], limit: 10 })).messages).to.deep.equal([
        {
          id,
          topic: 'reminder',
          lane: CHANNEL.id,
          state: 'failed',
          attempts: 1,
          createdAt: t.clock.now(),
          dueAt: t.clock.now(),
          error: 'refused',
        },
      ]);
      expect(
        (await t.as({ tenantId: newId() }).listMessages({ states: ['failed'], limit: 10 })).messages,
      ).to.deep.equal([]);
    });

    it('retries a failed message with all its attempts, and its reminder is queued in the same transaction', async () => {
      const t = makePlane();
      const id = await failed(t);
      expect(await reminder(t)).to.include({ status: 'failed', lastError: 'refused' });
      const { results } = await t.plane.retryMessages({ ids: [id] });
      expect(results).to.deep.equal([{ id, result: 'done' }]);
      expect(await reminder(t)).to.include({ status: 'queued', attempts: 0 });
      expect(await lease(t)).to.include({ id, attempts: 1 });
      expect(await actions(t)).to.deep.equal(['retryMessages']);
    });

    it('makes a waiting message due at once, but does not disturb an attempt under way', async () => {
      const t = makePlane();
      const id = await reminded(t);
      const taken = await lease(t);
      expect((await t.plane.retryMessages({ ids: [id] })).results).to.deep.equal([{ id, result: 'sending' }]);
      expect((await t.plane.discardMessages({ ids: [id] })).results).to.deep.equal([{ id, result: 'sending' }]);
      await t.plane.settleReminders({
        ...NOTHING_SENT,
        id,
        attempts: taken?.attempts ?? 0,
        error: 'busy',
      });
      expect(await lease(t)).to.equal(undefined);
      await t.plane.retryMessages({ ids: [id] });
      expect(await lease(t)).to.include({ id, attempts: 2 });
    });

    it('discards a message without sending it, and its reminder has failed with that reason', async () => {
      const t = makePlane();
      const id = await reminded(t);
      expect((await t.plane.discardMessages({ ids: [id] })).results).to.deep.equal([{ id, result: 'done' }]);
      expect(await lease(t)).to.equal(undefined);
      expect(await reminder(t)).to.include({
        status: 'failed',
        lastError: 'an operator discarded the message',
        nextAttemptAt: null,
      });
      expect((await t.plane.discardMessages({ ids: [id] })).results).to.deep.equal([{ id, result: 'ended' }]);
      const other = newId();
      expect((await t.plane.retryMessages({ ids: [other] })).results).to.deep.equal([{ id: other, result: 'unknown' }]);
      expect(await actions(t)).to.deep.equal(['discardMessages']);
    });
  });
});
