import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Component } from '../../data-plane-agent/base/link/messages.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { Actor } from '../access/actor.js';
import { AGENT, statusOf, type ConnectionStatus } from '../data-planes/connection-status.js';
import { COMPONENT_KINDS } from '../data-planes/declarations.js';
import { JOIN_TOKEN_MS, newJoinToken } from '../data-planes/joining/join-tokens.js';
import {
  ConnectionStore,
  type ConnectionRecord,
  type ListedConnection,
  type StoredStatus,
} from '../store/connections.js';
import { urlProblem, type TargetPolicy } from './channel-targets.js';
import type { ChangeTenant } from './change.js';

export const CONNECTION_KIND = '^[a-z][a-z0-9_-]{1,63}$';

type OfTenant = { readonly tenantId: string };
export interface ConnectionFields {
  readonly kind: string;
  readonly provider?: string | null | undefined;
  readonly location?: string | null | undefined;
  readonly accessMode?: ConnectionRecord['accessMode'] | undefined;
  readonly endpoint?: string | null | undefined;
}

/** A connection with its status as it is shown. */
export type ShownConnection = Omit<ListedConnection, 'status'> & { readonly status: ConnectionStatus };

export interface DeclaredConnection {
  readonly connection: ShownConnection;
  /** Only for `agent`: it is not shown again. */
  readonly joinToken: string | null;
  /** The command with which an agent joins; it does not contain the token. */
  readonly joinCommand: string | null;
}

/**
 * The data-plane connections that tenants declare, one of each kind. Outside the edition with agents they are
 * `inactive` and have no effect. An unknown kind is NOT_FOUND.
 */
export interface Connections {
  /** By kind. */
  list(tenantId: string): Promise<ShownConnection[]>;
  /**
   * Replaces the connection of the same kind. That of an agent keeps its id, and an agent that has joined stays
   * connected until one joins with the new token. Throws INVALID_INPUT, which names `endpoint`, and LIMIT_REACHED.
   */
  declare(connection: OfTenant & { readonly fields: ConnectionFields }, actor: Actor): Promise<DeclaredConnection>;
  /** The issues of a connection; fields that were refused before may be missing. */
  issues(fields: { readonly [K in keyof ConnectionFields]?: ConnectionFields[K] | undefined }): readonly Issue[];
  /** An agent's connection remains listed as `revoked`, without its keys; a declaration is deleted. */
  revoke(connection: OfTenant & { readonly kind: string }, actor: Actor): Promise<void>;
}

const MAX_CONNECTIONS = 1_000;

export interface ConnectionsOptions {
  readonly database: Pick<Database, 'read'>;
  readonly clock: Clock;
  readonly change: ChangeTenant;
  readonly policy: TargetPolicy;
  /** Whether agents store the contract data. */
  readonly linked: boolean;
  /** The origin of the service, which agents call. */
  readonly publicUrl: string;
  /** Called after the connection of an agent was revoked, to close its sessions at this replica. */
  readonly onRevoked?: ((connectionId: string) => void) | undefined;
}

