import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import { newId } from '../../../data-plane-agent/base/ids.js';
import type { AgentReport, LinkedTenant } from '../../../data-plane-agent/base/link/messages.js';
import type { StoredStatus } from '../../store/connections.js';
import { LinkedConnectionStore } from '../../store/linked-connections.js';
import { AuditStore } from '../../store/audit.js';
import { LinkSessionStore, type LinkSessionRecord } from '../../store/link-sessions.js';
import { TenantStore } from '../../store/tenants.js';
import type { Greeted } from './greeting.js';
import { linkedTenant } from '../linked-tenant.js';
import type { LocalSession } from './local-sessions.js';

/** This process among the replicas of the control plane. */
export interface Replica {
  readonly holder: string;
  /** Where other replicas reach it. */
  readonly peerUrl: string;
}

/** What all replicas know of sessions, in the platform database. */
export interface Registry {
  /** Takes the number of a session. False for one that the agent cannot have, unless its data directory was copied. */
  takeSequence(greeted: Greeted): Promise<boolean>;
  statusOf(greeted: Greeted): Promise<StoredStatus | undefined>;
  /** Records a session whose agent is ready. False if the connection or its key is no longer valid. */
  opened(greeted: Greeted): Promise<boolean>;
  closed(session: Pick<LocalSession, 'tenantId' | 'sid' | 'connectionId'>): Promise<void>;
  /** Records what an agent reported, and that its session is alive. */
  heard(local: LocalSession, report: AgentReport): Promise<void>;
  /** Sessions of another process of the same connection that are alive, also at other replicas. */
  others(greeted: Greeted): Promise<LinkSessionRecord[]>;
  /** The sessions of a tenant that other replicas hold, the newest first. */
  elsewhere(tenantId: string): Promise<LinkSessionRecord[]>;
  /** Own sessions whose connection is no longer valid, with its status. */
  ended(): Promise<{ readonly sid: string; readonly status: string | null }[]>;
  /** `reason` is a sentence for administrators, `why` is for the audit. */
  suspend(
    connection: { readonly tenantId: string; readonly id: string },
    because: { readonly reason: string; readonly why: string },
  ): Promise<boolean>;
  tenants(ids: readonly string[]): Promise<LinkedTenant[]>;
  /** Records that this process runs. */
  alive(): Promise<void>;
  hasPeers(): Promise<boolean>;
  leave(): Promise<void>;
}

export function createRegistry({
  database,
  clock,
  holder,
  peerUrl,
}: Replica & { readonly database: Database; readonly clock: Clock }): Registry {
  const scope = { tenantId: null };
  const placeOf = ({ admitted: { connection } }: Greeted) => ({ tenantId: connection.tenantId, id: connection.id });
  return {
    takeSequence: (greeted) =>
      database.write(scope, (tx) =>
        new LinkedConnectionStore(tx).takeSequence({ ...placeOf(greeted), sequence: greeted.hello.sequence }),
      ),
    statusOf: async (greeted) => {
      const { id } = placeOf(greeted);
      return (await database.read(scope, (tx) => new LinkedConnectionStore(tx).byId(id)))?.status;
    },
    opened: (greeted) =>
      database.write(scope, async (tx) => {
        const { sid, protocol, admitted, hello } = greeted;
        const at = clock.now();
        const place = placeOf(greeted);
        const connections = new LinkedConnectionStore(tx);
        const isValid = await connections.connected({
          ...place,
          key: admitted.key,
          at,
          bootId: hello.bootId,
          version: hello.version,
          protocol,
          operations: hello.operations,
          schema: hello.schema,
          components: hello.report.components,
        });
        if (!isValid) return false;
        await connections.confirmSequence({ ...place, sequence: hello.sequence });
        await new LinkSessionStore(tx).heard({
          tenantId: place.tenantId,
          sid,
          connectionId: place.id,
          bootId: hello.bootId,
          holder,
          peerUrl,
          openedAt: at,
          heardAt: at,
        });
        return true;
      }),
    closed: ({ tenantId, sid, connectionId }) =>
      database.write(scope, async (tx) => {
        await new LinkSessionStore(tx).remove({ tenantId, sid });
        await new LinkedConnectionStore(tx).disconnected({ tenantId, id: connectionId });
      }),
    heard: ({ session, ...local }, { components }) =>
      database.write(scope, async (tx) => {
        const { tenantId, connectionId } = local;
        const at = clock.now();
        const latencyMs = session.latencyMs === null ? null : Math.round(session.latencyMs);
        await new LinkSessionStore(tx).heard({ ...local, holder, peerUrl, heardAt: at });
        await new LinkedConnectionStore(tx).seen({ tenantId, id: connectionId, at, latencyMs, components });
      }),
    others: async (greeted) => {
      const { tenantId, id } = placeOf(greeted);
      const alive = await database.read(scope, (tx) => new LinkSessionStore(tx).alive(tenantId, clock.now()));
      // Sessions from before the agent joined are about to be closed.
      const joinedAt = greeted.admitted.connection.joinedAt ?? 0;
      return alive.filter(
        ({ connectionId, bootId, openedAt }) =>
          connectionId === id && bootId !== greeted.hello.bootId && openedAt >= joinedAt,
      );
    },
    elsewhere: async (tenantId) => {
      const alive = await database.read(scope, (tx) => new LinkSessionStore(tx).alive(tenantId, clock.now()));
      return alive.filter((session) => session.holder !== holder);
    },
    ended: () => database.read(scope, (tx) => new LinkSessionStore(tx).ended(holder)),
    suspend: ({ tenantId, id }, { reason, why }) =>
      database.write(scope, async (tx) => {
        const at = clock.now();
        if (!(await new LinkedConnectionStore(tx).suspend({ tenantId, id, reason, at }))) return false;
        await new AuditStore(tx).append({
          tenantId,
          at,
          actor: { kind: 'system', id: null, name: 'links', ip: null, requestId: newId() },
          action: 'data_plane_suspended',
          recordKind: 'data_plane_connection',
          recordId: id,
          changes: { why },
        });
        return true;
      }),
    tenants: async (ids) => (await database.read(scope, (tx) => new TenantStore(tx).among(ids))).map(linkedTenant),
    alive: () =>
      database.write(scope, (tx) => new LinkSessionStore(tx).replicaHeard({ holder, peerUrl, at: clock.now() })),
    hasPeers: () => database.read(scope, (tx) => new LinkSessionStore(tx).hasPeers({ holder, at: clock.now() })),
    leave: () => database.write(scope, (tx) => new LinkSessionStore(tx).removeReplica(holder)),
  };
}
