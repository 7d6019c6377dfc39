import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExtractionRun } from '../../data-plane-agent/plane/contract/records/extraction.js';
import type { FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { makeTenant, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import { breakableConnectionTo, type BreakableConnection } from '../support/breakable-connection.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { ONE_CONTRACT_TEXT, TYPES } from '../support/documents/one-contract.js';
import { settled } from '../support/file-server.js';
import { client as clientOf, type Client } from '../support/http.js';
import { sharedMinio } from '../support/minio.js';
import { needsPostgres } from '../support/postgres.js';
import { startProcess } from '../support/process.js';
import { program } from '../support/programs.js';
import { beginReading } from '../support/reading.js';
import { startServer, type ServerOptions, type TestServer } from '../support/server.js';
import { skip } from '../support/skip.js';
import { uploadsOf } from '../support/uploads.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

describe('interrupted extraction runs', function () {
  this.timeout(180_000); // the test starts server processes from source

  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  });
  const aFolder = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'duebook-lost-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    return folder;
  };
  const started = async (
    env: Readonly<Record<string, string>>,
    clock: FakeClock,
    place: Pick<ServerOptions, 'database' | 'remote'> = {},
  ): Promise<TestServer> => {
    const server = await startServer({ env, clock, ...place });
    undo.push(server.stop);
    await settled(server);
    return server;
  };
  const aFile = (client: Client): Promise<FileRecord> =>
    uploadsOf(client).upload({
      fileName: 'contract.txt',
      contentType: TYPES.text,
      bytes: Buffer.from(ONE_CONTRACT_TEXT),
    });
  const asOwner = async (
    server: TestServer,
    { tenant, owner }: Pick<MadeTenant, 'tenant' | 'owner'>,
  ): Promise<Client> => (await signIn(server.client, { tenant, member: owner })).client;
  const runOf = async (client: Client, { id }: Pick<ExtractionRun, 'id'>): Promise<ExtractionRun> =>
    (await client.get<ExtractionRun>(`/contracts/extractions/${id}`)).body;
  /** One run of the job, with all its remaining work. */
  const round = async (server: TestServer): Promise<void> => {
    await server.schedules.run('documents');
    await settled(server);
  };

  for (const kind of ['sqlite', 'postgres', 'remote'] as const)
    describe(`while the object store is unreachable, on ${kind}`, () => {
      if (kind === 'postgres') needsPostgres();
      let connection: BreakableConnection;
      let server: TestServer;
      let made: MadeTenant;
      const clock = fakeClock(Date.now());
      beforeEach(async function () {
        const minio = await sharedMinio().catch((error: unknown) =>
          skip(this, error instanceof Error ? error.message : String(error)),
        );
        connection = await breakableConnectionTo(Number(new URL(minio.origin).port));
        undo.push(connection.stop);
        clock.set(Date.now()); // MinIO's clock is the real one
        server = await started(
          {
            OBJECT_STORE_URL: minio
              .url(`duebook-lost-${process.pid}-${kind}`)
              .replace(`:${new URL(minio.origin).port}/`, `:${connection.port}/`),
          },
          clock,
          kind === 'remote' ? { remote: true } : { database: kind },
        );
        made = await makeTenant(server.services);
      });
      const begun = async (): Promise<ExtractionRun> => {
        const client = await asOwner(server, made);
        const file = await aFile(client);
        connection.pull();
        const run = await beginReading(client, file);
        await settled(server);
        return run;
      };

      it('a run waits, and is processed when the store is available again', async () => {
        const run = await begun();
        const client = await asOwner(server, made);
        for (let tries = 0; tries < 5; tries++) {
          clock.advance(MINUTE_MS);
          await round(server);
          expect((await runOf(client, run)).status).to.equal('processing');
        }
        connection.putIn();
        await round(server);
        expect((await runOf(client, run)).status, 'the store is not polled continuously').to.equal('processing');
        clock.advance(3 * MINUTE_MS);
        await round(server);
        expect((await runOf(client, run)).status).to.equal('needs_review');
      });

      it('a run fails after a day, with the reason', async () => {
        const run = await begun();
        clock.advance(DAY_MS);
        await round(server);
        const read = await runOf(await asOwner(server, made), run);
        expect([read.status, read.warnings.map(({ code }) => code)]).to.deep.equal([
          'failed',
          ['OBJECT_STORE_UNAVAILABLE'],
        ]);
      });
    });

  describe('after the end of the process', () => {
    const readBy = async (
      server: TestServer,
      made: Pick<MadeTenant, 'tenant' | 'owner'>,
      run: ExtractionRun,
    ): Promise<ExtractionRun> => {
      await round(server);
      return runOf(await asOwner(server, made), run);
    };

    it('killed while reading: another process resumes the run when the lease expires', async () => {
      const DATA_DIR = await aFolder();
      const child = await startProcess([program('server/main.ts')], {
        path: '/readyz',
        env: { DATA_DIR, LOG_LEVEL: 'warn' },
      });
      undo.push(child.kill);
      const registered = await clientOf(child.origin).post<{ accessToken: string }>('/auth/register', {
        tenantName: 'Lost',
        tenantSlug: 'lost',
        adminName: 'Lin',
        email: 'lin@lost.test',
        password: PASSWORD,
        subjectName: 'Lost Ltd',
      });
      expect(registered.status, registered.text).to.equal(201);
      const client = clientOf(child.origin, registered.body.accessToken);
      const run = await beginReading(client, await aFile(client));
      await child.kill();

      const clock = fakeClock(Date.now());
      const server = await started({ DATA_DIR }, clock);
      const made = { tenant: { slug: 'lost' }, owner: { email: 'lin@lost.test' } } as MadeTenant; // what a sign-in needs from the clock
      expect((await readBy(server, made, run)).status, 'the other process may be slow instead of dead').to.equal(
        'processing',
      );
      clock.advance(15 * MINUTE_MS);
      expect((await readBy(server, made, run)).status).to.equal('needs_review');
    });

    it('a document that repeatedly ends its process is abandoned', async () => {
      const clock = fakeClock(Date.now());
      const server = await started({}, clock);
      const made = await makeTenant(server.services);
      const client = await asOwner(server, made);
      const run = await beginReading(client, await aFile(client));
      await settled(server);
      // The state after the third process that died while reading it.
      await server.foundation.tenant?.write({ tenantId: made.tenant.id }, (tx) =>
        tx.run(
          "UPDATE extraction_runs SET status = 'processing', reading_tries = 3, reading_due_at = ? WHERE tenant_id = ? AND id = ?",
          [clock.now(), made.tenant.id, run.id],
        ),
      );
      clock.advance(15 * MINUTE_MS); // the lease of that process expires
      const read = await readBy(server, made, run);
      expect([read.status, read.warnings.map(({ code }) => code)]).to.deep.equal(['failed', ['DOCUMENT_UNREADABLE']]);
    });

    it('a graceful shutdown waits for no document, and the next process reads the remaining ones', async () => {
      const DATA_DIR = await aFolder();
      const clock = fakeClock(Date.now());
      const first = await startServer({ env: { DATA_DIR }, clock });
      const made = await makeTenant(first.services);
      const client = await asOwner(first, made);
      const file = await aFile(client);
      const runs = await Promise.all(Array.from({ length: 20 }, () => beginReading(client, file)));
      await first.stop();
      expect(first.logged.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);

      const second = await started({ DATA_DIR }, clock);
      const before = await Promise.all(runs.map(async (run) => (await runOf(await asOwner(second, made), run)).status));
      expect(before).to.include('processing');
      clock.advance(MINUTE_MS);
      await round(second);
      const later = await asOwner(second, made);
      expect(new Set(await Promise.all(runs.map(async (run) => (await runOf(later, run)).status)))).to.deep.equal(
        new Set(['needs_review']),
      );
    });
  });
});
