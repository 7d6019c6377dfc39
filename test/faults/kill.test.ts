import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client } from '../support/http.js';
import { createDatabase, needsPostgres } from '../support/postgres.js';
import { startProcess, type Running } from '../support/process.js';
import { root } from '../support/source.js';
import { contractNo, Ledger, type Owner } from './ledger.js';
import { storedInPostgres, storedInSqlite, type StoredContract } from './stored.js';

const CREATES = 1_000;
const IN_FLIGHT = 16;

/** `killAt`: when so many creates have been acknowledged the server is killed, with the next ones anywhere in their transactions. */
const INSTALLATIONS = [
  { kind: 'sqlite', killAt: [40, 350, 800] },
  { kind: 'postgres', killAt: [90, 600] },
] as const;

interface Installation {
  start(): Promise<Running>;
  /** What the tenant database holds, read past the server. */
  stored(): Promise<readonly StoredContract[]>;
  remove(): Promise<void>;
}

describe('a server that is killed in the middle of creates', () => {
  for (const { kind, killAt } of INSTALLATIONS) {
    describe(`on ${kind}`, function () {
      if (kind === 'postgres') needsPostgres();
      this.timeout(120_000); // of which a quiet machine needs a tenth

      let installation: Installation | undefined;
      let server: Running | undefined;
      let ledger = new Ledger(0, { subjectId: '', ownerId: '' });
      /** At each kill, what had been acknowledged, and what was then found in the database. */
      const deaths: { readonly acknowledged: readonly string[]; readonly found: readonly StoredContract[] }[] = [];
      let atTheEnd: readonly StoredContract[] = [];

      before('kill the server again and again, and send what it did not answer again', async () => {
        installation = await install(kind);
        let running = (server = await installation.start());
        const { token, owner } = await register(running.origin);
        ledger = new Ledger(CREATES, owner);
        for (const until of killAt) {
          const victim = running;
          await ledger.enter(client(victim.origin, token), { inFlight: IN_FLIGHT, until, whenReached: () => victim.kill() });
          deaths.push({ acknowledged: [...ledger.acknowledged.values()], found: await installation.stored() });
          running = server = await installation.start();
        }
        await ledger.enter(client(running.origin, token), { inFlight: IN_FLIGHT, until: CREATES, whenReached: () => Promise.resolve() });
        await running.kill();
        atTheEnd = await installation.stored();
      });

      after('remove the installation', async () => {
        await server?.kill();
        await installation?.remove();
      });

      it('has lost no contract that it acknowledged', () => {
        expect(deaths).to.have.length(killAt.length);
        for (const { acknowledged, found } of deaths) {
          const ids = new Set(found.map(({ id }) => id));
          expect(acknowledged.filter((id) => !ids.has(id))).to.deep.equal([]);
        }
      });

      it('has left no contract without its lines, terms, notes, sums, receipt, search text and audit row', () => {
        for (const { found } of [...deaths, { found: atTheEnd }]) expect(found.filter(({ isWhole }) => !isWhole)).to.deep.equal([]);
      });

      it('died with creates in flight', () => {
        expect(ledger.unanswered).to.be.at.least(killAt.length);
      });

      it('has made one contract, and no more, of each create that was sent again under its key', () => {
        const numbers = Array.from({ length: CREATES }, (_, i) => contractNo(i));
        expect(atTheEnd.map((stored) => stored.contractNo).toSorted()).to.deep.equal(numbers);
        expect(new Map(atTheEnd.map((stored) => [stored.contractNo, stored.id])), 'the ids that the client was told').to.deep.equal(ledger.acknowledged);
      });
    });
  }
});

/** From source: a test needs no build. One public address, on whichever port the next server listens: it is the issuer of tokens. */
const start = (env: Readonly<Record<string, string>>): Promise<Running> =>
  startProcess(['--import=tsx', join(root, 'server/main.ts')], { path: '/api/v1/health', env: { LOG_LEVEL: 'error', PUBLIC_URL: 'http://localhost:8080', ...env } });

async function install(kind: 'sqlite' | 'postgres'): Promise<Installation> {
  const dataDir = await mkdtemp(join(tmpdir(), 'duebook-kill-'));
  const removeFolder = () => rm(dataDir, { recursive: true, force: true });
  if (kind === 'sqlite') return { start: () => start({ DATA_DIR: dataDir }), stored: () => storedInSqlite(join(dataDir, 'tenant.db')), remove: removeFolder };
  const [platform, tenant] = [await createDatabase({ durable: true }), await createDatabase({ durable: true })];
  return {
    start: () => start({ DATA_DIR: dataDir, PLATFORM_DATABASE_URL: platform.url, TENANT_DATABASE_URL: tenant.url }),
    stored: () => storedInPostgres(tenant.adminUrl),
    remove: async () => {
      await Promise.all([platform.drop(), tenant.drop()]);
      await removeFolder();
    },
  };
}

interface Me {
  readonly user: { readonly id: string };
  readonly subjects: readonly { readonly id: string }[];
}

/** The token outlives the server that gave it: its keys are in the platform database. */
async function register(origin: string): Promise<{ readonly token: string; readonly owner: Owner }> {
  const account = { tenantSlug: 'ledger', tenantName: 'Ledger', adminName: 'Ledger Owner', email: 'owner@example.com', password: 'a ledger needs no secrets 42' };
  const { status, text, body } = await client(origin).post<{ accessToken: string }>('/auth/register', account);
  if (status !== 201) throw new Error(`cannot register: ${status} ${text}`);
  const { user, subjects } = (await client(origin, body.accessToken).get<Me>('/auth/me')).body;
  return { token: body.accessToken, owner: { subjectId: subjects[0]?.id ?? '', ownerId: user.id } };
}
