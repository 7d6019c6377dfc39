import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { AuditRepeatStore } from '../store/audit-repeats.js';
import { AuditStore } from '../store/audit.js';

/** Tells how often events came again in the hours that are over. */
export type TellRepeats = (signal?: AbortSignal) => Promise<void>;

/** Every process brings what it counted by itself within this time: see `refusals.ts`. */
const GRACE_MS = 5 * 60_000;
const BATCH = 100;

export function createTellRepeats({ database, clock }: { database: Database; clock: Clock }): TellRepeats {
  return async (signal) => {
    for (let taken = BATCH; taken === BATCH && !signal?.aborted;) {
      taken = await database.write({ tenantId: null }, async (tx) => {
        const at = clock.now();
        const ended = await new AuditRepeatStore(tx).takeEnded({ before: at - GRACE_MS, limit: BATCH });
        const audit = new AuditStore(tx);
        for (const repeated of ended) if (repeated.times > 0) await audit.appendRepeats(repeated, { at });
        return ended.length;
      });
    }
  };
}
