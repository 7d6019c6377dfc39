import { expect } from 'chai';
import Connection from 'better-sqlite3';
import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { client, type Answer, type Client, type DomainError } from '../support/http.js';
import type { Running } from '../support/process.js';
import { aContract } from '../support/samples.js';
import { skip } from '../support/skip.js';
import { root } from '../support/source.js';
import { install, register, type Installation } from './installation.js';
import type { Owner } from './ledger.js';

const run = promisify(execFile);
const UNAVAILABLE = { status: 503, retryAfter: '5', code: 'DATA_PLANE_UNAVAILABLE' };

/** The behaviour of the disk, as passed to `failing-disk.c`. */
const DISK = { failing: 'E', 'failing to write': 'W', 'failing to sync': 'S', full: 'F' } as const;

// Removing the file's permissions would not simulate a failure: a server that has it open keeps access, and root can
// always read it.
describe('the file of the tenant database, on SQLite', function () {
  this.timeout(180_000);
  let folder = '';
  let installation: Installation;
  let server: Running;
  let api: Client;
  let owner: Owner;

  before('start a server with a simulated disk', async function () {
    if (process.platform !== 'linux')
      skip(this, 'a disk is made to fail by a library that is loaded before the C library, which needs Linux');
    folder = await mkdtemp(join(tmpdir(), 'duebook-disk-'));
    const library = join(folder, 'failing-disk.so');
    const compiled = await run('cc', [
      '-shared',
      '-fPIC',
      '-o',
      library,
      join(root, 'test/faults/failing-disk.c'),
      '-ldl',
    ]).catch((error: unknown) => error);
    if (compiled instanceof Error) skip(this, `no C compiler: ${compiled.message}`);
    installation = await install('sqlite', {
      env: { LD_PRELOAD: library, DISK_FAULTS: join(folder, 'faults'), LOG_LEVEL: 'fatal' },
    });
    server = await installation.start();
    const registered = await register(server.origin);
    ({ owner } = registered);
    api = client(server.origin, registered.token);
  });
  after(async () => {
    await server?.kill();
    await installation?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const file = (): string => join(installation.dataDir, 'tenant.db');
  const create = () => api.post<DomainError>('/contracts', aContract(owner));
  const list = () => api.get<{ readonly total: number }>('/contracts');
  const reported = ({ status, headers, body }: Answer<unknown>) => ({
    status,
    retryAfter: headers.get('retry-after'),
    code: (body as DomainError).error.code,
  });
  const health = async () => {
    const { status, body } = await api.get<{ status: string; platformDb: string; tenantDb: string }>('/health');
    expect(status).to.equal(200);
    return [body.status, body.platformDb, body.tenantDb];
  };
  const untilHealth = async (...expected: readonly string[]): Promise<void> => {
    while ((await health()).join() !== expected.join()) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const expectSessions = async (): Promise<void> => {
    expect((await api.get('/auth/me')).status).to.equal(200);
    expect(
      (
        await api.post('/auth/login', {
          tenantSlug: 'ledger',
          email: 'owner@example.com',
          password: 'a book needs no secrets 42',
        })
      ).status,
    ).to.equal(200);
  };

  /** Checks the requests during the failure and after it: none of them has taken effect. */
  async function whileDiskIs(disk: keyof typeof DISK, expectThen: () => Promise<void>): Promise<void> {
    expect((await create()).status).to.equal(201); // and invalidates the cache of the read connections
    const { total } = (await list()).body;
    expect((await create()).status).to.equal(201);
    await writeFile(join(folder, 'faults'), DISK[disk]);
    try {
      await expectThen();
      await expectSessions();
    } finally {
      await rm(join(folder, 'faults'));
    }
    expect((await list()).body.total, 'nothing was done').to.equal(total + 1);
    expect((await create()).status).to.equal(201);
    expect((await list()).body.total).to.equal(total + 2);
  }

  it('cannot be read or written: contract data is 503, health is degraded, sessions continue, and it recovers without a restart', async () => {
    await whileDiskIs('failing', async () => {
      // Enough requests to use every read connection, with and without prepared statements.
      for (const answer of await Promise.all(Array.from({ length: 8 }, list)))
        expect(reported(answer)).to.deep.equal(UNAVAILABLE);
      expect(reported(await create())).to.deep.equal(UNAVAILABLE);
      await untilHealth('degraded', 'up', 'down');
    });
    await untilHealth('ok', 'up', 'up');
  });

  for (const disk of ['failing to write', 'full'] as const) {
    it(`has a disk that is ${disk}: writes are 503, including those in the same commit, reads continue, and it recovers without a restart`, async () => {
      await whileDiskIs(disk, async () => {
        for (const answer of await Promise.all(Array.from({ length: 20 }, create)))
          expect(reported(answer)).to.deep.equal(UNAVAILABLE);
        expect((await list()).status).to.equal(200);
        expect(await health()).to.deep.equal(['ok', 'up', 'up']);
      });
    });
  }

  it('has a disk that fails to sync: the caller gets an unknown outcome', async () => {
    await whileDiskIs('failing to sync', async () => {
      const answer = await create();
      expect([answer.status, answer.body.error.code]).to.deep.equal([504, 'DATA_PLANE_OUTCOME_UNKNOWN']);
    });
  });

  it('is deleted while the server has it open: contract data is 503, because writes would be lost, and it recovers when the file is restored', async () => {
    await rename(file(), `${file()}-elsewhere`);
    try {
      expect(reported(await create())).to.deep.equal(UNAVAILABLE);
      expect(reported(await list())).to.deep.equal(UNAVAILABLE);
      await untilHealth('degraded', 'up', 'down');
      await expectSessions();
    } finally {
      await rename(`${file()}-elsewhere`, file());
    }
    expect((await create()).status).to.equal(201);
    await untilHealth('ok', 'up', 'up');
  });

  it('is locked by another program for long: writes wait, and are 503 after ten seconds', async () => {
    const other = new Connection(file());
    other.exec('BEGIN IMMEDIATE');
    try {
      const waiting = create();
      expect((await list()).status).to.equal(200);
      expect(await health()).to.deep.equal(['ok', 'up', 'up']);
      await expectSessions();
      expect(reported(await waiting)).to.deep.equal(UNAVAILABLE);
    } finally {
      other.exec('ROLLBACK');
      other.close();
    }
    expect((await create()).status).to.equal(201);
  });
});
