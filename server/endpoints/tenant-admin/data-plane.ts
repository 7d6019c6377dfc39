import { s } from '../../../data-plane-agent/base/schema.js';
import { iso, isoOrNull } from '../../../data-plane-agent/base/instants.js';
import { warn } from '../../../data-plane-agent/base/warnings.js';
import { OK, Ok, type Warning } from '../../../data-plane-agent/plane/contract/records/common.js';
import { edit } from '../../access/permissions.js';
import { actorOf } from '../../access/actor.js';
import { endpoint } from '../../http/endpoint.js';
import type { ShownConnection } from '../../tenants/connections.js';
import { Connection, ConnectionInput, DeclaredConnection } from '../../tenants/tenants.schemas.js';

const listDataPlaneConnections = endpoint('GET /tenant-admin/data-plane', {
  summary: 'List data-plane connections',
  needs: edit('admin'),
  returns: s.list(Connection, 1_000, 'A plain array: an organisation has at most 1 000 connections, one of each kind.'),
  fails: [],
  run: async ({ principal, services }) =>
    (await services.tenants.connections.list(principal.tenant.id)).map(connectionAnswer),
});

const declareDataPlaneConnection = endpoint('POST /tenant-admin/data-plane', {
  summary: 'Declare a data-plane connection',
  description:
    'A tenant has one connection of each kind: a new one replaces it. For `agent` the answer contains, once, a token with which one agent can join within 24 hours. Another request of that kind keeps the id of the connection and makes a new token, which is the only valid one then; an agent that has joined stays connected until another one joins. Outside the edition `enterprise_hybrid` connections are `inactive` and have no effect.',
  needs: edit('admin'),
  body: ConnectionInput,
  furtherIssues: (sound, { services }) => services.tenants.connections.issues(sound),
  returns: DeclaredConnection,
  status: 201,
  fails: ['LIMIT_REACHED'],
  run: async ({ body, principal, request, services }) => {
    const { connection, joinToken, joinCommand } = await services.tenants.connections.declare(
      { tenantId: principal.tenant.id, fields: body },
      actorOf(principal.user, request),
    );
    return {
      ...connectionAnswer(connection),
      ...(joinToken !== null && joinCommand !== null ? { joinToken, joinCommand } : {}),
      warnings: warningsOf(connection),
    };
  },
});

const revokeDataPlaneConnection = endpoint('DELETE /tenant-admin/data-plane/:kind', {
  summary: 'Revoke a data-plane connection',
  description:
    "The connection of an agent is closed and remains listed as `revoked`: its key and its join token are refused from then on. A declaration is deleted. The customer's data is not changed.",
  needs: edit('admin'),
  returns: Ok,
  fails: [],
  run: async ({ params, principal, request, services }) => {
    await services.tenants.connections.revoke(
      { tenantId: principal.tenant.id, kind: params.kind },
      actorOf(principal.user, request),
    );
    return OK;
  },
});

function warningsOf({ status }: ShownConnection): Warning[] {
  if (status !== 'inactive') return [];
  return [warn('DATA_PLANE_INACTIVE', {})];
}

const connectionAnswer = (connection: ShownConnection) => ({
  id: connection.id,
  kind: connection.kind,
  provider: connection.provider,
  location: connection.location,
  accessMode: connection.accessMode,
  endpoint: connection.endpoint,
  status: connection.status,
  statusReason: connection.statusReason,
  agentVersion: connection.agentVersion,
  protocolVersion: connection.protocolVersion,
  components: connection.components && [...connection.components],
  lastSeenAt: isoOrNull(connection.lastSeenAt),
  connectedSince: isoOrNull(connection.connectedSince),
  latencyMs: connection.latencyMs,
  createdAt: iso(connection.createdAt),
  updatedAt: iso(connection.updatedAt),
});

export const dataPlaneEndpoints = { listDataPlaneConnections, declareDataPlaneConnection, revokeDataPlaneConnection };
