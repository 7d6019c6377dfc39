import type { RequestFacts } from '../../../data-plane-agent/base/link/envelope.js';
import { LinkLost, type LinkMessage, type LinkSession } from '../../../data-plane-agent/base/link/session.js';

/** A session that this process holds, of an agent that was admitted. */
export interface LocalSession {
  readonly sid: string;
  readonly tenantId: string;
  readonly connectionId: string;
  readonly bootId: string;
  /** The version of the protocol that was agreed. */
  readonly protocol: number;
  readonly openedAt: number;
  readonly session: LinkSession;
}

/** The sessions that this process holds, by tenant. */
export interface LocalSessions {
  add(local: LocalSession): void;
  remove(local: LocalSession): void;
  bySid(sid: string): LocalSession | undefined;
  /** The newest session on which requests may be sent. */
  of(tenantId: string): LocalSession | undefined;
  /** A session that this process is about to close, and that still answers. */
  draining(tenantId: string): LocalSession | undefined;
  all(): readonly LocalSession[];
  readonly size: number;
}

export function createLocalSessions(): LocalSessions {
  const bySid = new Map<string, LocalSession>();
  const byTenant = new Map<string, readonly LocalSession[]>();
  return {
    add: (local) => {
      bySid.set(local.sid, local);
      byTenant.set(local.tenantId, [local, ...(byTenant.get(local.tenantId) ?? [])]);
    },
    remove: ({ sid, tenantId }) => {
      bySid.delete(sid);
      const left = (byTenant.get(tenantId) ?? []).filter((other) => other.sid !== sid);
      if (left.length > 0) byTenant.set(tenantId, left);
      else byTenant.delete(tenantId);
    },
    bySid: (sid) => bySid.get(sid),
    of: (tenantId) => byTenant.get(tenantId)?.find(({ session }) => session.state === 'open'),
    draining: (tenantId) => byTenant.get(tenantId)?.find(({ session }) => session.state === 'draining'),
    all: () => [...bySid.values()],
    get size() {
      return bySid.size;
    },
  };
}

export const factsOf = (
  { tenantId, connectionId, sid }: Pick<LocalSession, 'tenantId' | 'connectionId' | 'sid'>,
  controlPlane: string,
): RequestFacts => ({ controlPlane, connectionId, tenantId, session: sid });

/** Sends on a session of this process. */
export const sendOn = (
  { session }: Pick<LocalSession, 'session'>,
  message: LinkMessage,
  options: { readonly signal: AbortSignal },
): Promise<LinkMessage> =>
  session.state !== 'closed'
    ? session.request(message, options)
    : Promise.reject(new LinkLost('the session of the agent has ended', true, { sessionEnded: true }));
