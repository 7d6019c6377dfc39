import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';

const close = (t: TestPlane, channelId: string, closingId = newId()) => t.plane.closeChannel({ channelId, closingId });
const refusedFor = (value: string) => ({
  code: 'REFERENCE_INVALID',
  details: { field: 'effects.notifyChannelId', value },
});

/** The shipped template, to which transitions are added. */
async function aLifecycle(t: TestPlane) {
  const templateId = (await t.plane.getContractCatalog({})).templates[0]?.id ?? '';
  return {
    templateId,
    notifyBy: (channelId: string, code: string) =>
      t.plane.addLifecycleTransition({
        templateId,
        transition: {
          code,
          name: code,
          fromStageCode: 'draft',
          toStageCode: 'review',
          effects: { notifyChannelId: channelId },
        },
      }),
    change: (transitionId: string, effects: { notifyChannelId?: string }) =>
      t.plane.updateLifecycleTransition({ transitionId, changes: { effects } }),
  };
}

describe('a notification channel that is being removed', () => {
  forEachPlane((_name, makePlane) => {
    it('is not closed while transitions notify it, including disabled ones and copies, each listed once', async () => {
      const t = makePlane();
      const channelId = newId();
      const { templateId, notifyBy, change } = await aLifecycle(t);
      const { id } = await notifyBy(channelId, 'start');
      await t.plane.updateLifecycleTransition({ transitionId: id, changes: { enabled: false } });
      const copy = await t.plane.createLifecycleTemplate({ code: 'copy', name: 'Copy', copyFrom: templateId });
      expect(await close(t, channelId)).to.deep.equal({ transitionCodes: ['start'] });
      await notifyBy(channelId, 'again');
      await change(id, {});
      expect(await close(t, channelId)).to.deep.equal({ transitionCodes: ['again', 'start'] });
      expect(copy.transitions.some(({ effects }) => effects.notifyChannelId === channelId)).to.equal(true);
    });

    it('cannot be set on a new or changed transition while it is closed, but other channels can', async () => {
      const t = makePlane();
      const [channelId, other] = [newId(), newId()];
      const { notifyBy, change } = await aLifecycle(t);
      const { id } = await notifyBy(other, 'start');
      expect(await close(t, channelId)).to.deep.equal({ transitionCodes: [] });
      for (const refused of [notifyBy(channelId, 'go'), change(id, { notifyChannelId: channelId })])
        expect(await failureOf(refused)).to.deep.equal(refusedFor(channelId));
      await notifyBy(other, 'go');
      const theirs = await aLifecycle(makePlane());
      expect(
        (await theirs.notifyBy(channelId, 'go')).effects.notifyChannelId,
        'another organisation is not affected',
      ).to.equal(channelId);
    });

    it('is reopened when its removal is cancelled, or after ten minutes without an outcome', async () => {
      const t = makePlane();
      const [channelId, first, second] = [newId(), newId(), newId()];
      const { notifyBy } = await aLifecycle(t);
      for (const closingId of [first, second]) await close(t, channelId, closingId);
      await t.plane.reopenClosed({ closingId: first });
      t.clock.advance(10 * 60_000 - 1);
      expect(await failureOf(notifyBy(channelId, 'go'))).to.deep.equal(refusedFor(channelId));
      t.clock.advance(1);
      await notifyBy(channelId, 'go');
      const other = newId();
      await close(t, other, second);
      await t.plane.reopenClosed({ closingId: second });
      await notifyBy(other, 'start');
    });

    it('is used by no transition if its id is invalid', async () => {
      expect(await close(makePlane(), 'nothing')).to.deep.equal({ transitionCodes: [] });
    });
  });

  forEachPlane(
    (_name, makePlane) => {
      it('is closed before or after a concurrent transition that notifies it, never in between', async () => {
        const t = makePlane();
        const { notifyBy, change } = await aLifecycle(t);
        const { id } = await notifyBy(newId(), 'start');
        for (let round = 0; round < 10; round++) {
          const channelId = newId();
          const changes = [
            notifyBy(channelId, `a${round}`),
            notifyBy(channelId, `b${round}`),
            change(id, { notifyChannelId: channelId }),
          ].map((work) =>
            work.then(
              () => true,
              () => false,
            ),
          );
          const [{ transitionCodes }, ...reported] = await Promise.all([close(t, channelId), ...changes]);
          expect(reported.some(Boolean), `round ${round}`).to.equal(transitionCodes.length > 0);
        }
      });
    },
    { only: ['sqlite', 'postgres'] },
  );
});
