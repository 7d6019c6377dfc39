import { s } from '../../../data-plane-agent/base/schema.js';
import { warn } from '../../../data-plane-agent/base/warnings.js';
import { OK, Ok, type Warning } from '../../../data-plane-agent/plane/contract/records/common.js';
import { edit } from '../../access/permissions.js';
import { actorOf } from '../../access/actor.js';
import { endpoint } from '../../http/endpoint.js';
import type { Connections } from '../../tenants/connections.js';
import { Connection, ConnectionInput, DeclaredConnection } from '../../tenants/tenants.schemas.js';
import { stamped } from './stamped.js';

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
    'A tenant has one connection of each kind: a new one replaces it. Outside the edition `enterprise_hybrid` it is `inactive` and has no effect.',
  needs: edit('admin'),
  body: ConnectionInput,
  furtherIssues: (sound, { services }) => services.tenants.connections.issues(sound),
  returns: DeclaredConnection,
  status: 201,
  fails: ['LIMIT_REACHED'],
  run: async ({ body, principal, request, services }) => {
    const connection = await services.tenants.connections.declare(
      { tenantId: principal.tenant.id, fields: body },
      actorOf(principal.user, request),
    );
    return { ...connectionAnswer(connection), warnings: warningsOf(connection) };
  },
});

const revokeDataPlaneConnection = endpoint('DELETE /tenant-admin/data-plane/:kind', {
  summary: 'Revoke a data-plane connection',
  description:
    "The connection of an agent is closed and remains listed as `revoked`; a declaration is deleted. The customer's data is not changed.",
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

type Declared = Awaited<ReturnType<Connections['declare']>>;

function warningsOf({ status }: Declared): Warning[] {
  if (status !== 'inactive') return [];
  return [warn('DATA_PLANE_INACTIVE', {})];
}

/** Fields that only a connected agent could report are `null`. */
const connectionAnswer = (connection: Declared) => ({
  ...stamped(connection),
  agentVersion: null,
  protocolVersion: null,
  components: null,
  lastSeenAt: null,
  connectedSince: null,
  latencyMs: null,
});

export const dataPlaneEndpoints = { listDataPlaneConnections, declareDataPlaneConnection, revokeDataPlaneConnection };
