import type { Log } from '../../data-plane-agent/base/log.js';
import type { PlatformAudit } from './platform-audit.js';

/** The maximum number of batches per chain and run. */
const BATCHES = 50;

/**
 * Chains the pending audit events of the platform. A schedule runs it every few seconds, in one process at a time. A
 * chain that fails does not block the others.
 */
export const createAuditChaining =
  ({ audit, log }: { readonly audit: PlatformAudit; readonly log: Log }) =>
  async (signal?: AbortSignal): Promise<void> => {
    const chainPending = async (chain: string): Promise<void> => {
      try {
        for (let left = BATCHES; left > 0 && !signal?.aborted; left -= 1) if (!(await audit.chain(chain)).more) return;
      } catch (error) {
        log.error({ err: error, source: 'platform', chain }, 'audit chain not extended');
      }
    };

    for (const chain of await audit.waitingChains()) await chainPending(chain);
  };
