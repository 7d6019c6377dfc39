import type { Log } from '../../data-plane-agent/base/log.js';
import type { PlatformAudit } from './platform-audit.js';

/** Batches of one chain in a run. */
const BATCHES = 50;

/**
 * Puts the platform's audit events that wait in order. A schedule runs it every few seconds, in one process at a time.
 * One chain that cannot be moved holds up no other.
 */
export const createAuditChaining =
  ({ audit, log }: { readonly audit: PlatformAudit; readonly log: Log }) =>
  async (signal?: AbortSignal): Promise<void> => {
    const moveOn = async (chain: string): Promise<void> => {
      try {
        for (let left = BATCHES; left > 0 && !signal?.aborted; left -= 1) if (!(await audit.chain(chain)).more) return;
      } catch (error) {
        log.error({ err: error, source: 'platform', chain }, 'audit not chained');
      }
    };

    for (const chain of await audit.waitingChains()) await moveOn(chain);
  };
