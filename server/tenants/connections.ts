import type { Database } from '../../data-plane-agent/base/database/database.js';
import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Actor } from '../access/actor.js';
import { ConnectionStore, type ConnectionRecord, type ConnectionStatus } from '../store/connections.js';
import { urlProblem, type TargetPolicy } from './channel-targets.js';
import type { ChangeTenant } from './change.js';

export const CONNECTION_KIND = '^[a-z][a-z0-9_-]{1,63}$';
/** The connection to an agent, and the components behind it. */
export const AGENT = 'agent';
const BEHIND_AGENT: ReadonlySet<string> = new Set(['database', 'object_storage', 'malware_scanner']);

type OfTenant = { readonly tenantId: string };
export interface ConnectionFields {
  readonly kind: string;
  readonly provider?: string | null | undefined;
  readonly location?: string | null | undefined;
  readonly accessMode?: ConnectionRecord['accessMode'] | undefined;
  readonly endpoint?: string | null | undefined;
}

/**
 * The data-plane connections that tenants declare, one of each kind. Outside the edition with agents they are
 * `inactive` and have no effect. An unknown kind is NOT_FOUND.
 */
export interface Connections {
  /** By kind. */
  list(tenantId: string): Promise<ConnectionRecord[]>;
  /** Replaces the connection of the same kind. Throws INVALID_INPUT, which names `endpoint`, and LIMIT_REACHED. */
  declare(connection: OfTenant & { readonly fields: ConnectionFields }, actor: Actor): Promise<ConnectionRecord>;
  /** The issues of a connection; fields that were refused before may be missing. */
  issues(fields: { readonly [K in keyof ConnectionFields]?: ConnectionFields[K] | undefined }): readonly Issue[];
  /** An agent's connection remains listed as `revoked`; a declaration is deleted. */
  revoke(connection: OfTenant & { readonly kind: string }, actor: Actor): Promise<void>;
}

const MAX_CONNECTIONS = 1_000;

export function createConnections({
  database,
  change,
  policy,
  linked,
}: {
  database: Database;
  change: ChangeTenant;
  policy: TargetPolicy;
  linked: boolean;
}): Connections {
  const ask = { recordKind: 'data_plane_connection' };

  const firstStatus = (kind: string): ConnectionStatus => {
    if (!linked) return 'inactive';
    return kind === AGENT || BEHIND_AGENT.has(kind) ? 'pending' : 'declared';
  };

  return {
    list: (tenantId) => database.read({ tenantId: null }, (tx) => new ConnectionStore(tx, tenantId).all()),

    declare: async ({ tenantId, fields }, actor) => {
      const issues = endpointIssues(fields, policy);
      if (issues.length > 0) throw invalid(...issues);
      const { kind, provider = null, location = null, endpoint = null } = fields;
      const accessMode = fields.accessMode ?? (kind === AGENT ? 'outbound' : null);
      return change({ ...ask, tenantId, actor, action: 'data_plane_declared' }, async (tx, _tenant, at) => {
        const store = new ConnectionStore(tx, tenantId);
        const present = await store.all();
        const before = present.find((connection) => connection.kind === kind);
        if (!before && present.length >= MAX_CONNECTIONS) throw fail('LIMIT_REACHED', { limit: MAX_CONNECTIONS });
        const connection: ConnectionRecord = {
          id: newId(),
          kind,
          provider,
          location,
          accessMode,
          endpoint,
          status: firstStatus(kind),
          createdAt: at,
          updatedAt: at,
        };
        await store.delete(kind);
        await store.insert(connection);
        return {
          answer: connection,
          changed: {
            kind,
            provider,
            location,
            accessMode,
            endpoint,
            status: connection.status,
            replaces: before?.id ?? null,
          },
          recordId: connection.id,
        };
      });
    },

    issues: (fields) => endpointIssues(fields, policy),

    revoke: ({ tenantId, kind }, actor) =>
      change({ ...ask, tenantId, actor, action: 'data_plane_revoked' }, async (tx, _tenant, at) => {
        const store = new ConnectionStore(tx, tenantId);
        const connection = new RegExp(CONNECTION_KIND).test(kind) ? await store.byKind(kind) : undefined;
        if (!connection || connection.status === 'revoked') throw fail('NOT_FOUND', {});
        if (linked && kind === AGENT) await store.setStatus({ kind, status: 'revoked', at });
        else await store.delete(kind);
        return { answer: undefined, changed: { kind, status: connection.status }, recordId: connection.id };
      }),
  };
}

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
