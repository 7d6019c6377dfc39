import { isId } from '../../../base/ids.js';
import { s } from '../../../base/schema.js';
import { MAX_TEMPLATES, MAX_TRANSITIONS } from '../../contract/records/lifecycle.js';
import { operation } from '../../steps/operation-context.js';

/**
 * Before the control plane removes a notification channel: closes it, so that no transition comes to tell it, unless
 * some do; answers their codes, each once. Without `reopenClosed` it is open again after ten minutes.
 */
export const closeChannel = operation({
  effect: 'write',
  isUpkeep: true,
  input: s.object({ channelId: s.id(), /** Of this closing, made by the caller. */ closingId: s.id() }),
  output: s.object({ transitionCodes: s.list(s.text(), MAX_TEMPLATES * MAX_TRANSITIONS) }),
  fails: [],
  async run({ store }, _call, { channelId, closingId }) {
    if (!isId(channelId)) return { transitionCodes: [] };
    await store.closings.holdAlone(channelId);
    const telling = (await store.lifecycle.all()).transitions.filter(
      ({ effects }) => effects.notifyChannelId === channelId,
    );
    if (telling.length === 0) await store.closings.close({ id: closingId, recordId: channelId });
    return { transitionCodes: [...new Set(telling.map(({ code }) => code))].toSorted() };
  },
});
