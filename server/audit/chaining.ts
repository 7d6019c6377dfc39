import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { DataPlanes } from '../data-planes/for-tenant.js';
import { systemCall } from '../data-planes/system-call.js';
import type { Actor } from '../store/audit.js';
import { TenantStore } from '../store/tenants.js';
import type { PlatformAudit } from './platform-audit.js';

/** The background step that puts audit events in order, on both planes. The schedule runs it every few seconds, in one process at a time. */
export interface AuditChaining {
  /** Chains what waits. Answers how many events were chained. One chain that cannot be moved holds up no other. */
  run(signal?: AbortSignal): Promise<number>;
}

/** Batches of one chain in a run: a chain with a long tail lets the others have their turn. */
const BATCHES = 50;
/** Data planes that are asked at once: one that is slow holds up a few others only. */
const AT_ONCE = 4;

export function createAuditChaining({ database, clock, audit, dataPlanes, log }: { database: Database; clock: Clock; audit: PlatformAudit; dataPlanes: DataPlanes; log: Log }): AuditChaining {
  return {
    run: async (signal) => {
      let chained = 0;
      const moveOn = async (name: Readonly<Record<string, string>>, batch: () => Promise<{ readonly chained: number; readonly more: boolean }>): Promise<void> => {
        try {
          for (let left = BATCHES; left > 0 && !signal?.aborted; left -= 1) {
            const done = await batch();
            chained += done.chained;
            if (!done.more) return;
          }
        } catch (error) {
          // A tenant whose agent is away is chained when it is back.
          if (!isFailure(error, 'DATA_PLANE_NOT_CONNECTED') && !isFailure(error, 'DATA_PLANE_UNAVAILABLE')) log.error({ err: error, ...name }, 'audit not chained');
        }
      };

      for (const chain of await audit.waitingChains()) await moveOn({ source: 'platform', chain }, () => audit.chain(chain));
      // Row-level security shows nobody which tenants have events that wait, so each is asked.
      const tenantIds = await database.read({ tenantId: null }, (tx) => new TenantStore(tx).ids());
      await atOnce(AT_ONCE, tenantIds, async (tenantId) => {
        const call = systemCall({ tenantId, actor: chainer(), at: clock.now() });
        if (!signal?.aborted) await moveOn({ source: 'data', tenantId }, async () => (await dataPlanes.forTenant(tenantId).invoke('chainAudit', call, {})).output);
      });
      return chained;
    },
  };
}

const chainer = (): Actor => ({ kind: 'system', id: null, name: 'audit-chain', ip: null, requestId: newId() });

async function atOnce<T>(workers: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