export function createConnections(options: ConnectionsOptions): Connections {
  const { database, clock, change, policy, linked, publicUrl, onRevoked } = options;
  const ask = { recordKind: 'data_plane_connection' };

  const shown = (
    connection: ListedConnection,
    { components, at }: { readonly components: readonly Component[] | null; readonly at: number },
  ): ShownConnection => {
    const status = statusOf(connection, { linked, at, components });
    // Of an agent that is not connected, what it reported when it was would look like the present state.
    const live = status === 'connected' ? {} : { connectedSince: null, latencyMs: null };
    return { ...connection, ...live, status };
  };

  /** In place of the declaration, if there is one; a new one without an effect has a new id. */
  const replace = async (tx: Transaction, declared: Declared): Promise<string | null> => {
    const { tenantId, before, connection } = declared;
    const store = new ConnectionStore(tx, tenantId);
    if (!linked || connection.kind !== AGENT) {
      if (before) await store.delete(connection.kind);
      await store.insert(connection);
      return null;
    }
    const joinToken = newJoinToken();
    const token = { hash: sha256Hex(joinToken), expiresAt: connection.updatedAt + JOIN_TOKEN_MS };
    if (before) await store.redeclare(connection, token);
    else await store.insert(connection, token);
    return joinToken;
  };

  return {
    list: (tenantId) =>
      database.read({ tenantId: null }, async (tx) => {
        const all = await new ConnectionStore(tx, tenantId).all();
        const state = { components: componentsOf(all), at: clock.now() };
        return all.map((connection) => shown(connection, state));
      }),

    declare: async ({ tenantId, fields }, actor) => {
      const issues = endpointIssues(fields, policy);
      if (issues.length > 0) throw invalid(...issues);
      const { kind, provider = null, location = null, endpoint = null } = fields;
      const accessMode = fields.accessMode ?? (kind === AGENT ? 'outbound' : null);
      return change({ ...ask, tenantId, actor, action: 'data_plane_declared' }, async (tx, _tenant, at) => {
        const present = await new ConnectionStore(tx, tenantId).all();
        const before = present.find((connection) => connection.kind === kind);
        if (!before && present.length >= MAX_CONNECTIONS) throw fail('LIMIT_REACHED', { limit: MAX_CONNECTIONS });
        const keeps = linked && kind === AGENT ? before : undefined;
        const connection: ConnectionRecord = {
          id: keeps?.id ?? newId(),
          kind,
          provider,
          location,
          accessMode,
          endpoint,
          status: linked ? storedStatus(kind, keeps?.status) : 'inactive',
          createdAt: keeps?.createdAt ?? at,
          updatedAt: at,
        };
        const joinToken = await replace(tx, { tenantId, before, connection });
        const answer: DeclaredConnection = {
          connection: shown(
            { ...NOTHING_REPORTED, ...keeps, ...connection },
            { components: componentsOf(present), at },
          ),
          joinToken,
          joinCommand: joinToken && `duebook-agent join --control-plane ${publicUrl} --token-file -`,
        };
        return {
          answer,
          changed: {
            kind,
            provider,
            location,
            accessMode,
            endpoint,
            status: answer.connection.status,
            replaces: keeps ? null : (before?.id ?? null),
            ...(joinToken === null ? {} : { joinTokenExpiresAt: at + JOIN_TOKEN_MS }),
          },
          recordId: connection.id,
        };
      });
    },

    issues: (fields) => endpointIssues(fields, policy),

    revoke: async ({ tenantId, kind }, actor) => {
      const revoked = await change(
        { ...ask, tenantId, actor, action: 'data_plane_revoked' },
        async (tx, _tenant, at) => {
          const store = new ConnectionStore(tx, tenantId);
          const connection = new RegExp(CONNECTION_KIND).test(kind) ? await store.byKind(kind) : undefined;
          if (!connection || connection.status === 'revoked') throw fail('NOT_FOUND', {});
          const isAgent = linked && kind === AGENT;
          if (isAgent) await store.revoke({ kind, at });
          else await store.delete(kind);
          return {
            answer: isAgent ? connection.id : null,
            changed: { kind, status: connection.status },
            recordId: connection.id,
          };
        },
      );
      if (revoked !== null) onRevoked?.(revoked);
    },
  };
}

interface Declared {
  readonly tenantId: string;
  readonly before: ListedConnection | undefined;
  readonly connection: ConnectionRecord;
}

const NOTHING_REPORTED = {
  agentVersion: null,
  protocolVersion: null,
  components: null,
  lastSeenAt: null,
  connectedSince: null,
  latencyMs: null,
  statusReason: null,
};

/** A suspended agent remains suspended until one joins. */
function storedStatus(kind: string, before: StoredStatus | undefined): StoredStatus {
  if (kind === AGENT) return before === 'connected' || before === 'suspended' ? before : 'pending';
  return COMPONENT_KINDS.has(kind) ? 'pending' : 'declared';
}

/** What the tenant's agent last reported. */
const componentsOf = (connections: readonly ListedConnection[]): readonly Component[] | null =>
  connections.find(({ kind }) => kind === AGENT)?.components ?? null;

/**
 * A connection that we call requires an endpoint that may be called. Other endpoints are never called, but must be
 * valid too.
 */
function endpointIssues(
  { kind, accessMode, endpoint }: Parameters<Connections['issues']>[0],
  policy: TargetPolicy,
): Issue[] {
  const problem =
    endpoint === undefined || endpoint === null
      ? kind === AGENT && accessMode === 'direct'
        ? 'is required if accessMode is direct'
        : undefined
      : (urlProblem(endpoint, policy) ?? bareProblem(new URL(endpoint)));
  return problem === undefined ? [] : [{ path: 'endpoint', problem }];
}

const bareProblem = ({ search, hash }: URL): string | undefined =>
  search !== '' || hash !== '' ? 'must not have a query or a fragment' : undefined;
