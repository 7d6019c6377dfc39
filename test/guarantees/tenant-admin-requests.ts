import { randomBytes } from 'node:crypto';
import { makeMember, OPERATOR, signIn } from '../support/accounts.js';
import type { Organisation } from './organisations.js';

type Sample = { readonly params?: Readonly<Record<string, string>>; readonly body?: Readonly<Record<string, unknown>> };

/** Requests for tenant administration; see `requests.ts`. None affects the members whom other tests sign in as. */
export const TENANT_ADMIN_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'GET /tenant-admin/settings': () => ({}),
  'GET /tenant-admin/bootstrap-status': () => ({}),
  'PATCH /tenant-admin/settings': () => ({ body: { localeRegion: 'CN', reminderLeadDays: 7 } }),
  'GET /tenant-admin/subjects': () => ({}),
  'POST /tenant-admin/subjects': (org) => ({ body: { name: `${org.marker} Trading`, taxNo: '91350100M000100Y43' } }),
  'PATCH /tenant-admin/subjects/:id': async (org) => ({
    params: { id: await subject(org) },
    body: { legalName: `${org.marker} Trading Ltd` },
  }),
  'DELETE /tenant-admin/subjects/:id': async (org) => ({ params: { id: await subject(org) } }),
  'GET /tenant-admin/members': () => ({}),
  'PATCH /tenant-admin/members/:id': async (org) => ({
    params: { id: await member(org) },
    body: { name: `${org.marker} Renamed`, roleCode: 'finance' },
  }),
  'DELETE /tenant-admin/members/:id/sessions': async (org) => ({ params: { id: await member(org) } }),
  'GET /tenant-admin/members/:id/handover-preview': async (org) => ({ params: { id: await member(org) } }),
  'POST /tenant-admin/members/:id/offboard': async (org) => ({
    params: { id: await member(org) },
    body: { successorUserId: org.memberId },
  }),
  'POST /tenant-admin/owner-transfer': async (org) => {
    await giveBack(org);
    return { body: { newOwnerId: (await makeMember(org.server.services, org, { roleCode: 'sales' })).id } };
  },
  'GET /tenant-admin/roles': () => ({}),
  'GET /tenant-admin/permissions': () => ({}),
  'PATCH /tenant-admin/roles/:code/permissions': () => ({
    params: { code: 'viewer' },
    body: { permissions: { contract_view: 'view' } },
  }),
  'PATCH /tenant-admin/roles/:code/workflow-controls': () => ({
    params: { code: 'viewer' },
    body: { controls: { draft: 'view' } },
  }),
  'GET /tenant-admin/notification-channels': () => ({}),
  'POST /tenant-admin/notification-channels': (org) => ({
    body: {
      kind: 'webhook',
      name: org.marker,
      target: 'https://hooks.example.com/in',
      secret: `secret of ${org.marker}`,
    },
  }),
  'PATCH /tenant-admin/notification-channels/:id': async (org) => ({
    params: { id: await channel(org) },
    body: { name: `${org.marker} renamed` },
  }),
  'DELETE /tenant-admin/notification-channels/:id': async (org) => ({ params: { id: await channel(org) } }),
  // Without a mail server the answer is that nothing was delivered.
  'POST /tenant-admin/notification-channels/:id/test': async (org) => ({ params: { id: await channel(org) } }),
  'GET /tenant-admin/data-plane': () => ({}),
  'POST /tenant-admin/data-plane': (org) => ({
    body: { kind: 'database', provider: 'postgres', location: org.marker },
  }),
  'DELETE /tenant-admin/data-plane/:kind': async (org) => ({ params: { kind: await connection(org) } }),
};

const word = (): string => randomBytes(4).toString('hex');

const subject = async ({ server, tenant, marker }: Organisation): Promise<string> =>
  (await server.services.tenants.subjects.add({ tenantId: tenant.id, name: `${marker} ${word()}` }, OPERATOR)).id;

const member = async ({ server, tenant, marker }: Organisation): Promise<string> =>
  (
    await server.services.tenants.members.add(
      { tenantId: tenant.id, name: `${marker} Leaver`, email: `${word()}@${tenant.slug}.test`, roleCode: 'sales' },
      OPERATOR,
    )
  ).id;

const channel = async ({ server, tenant, marker }: Organisation): Promise<string> =>
  (
    await server.services.tenants.channels.add(
      { tenantId: tenant.id, kind: 'email', fields: { name: marker, target: 'books@example.com' } },
      OPERATOR,
    )
  ).id;

const connection = async ({ server, tenant, marker }: Organisation): Promise<string> =>
  (
    await server.services.tenants.connections.declare(
      { tenantId: tenant.id, fields: { kind: `kind-${word()}`, location: marker } },
      OPERATOR,
    )
  ).connection.kind;

/** Returns the ownership to the owner that the tests use, if another test has transferred it. */
async function giveBack({ server, tenant, owner }: Organisation): Promise<void> {
  const present = (await server.services.tenants.members.list(tenant.id)).find(({ roleCode }) => roleCode === 'owner');
  if (!present || present.id === owner.id) return;
  const { client } = await signIn(server.client, { tenant, member: present });
  await client.post('/tenant-admin/owner-transfer', { newOwnerId: owner.id });
}
