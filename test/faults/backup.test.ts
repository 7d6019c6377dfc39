import { expect } from 'chai';
import Connection from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { installations, type Installation, type Outcome } from '../support/cli.js';
import { client, type Client } from '../support/http.js';
import { startPostgresWithTools, type PostgresWithTools } from '../support/postgres-with-tools.js';
import { startProcess, type Running } from '../support/process.js';
import { COMPILE_CACHE, program } from '../support/programs.js';
import { serverUntilEnd } from '../support/server-process.js';
import { skip } from '../support/skip.js';
import { uploadsOf } from '../support/uploads.js';
import { OWNER, register } from './installation.js';
import { contractNo, Ledger } from './ledger.js';

const PASSPHRASE = 'a lost disk is no lost book';
const CREATES = 200;
const BEGIN_AT = 60;
const IN_FLIGHT = 8;
/** Small files in the store, so that a restore takes long enough to be killed. */
const FILES = 400;

type Env = Readonly<Record<string, string>>;

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`a backup of a server under load, on ${kind}`, function () {
    this.timeout(240_000); // an idle machine needs a tenth of it
    // Before the folder of the running server is removed.
    after(async () => {
      await server?.kill();
      await postgres?.stop();
    });
    const install = installations(after);
    let installation: Installation;
    let postgres: PostgresWithTools | undefined;
    let server: Running | undefined;
    let api: Client;
    /** The contracts that were acknowledged before the first backup began, by number. */
    let before1: ReadonlyMap<string, string>;
    let ledger: Ledger;
    let bytes: Buffer;
    let fileId = '';
    let first: Outcome;
    let source: Env;

    const path = (name: string): string => join(installation.folder, name);

    /** The settings of an installation in a new folder and new databases. */
    const place = async (name: string): Promise<Env> => {
      const env = { DATA_DIR: path(name), BACKUP_PASSPHRASE: PASSPHRASE };
      if (!postgres) return env;
      const [platform, tenant] = [await postgres.database(), await postgres.database()];
      return {
        ...env,
        PLATFORM_DATABASE_URL: platform.url,
        TENANT_DATABASE_URL: tenant.url,
        BACKUP_TENANT_DATABASE_URL: tenant.backupUrl,
        PG_DUMP: postgres.pgDump,
      };
    };

    const start = (env: Env): Promise<Running> =>
      startProcess([program('server/main.ts')], {
        path: '/api/v1/health',
        env: {
          ...COMPILE_CACHE,
          LOG_LEVEL: 'error',
          JWT_ACCESS_TTL: '24h',
          PUBLIC_URL: 'http://localhost:8080',
          ...env,
        },
      });

    const cli = async (env: Env, ...args: string[]): Promise<Outcome> => installation.cli(args, { env });
    const done = async (env: Env, ...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await cli(env, ...args);
      expect(code, `${args.join(' ')}: ${stderr}${stdout}`).to.equal(0);
      return stdout;
    };

    /** What the API answers, in one hash: every field of every contract. */
    const exported = async (env: Env): Promise<string> => {
      const all = ['export', '--tenant', OWNER.tenantSlug, '--profile', 'full', '--sort', 'contractNo'];
      const csv = await done(env, ...all);
      expect(csv.split('\n').length).to.be.greaterThan(BEGIN_AT);
      return createHash('sha256').update(csv).digest('hex');
    };

    before('start a server, and back it up while contracts are entered', async function () {
      if (kind === 'postgres') {
        const started = await startPostgresWithTools();
        if (typeof started === 'string') return skip(this, started);
        postgres = started;
      }
      installation = await install();
      source = await place('source');
      server = await start(source);
      const { token, owner } = await register(server.origin);
      api = client(server.origin, token);
      bytes = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(300_000, 'duebook '), Buffer.from('\n%%EOF\n')]);
      ({ id: fileId } = await uploadsOf(api).upload({ bytes, subjectId: owner.subjectId }));
      for (let i = 0; i < FILES; i += 1) {
        const file = join(source['DATA_DIR'] ?? '', 'files', 'uploads', 'filler', `f${i}`);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, `${i}`.repeat(50));
      }
      ledger = new Ledger(CREATES, owner);
      await ledger.enter(api, {
        inFlight: IN_FLIGHT,
        until: BEGIN_AT,
        whenReached: async () => {
          before1 = new Map(ledger.acknowledged);
          first = await cli(source, 'backup', path('under-load.tar'), '--json');
        },
      });
    });

    it('completes, and is whole', async () => {
      expect(first.code, first.stderr).to.equal(0);
      expect((await cli(source, 'backup', 'verify', path('under-load.tar'))).code).to.equal(0);
    });

    it('contains every contract that was acknowledged before it began, whole, and no half one', async () => {
      const env = await place('under-load');
      await done(env, 'restore', path('under-load.tar'));
      await done(env, 'audit', 'verify');
      const running = await start(env);
      try {
        const restored = client(running.origin, await login(running.origin));
        for (const [number, id] of before1) {
          const { status, body } = await restored.get<{ contractNo: string; payments: object[]; terms: object[] }>(
            `/contracts/${id}`,
          );
          expect([status, body.contractNo], number).to.deep.equal([200, number]);
          expect([body.payments.length, body.terms.length], number).to.deep.equal([3, 2]);
        }
        expect(before1.size).to.be.at.least(BEGIN_AT);
        expect(ledger.acknowledged.size, 'writes went on').to.equal(CREATES);
      } finally {
        await running.stop();
      }
    });

    it('refuses a restore over the running server', async () => {
      const refused = await cli(source, 'restore', path('under-load.tar'), '--force', '--yes', '--json');
      expect(refused.code).to.equal(1);
      expect(refused.stderr).to.contain('DATABASE_IN_USE');
      expect((await api.get('/contracts')).status).to.equal(200);
    });

    describe('after a backup at rest, and the loss of everything', () => {
      let hash = '';
      let target: Env;

      before('back up, stop, and wipe', async () => {
        await done(source, 'backup', path('full.tar'));
        hash = await exported(source);
        await server?.stop();
        await rm(source['DATA_DIR'] ?? '', { recursive: true });
        target = await place('target');
      });

      /** Whether a restore has begun to change the target. */
      const isMarked = async (): Promise<boolean> => {
        const url = target['PLATFORM_DATABASE_URL'];
        if (url === undefined) {
          const file = join(target['DATA_DIR'] ?? '', 'platform.db');
          if (!existsSync(file)) return false;
          const database = new Connection(file, { readonly: true, timeout: 1_000 });
          try {
            return (
              database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'restore_in_progress'").get() !== undefined
            );
          } finally {
            database.close();
          }
        }
        // Under the name of the restore's own connections: it refuses to run beside any other.
        const database = new pg.Client({ connectionString: url, application_name: 'duebook backup' });
        await database.connect();
        try {
          return (await database.query("SELECT to_regclass('restore_in_progress') AS t")).rows[0]?.t !== null;
        } finally {
          await database.end();
        }
      };

      it('a restore that is killed leaves an installation that nothing serves', async () => {
        const restoring = installation.start(['restore', path('full.tar')], { env: target });
        let hasEnded = false;
        void restoring.ended.then(() => (hasEnded = true));
        while (!hasEnded && !(await isMarked())) await sleep(2);
        restoring.kill('SIGKILL');
        expect((await restoring.ended).code, 'was killed').to.equal(null);
        const refused = await serverUntilEnd(
          { folder: installation.folder, dataDir: target['DATA_DIR'] ?? '' },
          target,
        );
        expect(refused.code).to.equal(1);
        expect(refused.stdout).to.contain('a restore of a backup into this database was interrupted');
        expect((await cli(target, 'migrate')).code).to.equal(1);
        expect((await cli(target, 'tenants', 'list')).code).to.equal(1);
      });

      it('run again, it completes: the API answers the same, the audit is whole, files have their bytes', async () => {
        await done(target, 'restore', path('full.tar'));
        expect(await exported(target)).to.equal(hash);
        await done(target, 'audit', 'verify');
        server = await start(target);
        const restored = client(server.origin, await login(server.origin));
        const { body, status, text } = await restored.get<{ url: string }>(`/files/${fileId}/download`);
        expect(status, text).to.equal(200);
        const { pathname, search } = new URL(body.url);
        const answer = await fetch(`${server.origin}${pathname}${search}`);
        expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).to.equal(true);
        const listed = await restored.get<{ total: number }>('/contracts');
        expect(listed.body.total).to.equal(CREATES);
        expect(ledger.acknowledged.has(contractNo(CREATES - 1))).to.equal(true);
      });

      if (kind === 'postgres') {
        it('says which role a backup needs, because row-level security hides rows', async () => {
          const { BACKUP_TENANT_DATABASE_URL: _, ...blind } = target;
          const refused = await cli(blind, 'backup', path('blind.tar'), '--json');
          expect(refused.code).to.equal(1);
          expect(refused.stderr).to.contain('BACKUP_ROLE').and.to.contain('CREATE ROLE duebook_backup LOGIN BYPASSRLS');
          expect(existsSync(path('blind.tar')) || existsSync(path('blind.tar.partial'))).to.equal(false);
        });

        it('says what to install when pg_dump is missing or too old', async () => {
          const missing = await cli({ ...target, PG_DUMP: '', PATH: '/nowhere' }, 'backup', path('none.tar'), '--json');
          expect(missing.stderr).to.contain('PG_TOOLS_MISSING').and.to.contain('apt-get install postgresql-client-');
          const old = path('pg_dump');
          writeFileSync(old, '#!/bin/sh\necho "pg_dump (PostgreSQL) 9.6.24"\n', { mode: 0o755 });
          writeFileSync(path('pg_restore'), readFileSync(old), { mode: 0o755 });
          const tooOld = await cli({ ...target, PG_DUMP: old }, 'backup', path('none.tar'), '--json');
          expect(tooOld.stderr).to.contain('PG_TOOLS_TOO_OLD');
          expect(existsSync(path('none.tar.partial'))).to.equal(false);
        });
      }
    });
  });
}

async function login(origin: string): Promise<string> {
  const { tenantSlug, email, password } = OWNER;
  const { status, body, text } = await client(origin).post<{ accessToken: string }>('/auth/login', {
    tenantSlug,
    email,
    password,
  });
  expect(status, text).to.equal(200);
  return body.accessToken;
}
