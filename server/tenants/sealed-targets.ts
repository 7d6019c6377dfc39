import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { channelTargetContext, plainTargets, sealTarget, type ChannelRecord } from '../store/channels.js';
import { shownTarget } from './channel-targets.js';

/**
 * A channel's target as it is kept: addresses as they are, and of an address with a token the host, with the whole
 * beside it under seal.
 */
export type KeptTarget = Pick<ChannelRecord, 'target' | 'targetSealed'>;

type SealedTargetKey = { readonly tenantId: string; readonly id: string };

export function keptTarget(
  { kind, target }: Pick<ChannelRecord, 'kind' | 'target'>,
  { keyRing, ...place }: SealedTargetKey & { readonly keyRing: KeyRing },
): KeptTarget {
  if (kind === 'email' || target === null) return { target, targetSealed: null };
  return { target: shownTarget(kind, target), targetSealed: keyRing.seal(target, channelTargetContext(place)) };
}

/** One that was kept before targets were sealed, as it is kept now. */
export const asKept = (
  channel: ChannelRecord,
  { tenantId, keyRing }: { readonly tenantId: string; readonly keyRing: KeyRing },
): ChannelRecord =>
  channel.targetSealed === null
    ? { ...channel, ...keptTarget(channel, { tenantId, id: channel.id, keyRing }) }
    : channel;

/** Rows in one transaction. */
const BATCH = 200;

/**
 * Seals the targets that were kept before there was a seal for them, or by a server of an older version that still ran.
 * Answers how many. What is done is done: it may be broken off and called again, by several at once.
 */
export async function sealTargets(database: Database, keyRing: KeyRing): Promise<number> {
  let sealed = 0;
  for (;;) {
    const done = await database.write({ tenantId: null }, async (tx) => {
      const found = await plainTargets(tx, BATCH);
      for (const { tenantId, ...channel } of found)
        await sealTarget(tx, {
          tenantId,
          id: channel.id,
          before: channel.target,
          ...keptTarget(channel, { tenantId, id: channel.id, keyRing }),
        });
      return found.length;
    });
    sealed += done;
    if (done < BATCH) return sealed;
  }
}
