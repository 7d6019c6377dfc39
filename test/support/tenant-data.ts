import { expect } from 'chai';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { MemberStore } from '../../server/store/members.js';
import { signIn } from './accounts.js';
import { administration, type Administration } from './administration.js';
import { enterData } from './data-moves.js';
import type { Client } from './http.js';
import { aContract } from './samples.js';
import type { TestServer } from './server.js';
import { reachable } from './uploads.js';

/** The environment variables of a command beside the server. */
export const besides = ({ config }: Pick<TestServer, 'config'>): Readonly<Record<string, string>> => ({
  DATA_DIR: config.dataDir,
  PUBLIC_URL: config.publicUrl,
  EDITION: config.edition,
  PLATFORM_DATABASE_URL: config.platformDatabaseUrl,
  TENANT_DATABASE_URL: config.tenantDatabaseUrl,
});

/** An organisation with data of many kinds, entered through the API. */
export async function bookOf(org: Administration): Promise<{ readonly files: readonly string[] }> {
  const files = await enterData(org);
  const { asOwner } = org;
  const sales = await org.join({ roleCode: 'sales' });
  const ok = async <T>(answer: Promise<{ status: number; body: T; text: string }>): Promise<T> => {
    const { status, body, text } = await answer;
    expect(status, text).to.be.within(200, 201);
    return body;
  };
  const other = await ok(asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second Company' }));
  await ok(asOwner.patch('/tenant-admin/settings', { timezone: 'Asia/Shanghai', reminderHour: 7 }));
  await ok(asOwner.patch('/tenant-admin/roles/viewer/permissions', { permissions: { export: 'edit' } }));
  await ok(
    asOwner.post('/tenant-admin/notification-channels', {
      kind: 'webhook',
      name: 'Hook',
      target: 'https://hooks.example.com/in?token=very-secret-token',
    }),
  );
  const { field } = await ok(
    asOwner.post<{ field: { id: string } }>('/dynamic-fields/commands', {
      type: 'CreateField',
      payload: { name: 'Warranty', type: 'text' },
    }),
  );
  const contract = await ok(
    asOwner.post<{ id: string }>(
      '/contracts',
      aContract({
        contractNo: 'TD-1',
        currencyCode: 'JPY',
        subjectId: other.id,
        ownerId: sales.id,
        dynamicFields: { [field.id]: 'three years 🚢' },
      }),
    ),
  );
  await ok(
    asOwner.post(`/contracts/${contract.id}/invoices`, {
      invoiceNo: 'INV-1',
      invoiceAmount: 7,
      invoiceDate: '2026-02-03',
      status: 'issued',
    }),
  );
  await ok(asOwner.post(`/contracts/${contract.id}/fulfillment-tasks`, { code: 'T-1', title: 'Deliver' }));
  await ok(
    asOwner.post('/saved-views/contracts', {
      name: 'Mine',
      mode: 'table',
      scope: 'personal',
      filters: { ownerId: org.owner.id },
      groupBy: 'none',
      sortKey: 'updatedAt',
      visibleFields: ['contractNo'],
      cardFields: ['contractNo'],
    }),
  );
  return { files: files.map(({ id }) => id) };
}

/** A new organisation whose owner has the address of another one's. */
export async function successorOf(
  server: TestServer,
  { owner }: Pick<Administration, 'owner'>,
): Promise<Administration> {
  const org = await administration(server);
  await server.foundation.platform.write({ tenantId: null }, (tx) =>
    new MemberStore(tx, org.tenant.id).update({ id: org.owner.id, fields: { email: owner.email }, at: Date.now() }),
  );
  const member = { ...org.owner, email: owner.email };
  const { client } = await signIn(server.client, { tenant: org.tenant, member });
  return { ...org, owner: member, asOwner: client };
}

const LISTS = [
  '/contracts?pageSize=100',
  '/contracts/trash',
  '/payments?tab=all&pageSize=100',
  '/payments/stats',
  '/invoices',
  '/collections',
  '/analytics/summary',
  '/analytics/distribution',
  '/analytics/cashflow',
  '/contract-config/catalog',
  '/dynamic-fields',
  '/saved-views/contracts',
  '/tenant-admin/settings',
  '/tenant-admin/subjects',
  '/tenant-admin/permissions',
];

/** What the API answers about all data of an organisation; `ids` replaces ids of another one. */
export async function answersOf(
  client: Client,
  { files, ids = {} }: { readonly files: readonly string[]; readonly ids?: Readonly<Record<string, string>> },
): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = {};
  const ask = async (path: string): Promise<unknown> => {
    const { status, text } = await client.get(path);
    expect(status, `${path}: ${text}`).to.equal(200);
    const same = text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => ids[id] ?? id);
    // A reminder that is due is due now.
    return (answers[path] = JSON.parse(same, (key, value: unknown) =>
      key === 'nextReminderAt' ? undefined : value,
    ) as unknown);
  };
  for (const path of LISTS) await ask(path);
  const { items } = answers['/contracts?pageSize=100'] as { items: { id: string; payments?: { id: string }[] }[] };
  for (const { id } of items) {
    const { payments } = (await ask(`/contracts/${id}`)) as { payments: { id: string }[] };
    for (const part of ['files', 'history', 'invoices', 'workflow/events']) await ask(`/contracts/${id}/${part}`);
    for (const line of payments) await ask(`/payments/${line.id}/receipts`);
  }
  for (const id of files) {
    await ask(`/files/${id}`);
    const { body, text, status } = await client.get<{ url: string }>(`/files/${id}/download`);
    expect(status, text).to.equal(200);
    const stored = await fetch(reachable(body.url, client));
    answers[`bytes of ${id}`] = sha256Hex(Buffer.from(await stored.arrayBuffer()));
  }
  return answers;
}
