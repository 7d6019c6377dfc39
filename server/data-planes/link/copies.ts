import { CLOSED } from '../../../data-plane-agent/base/link/limits.js';
import type { Log } from '../../../data-plane-agent/base/log.js';
import { GreetingRefused, type Greeted } from './greeting.js';
import type { LocalSessions } from './local-sessions.js';
import type { Peers } from './peers.js';
import type { Registry } from './registry.js';

/** Notices that the data directory of an agent was copied: see `docs/decisions/0013-link.md`. */
export interface Copies {
  /**
   * Suspends the connection if an older process of the same agent answers, and throws GreetingRefused. Sessions of one
   * that does not answer are closed.
   */
  refuse(greeted: Greeted): Promise<void>;
  /** Suspends the connection and closes its sessions. Returns the refusal to throw. */
  suspend(greeted: Greeted, why: string): Promise<GreetingRefused>;
}

/** How long the older process has to answer before a new one replaces it. */
const PING_MS = 3_000;
const REASON =
  'Two copies of the agent were connected, or its data directory was restored from a copy. Stop all but one, create a new join token and run "duebook-agent rejoin".';

export function createCopies({
  registry,
  sessions,
  peers,
  holder,
  log,
  onChanged,
  closeAll,
}: {
  readonly registry: Pick<Registry, 'others' | 'suspend'>;
  readonly sessions: Pick<LocalSessions, 'bySid'>;
  readonly peers: Pick<Peers, 'ping'>;
  readonly holder: string;
  readonly log: Log;
  readonly onChanged: (tenantId: string) => void;
  readonly closeAll: (connectionId: string, code: number, reason: string) => void;
}): Copies {
  const suspend: Copies['suspend'] = async (greeted, why) => {
    const { tenantId, id } = greeted.admitted.connection;
    log.error({ tenantId, connectionId: id, why }, 'a connection was suspended: its agent was copied');
    await registry.suspend({ tenantId, id }, { reason: REASON, why });
    onChanged(tenantId);
    closeAll(id, CLOSED.cloned, 'clone_suspected');
    return new GreetingRefused(CLOSED.cloned, 'clone_suspected');
  };
  return {
    suspend,
    refuse: async (greeted) => {
      const others = await registry.others(greeted);
      const answers = await Promise.all(
        others.map(async (other) => {
          const mine = sessions.bySid(other.sid);
          if (other.holder !== holder) return peers.ping(other, PING_MS);
          if (mine?.session.state !== 'open') return false;
          const answered = await mine.session.ping(PING_MS);
          if (!answered) mine.session.close(CLOSED.silent, 'another process of the agent has connected');
          return answered;
        }),
      );
      if (answers.includes(true)) throw await suspend(greeted, 'two processes are connected');
    },
  };
}
