import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { AuditRepeatStore } from '../store/audit-repeats.js';
import { AuditStore } from '../store/audit.js';

/** Records how often events were repeated in past hours. */
export type RecordRepeats = (signal?: AbortSignal) => Promise<void>;

/** Every process writes its counts within this time: see `refusals.ts`. */
const GRACE_MS = 5 * 60_000;
const BATCH = 100;

export function createRecordRepeats({ database, clock }: { database: Database; clock: Clock }): RecordRepeats {
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
