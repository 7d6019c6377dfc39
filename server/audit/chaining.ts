import { eachTenant, type TenantsOptions } from '../data-planes/each-tenant.js';
import type { PlatformAudit } from './platform-audit.js';

/** The background step that puts audit events in order, on both planes. The schedule runs it every few seconds, in one process at a time. */
export interface AuditChaining {
  /** Chains what waits. Answers how many events were chained. One chain that cannot be moved holds up no other. */
  run(signal?: AbortSignal): Promise<number>;
}

/** Batches of one of our own chains in a run. */
const BATCHES = 50;

export function createAuditChaining({ audit, ...parts }: TenantsOptions & { readonly audit: PlatformAudit }): AuditChaining {
  return {
    run: async (signal) => {
      let chained = 0;
      const moveOn = async (chain: string): Promise<void> => {
        try {
          for (let left = BATCHES; left > 0 && !signal?.aborted; left -= 1) {
            const done = await audit.chain(chain);
            chained += done.chained;
            if (!done.more) return;
          }
        } catch (error) {
          parts.log.error({ err: error, source: 'platform', chain }, 'audit not chained');
        }
      };

      for (const chain of await audit.waitingChains()) await moveOn(chain);
      await eachTenant(parts, {
        job: 'audit-chain',
        signal,
        step: async (plane) => {
          const done = await plane.chainAudit({});
          chained += done.chained;
          return done;
        },
      });
      return chained;
    },
  };
}
