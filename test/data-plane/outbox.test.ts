import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { forEachPlane } from '../support/plane.js';

describe('the outbox of a plane', () => {
  forEachPlane((_name, makePlane) => {
    it('gives a message to one worker at a time, and accepts results only from its holder', async () => {
      const t = makePlane();
      const { plane, clock } = t;
      await t.database.write(t.call, (tx) =>
        tx.run(
          "INSERT INTO outbox (tenant_id, id, topic, lane, reference, created_at, due_at, attempts, state, leased_until, expires_at) VALUES (?, ?, 'workflow.moved', 'a', '{\"a\":1}', 0, ?, 0, 'queued', 0, ?)",
          [t.call.tenantId, newId(), clock.now(), clock.now() + 3_600_000],
        ),
      );
      const taken = await Promise.all(
        Array.from({ length: 4 }, () => plane.leaseMessages({ lane: 'a', limit: 10, leaseMs: 60_000 })),
      );
      const [message, ...others] = taken.flatMap(({ messages }) => messages);
      expect([message, others]).to.deep.equal([
        {
          id: message?.id,
          topic: 'workflow.moved',
          lane: 'a',
          reference: { a: 1 },
          createdAt: 0,
          expiresAt: message?.expiresAt,
          attempts: 1,
        },
        [],
      ]);
      clock.advance(60_000);
      const {
        messages: [again],
      } = await plane.leaseMessages({ lane: 'a', limit: 10, leaseMs: 60_000 });
      expect(again).to.deep.include({ id: message?.id, attempts: 2 });
      const outcome = (attempts: number, error: string | null) =>
        plane.settleMessages({ outcomes: [{ id: message?.id ?? '', attempts, error }] });
      expect([await outcome(1, null), await outcome(1, 'late')].map(({ lost }) => lost)).to.deep.equal([1, 1]);
      expect(
        await t
          .as({ tenantId: newId() })
          .settleMessages({ outcomes: [{ id: message?.id ?? '', attempts: 2, error: null }] }),
      ).to.include({ lost: 1 });
      expect(await outcome(2, null)).to.deep.equal({ settled: 1, queued: 0, failed: 0, lost: 0 });
      expect(await outcome(2, null)).to.include({ lost: 1 });
    });
  });
});
