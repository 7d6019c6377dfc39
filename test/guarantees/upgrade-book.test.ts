import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { signIn } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import type { Client } from '../support/http.js';
import { BOOK_KEYS, landedBook, openBook, saveBook, type OpenedBook } from '../support/landed-book.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';
import { CHANGES_CALLER } from './auth-requests.js';
import { organisation } from './organisations.js';
import { REQUESTS, sampleOf, send } from './requests.js';

/** What a member works with, which an upgrade must not change. Not deliveries, which the server continues to attempt. */
const LISTS = [
  '/payments/stats',
  '/payments?tab=all&pageSize=100',
  '/collections?tab=all&pageSize=100',
  '/contract-config/catalog',
  '/tenant-admin/members',
  '/tenant-admin/roles',
  '/tenant-admin/settings',
  '/tenant-admin/notification-channels',
  '/dynamic-fields',
];

if (process.env['UPDATE_LANDED'] === '1')
  describe('the book of this version', () => {
    needsPostgres();

    it('is saved, after one request to each endpoint that writes', async function () {
      this.timeout(240_000);
      const clock = fakeClock(Date.now());
      const server = await startServer({ database: 'postgres', clock, env: { SECRET_KEYS: BOOK_KEYS } });
      try {
        const org = await organisation(server);
        const failed: string[] = [];
        for (const { route } of Object.values(ENDPOINTS)) {
          const [method = '', path = ''] = route.split(' ');
          if (method === 'GET' || !REQUESTS[route] || CHANGES_CALLER.has(route)) continue;
          if (/^\/(auth|calendar|integrations|ai|sso)/.test(path) || /owner-transfer/.test(path)) continue;
          const { status, text } = await send(org.client, route, await sampleOf(route, org));
          if (status >= 300) failed.push(`${route}: ${status} ${text}`);
        }
        expect(failed).to.deep.equal([]);
        const { tenant, platform } = server.foundation;
        if (!tenant) throw new Error('the contract data is stored here');
        await saveBook(
          { platform, tenant },
          {
            at: clock.now(),
            tenantId: org.tenant.id,
            slug: org.tenant.slug,
            email: org.owner.email,
            answers: await answersOf(org.client),
          },
        );
      } finally {
        await server.stop();
      }
    });
  });

/** What the owner sees: the lists, and each contract. */
async function answersOf(client: Client): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  const ask = async (path: string): Promise<unknown> => {
    const { status, body, text } = await client.get(path);
    expect(status, `${path}: ${text}`).to.equal(200);
    return (answers[path] = body);
  };
  const all = (await ask('/contracts?pageSize=100')) as { items: { id: string }[] };
  expect(all.items.length).to.be.greaterThan(10);
  for (const { id } of all.items) await ask(`/contracts/${id}`);
  for (const path of LISTS) await ask(path);
  return answers;
}

for (const kind of ['sqlite', 'postgres'] as const)
  describe(`a server on ${kind} databases that were saved by an earlier version`, function () {
    this.timeout(180_000);
    if (kind === 'postgres') needsPostgres();
    let opened: OpenedBook | undefined;
    let server: TestServer | undefined;
    let book: ReturnType<typeof landedBook>;

    before('enter the rows, migrate, and start', async () => {
      book = landedBook();
      opened = await openBook(kind);
      server = await startServer({
        clock: fakeClock(book.at),
        env: {
          SECRET_KEYS: BOOK_KEYS,
          PLATFORM_DATABASE_URL: opened.platformUrl,
          TENANT_DATABASE_URL: opened.tenantUrl,
        },
      });
    });
    after(async () => {
      await server?.stop();
      await opened?.close();
    });

    it('answers the owner as before, apart from fields that were added since', async () => {
      if (!server) throw new Error('the server runs');
      const { client } = await signIn(server.client, { tenant: { slug: book.slug }, member: { email: book.email } });
      const faults: string[] = [];
      for (const [path, was] of Object.entries(book.answers)) {
        const { body } = await client.get(path);
        faults.push(...missingIn(body, was, path));
      }
      expect(Object.keys(book.answers).length).to.be.greaterThan(20);
      expect(faults.slice(0, 10)).to.deep.equal([]);
    });
  });

/** Set by signing in. */
const MOVING = /\/(lastLoginAt|lastSeenAt|updatedAt|lastActiveAt)$/;

/** Where an answer lacks a value of a former one. */
function missingIn(is: unknown, was: unknown, at: string): string[] {
  if (MOVING.test(at)) return [];
  if (Array.isArray(was))
    return Array.isArray(is) && is.length === was.length
      ? was.flatMap((one, index) => missingIn(is[index], one, `${at}/${index}`))
      : [`${at}: ${JSON.stringify(is)?.slice(0, 200)} instead of ${was.length} items`];
  if (typeof was === 'object' && was !== null)
    return typeof is === 'object' && is !== null
      ? Object.entries(was).flatMap(([name, value]) =>
          missingIn((is as Readonly<Record<string, unknown>>)[name], value, `${at}/${name}`),
        )
      : [`${at}: ${String(is)} instead of an object`];
  return is === was ? [] : [`${at}: ${JSON.stringify(is)} instead of ${JSON.stringify(was)}`];
}
