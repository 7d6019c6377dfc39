import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { channelTargetContext, plainTargets, sealTarget, type ChannelRecord } from '../store/channels.js';
import { shownTarget } from './channel-targets.js';

/**
 * The stored form of a channel's target: email addresses in plain text; of a URL the displayed form, and the encrypted
 * full URL.
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

/** Converts a target stored in plain text by an older version to the present form. */
export const asKept = (
  channel: ChannelRecord,
  { tenantId, keyRing }: { readonly tenantId: string; readonly keyRing: KeyRing },
): ChannelRecord =>
  channel.targetSealed === null
    ? { ...channel, ...keptTarget(channel, { tenantId, id: channel.id, keyRing }) }
    : channel;

/** Rows per transaction. */
const BATCH = 200;

/**
 * Encrypts targets stored in plain text by an older version. Returns their number. Can be interrupted, repeated and run
 * concurrently.
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
