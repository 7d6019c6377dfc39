import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { memoryOf, workersFor } from '../../server/workers-setting.js';
import { OWNER, register } from '../faults/installation.js';
import { OPERATOR } from '../support/accounts.js';
import { client } from '../support/http.js';
import { createDatabase, needsPostgres } from '../support/postgres.js';
import { withProduct } from '../support/product.js';
import { COMPILE_CACHE, program } from '../support/programs.js';
import { aContract, aLine } from '../support/samples.js';
import { startWorkers, type WorkersService } from '../support/workers-service.js';

const METRICS_TOKEN = 'metrics-of-all-workers';
const PASSWORD = 'a colleague needs no secrets 42';

for (const kind of ['sqlite', 'postgres'] as const)
  describe(`a service of two processes, on ${kind}`, function () {
    this.timeout(180_000);
    if (kind === 'postgres') needsPostgres();
    let dataDir: string;
    let databases: Record<string, string> = {};
    let service: WorkersService;
    let token: string;
    let owner: { readonly subjectId: string; readonly ownerId: string };
    const undo: (() => Promise<void>)[] = [];

    before(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'duebook-workers-'));
      undo.push(() => rm(dataDir, { recursive: true, force: true }));
      if (kind === 'postgres') {
        const [platform, tenant] = [await createDatabase(), await createDatabase()];
        undo.push(platform.drop, tenant.drop);
        databases = { PLATFORM_DATABASE_URL: platform.url, TENANT_DATABASE_URL: tenant.url };
      }
      service = await startWorkers({ DATA_DIR: dataDir, METRICS_TOKEN, ...databases });
      ({ token, owner } = await register(service.origin));
      await service.askEach('/livez');
    });
    after(async () => {
      await service?.stop();
      for (const step of undo.toReversed()) await step();
    });

    it('says once that it listens, and names its processes by their ids', async () => {
      const answers = await service.askEach<{ status: string }>('/readyz');
      expect(answers.map(({ status, body }) => [status, body])).to.deep.equal([
        [200, { status: 'ok' }],
        [200, { status: 'ok' }],
      ]);
      expect(answers.map(({ pid }) => pid)).not.to.include(service.child.pid);
      const said = (begins: string) => service.lines.filter(({ msg }) => msg.startsWith(begins)).map(({ pid }) => pid);
      expect(said('listening on ')).to.deep.equal([service.child.pid]);
      expect(said('not a production installation')).to.deep.equal([service.child.pid]);
      expect(service.stderr().match(/has no organisation yet/g)).to.have.length(1);
    });

    it('shows what one process has written at each of them, in lists, totals and contracts', async () => {
      const made = await service.ask<{ id: string; payments: { id: string }[] }>('/api/v1/contracts', {
        method: 'POST',
        token,
        body: aContract({ ...owner, payments: [aLine({ amount: 1_000 })] }),
      });
      expect(made.status).to.equal(201);
      const [line] = made.body.payments;
      const writers = new Set<number>();
      for (let received = 1; received <= 12; received++) {
        const written = await service.ask(`/api/v1/payments/${line?.id ?? ''}/receipt`, {
          method: 'PATCH',
          token,
          body: { receivedAmount: received },
        });
        expect(written.status).to.equal(200);
        writers.add(written.pid);
        for (const { body } of await service.askEach<{ receivedAmount: number }>(`/api/v1/contracts/${made.body.id}`, {
          token,
        }))
          expect(body.receivedAmount).to.equal(received);
        for (const { body } of await service.askEach<{ items: { receivedAmount: number }[]; total: number }>(
          '/api/v1/contracts',
          { token },
        ))
          expect([body.total, body.items[0]?.receivedAmount]).to.deep.equal([1, received]);
        // So that the next receipt is recorded by the other one.
        if (received % 2 === 0) await service.ask('/livez');
      }
      expect(writers.size).to.equal(2);
    });

    it('applies changes of rights, members and sessions at each process as soon as one has answered', async () => {
      const email = 'colleague@example.com';
      const { member, code } = await withProduct(
        { DATA_DIR: dataDir, PUBLIC_URL: 'http://localhost:8080', ...databases },
        async ({ services }) => {
          const tenant = await services.tenants.bySlug(OWNER.tenantSlug);
          const added = await services.tenants.members.add(
            {
              tenantId: tenant?.id ?? '',
              email,
              name: 'A colleague',
              roleCode: 'viewer',
              subjectScope: null,
              password: PASSWORD,
            },
            OPERATOR,
          );
          return { member: added, code: tenant?.slug };
        },
      );
      expect(code).to.equal(OWNER.tenantSlug);
      const logIn = async (): Promise<string> =>
        (
          await service.ask<{ accessToken: string }>('/api/v1/auth/login', {
            method: 'POST',
            body: { tenantSlug: OWNER.tenantSlug, email, password: PASSWORD },
          })
        ).body.accessToken;
      const theirs = await logIn();
      const statuses = async (path: string) =>
        (await service.askEach(path, { token: theirs })).map(({ status }) => status);
      const change = async (body: object): Promise<void> => {
        const { status } = await service.ask(`/api/v1/tenant-admin/members/${member.id}`, {
          method: 'PATCH',
          token,
          body,
        });
        expect(status).to.equal(200);
      };
      expect(await statuses('/api/v1/auth/me')).to.deep.equal([200, 200]);
      for (let turn = 0; turn < 3; turn++) {
        await change({ roleCode: 'manager' });
        const [one, other] = await service.askEach<{ user: { roleCode: string } }>('/api/v1/auth/me', {
          token: theirs,
        });
        expect([one?.body.user.roleCode, other?.body.user.roleCode]).to.deep.equal(['manager', 'manager']);
        await change({ roleCode: 'viewer', name: `Name ${turn}` });
        expect(await statuses('/api/v1/tenant-admin/members')).to.deep.equal([403, 403]);
        const people = await service.askEach<{ items?: { name: string }[] }>('/api/v1/tenant-admin/members', { token });
        for (const { body } of people) expect(JSON.stringify(body)).to.contain(`Name ${turn}`);
      }
      // A session that its holder ends.
      await service.ask('/api/v1/auth/logout', { method: 'POST', token: theirs });
      expect(await statuses('/api/v1/auth/me')).to.deep.equal([401, 401]);
      // All sessions of a member, ended by another.
      const second = await logIn();
      expect((await service.ask('/api/v1/auth/me', { token: second })).status).to.equal(200);
      await service.ask(`/api/v1/tenant-admin/members/${member.id}/sessions`, { method: 'DELETE', token });
      expect((await service.askEach('/api/v1/auth/me', { token: second })).map(({ status }) => status)).to.deep.equal([
        401, 401,
      ]);
      // And by the command line.
      const third = await logIn();
      expect((await service.askEach('/api/v1/auth/me', { token: third })).map(({ status }) => status)).to.deep.equal([
        200, 200,
      ]);
      await withProduct({ DATA_DIR: dataDir, PUBLIC_URL: 'http://localhost:8080', ...databases }, ({ services }) =>
        services.tenants.members.setStatus(
          { tenantId: member.tenantId, memberId: member.id, status: 'disabled' },
          OPERATOR,
        ),
      );
      expect((await service.askEach('/api/v1/auth/me', { token: third })).map(({ status }) => status)).to.deep.equal([
        401, 401,
      ]);
    });

    it('answers a scrape for all its processes, whichever is asked', async () => {
      const route = '/api/v1/auth/sessions';
      for (let i = 0; i < 7; i++) await service.ask(route, { token });
      const scraped = await service.askEach<string>('/metrics', {
        headers: { Authorization: `Bearer ${METRICS_TOKEN}` },
      });
      for (const { status, body } of scraped) {
        expect(status).to.equal(200);
        expect(body).to.contain('duebook_http_requests_total{method="GET",route="/auth/sessions",status="200"} 7\n');
        expect(body).to.contain('duebook_http_request_duration_seconds_count{method="GET",route="/auth/sessions"} 7\n');
        expect(body).to.contain('duebook_processes 2\n');
        // Read from the database by each process.
        expect(body).to.match(/^duebook_outbox_waiting\{queue="mail"\} 0$/m);
      }
    });

    it('on SIGTERM answers what is under way, at whichever process, and exits 0', async () => {
      const ending = await startWorkers({ DATA_DIR: dataDir, ...databases });
      await ending.askEach('/livez');
      const body = JSON.stringify(aContract({ ...owner, payments: [aLine()] }));
      const begun = await Promise.all([
        begin(ending.port, { token, body }),
        begin(ending.port, { token, body: body.replace('"C-', '"D-').replace('"AR-', '"AS-') }),
      ]);
      const stopped = ending.stop();
      await ending.line(({ msg, pid }) => msg === 'stopping' && pid !== ending.child.pid);
      expect(await Promise.all(begun.map((complete) => complete()))).to.deep.equal([201, 201]);
      expect(await stopped).to.equal(0);
      expect(ending.lines.filter(({ msg }) => msg === 'stopped')).to.have.length(3);
    });
  });

/** Sends a request without the end of its body; the returned function sends that, and returns the status. */
async function begin(port: number, { token, body }: { token: string; body: string }): Promise<() => Promise<number>> {
  const sent = request({
    port,
    host: '127.0.0.1',
    agent: false,
    method: 'POST',
    path: '/api/v1/contracts',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      Expect: '100-continue',
    },
  });
  sent.flushHeaders();
  // The server reads the body.
  await once(sent, 'continue');
  return async () => {
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await text(answer);
    return answer.statusCode ?? 0;
  };
}

describe('a service of several processes', function () {
  this.timeout(180_000);
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'duebook-workers-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  /** Runs until it ends. */
  const fail = async (env: Record<string, string>): Promise<{ code: number; stdout: string; stderr: string }> => {
    const child = spawn(process.execPath, [program('server/main.ts')], {
      cwd: home,
      env: {
        PATH: process.env['PATH'],
        ...COMPILE_CACHE,
        DATA_DIR: join(home, 'data'),
        PORT: '0',
        WORKERS: '3',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (piece: string) => (said[name] += piece));
    const [code] = (await once(child, 'close')) as [number];
    return { code, ...said };
  };

  it('names a fault of its settings once, and exits 78', async () => {
    expect(await fail({ RATE_LIMIT_PER_MINUTE: 'x' })).to.deep.equal({
      code: 78,
      stdout: '',
      stderr:
        'The configuration has a fault:\n  RATE_LIMIT_PER_MINUTE must be an integer from 0 to 10000000, not "x"\n',
    });
  });

  it('names a fault that only the start finds once, and exits 78', async () => {
    const file = `sqlite:${join(home, 'same.db')}`;
    const { code, stderr } = await fail({ PLATFORM_DATABASE_URL: file, TENANT_DATABASE_URL: file });
    expect(code).to.equal(78);
    expect(stderr.match(/The configuration has a fault/g)).to.have.length(1);
  });

  it('says once that its port is in use, and exits 1', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    try {
      const { code, stdout } = await fail({ PORT: String(port), PUBLIC_URL: `http://localhost:${port}` });
      expect(code).to.equal(1);
      expect(
        stdout.match(/"msg":"cannot start: 127\.0\.0\.1:\d+ is in use; set PORT to another port"/g),
      ).to.have.length(1);
    } finally {
      holder.close();
    }
  });

  it('is refused where agents connect', async () => {
    const { code, stderr } = await fail({ EDITION: 'enterprise_hybrid' });
    expect(code).to.equal(78);
    expect(stderr).to.contain('  WORKERS must be 1 with EDITION=enterprise_hybrid: ');
  });

  it('has one process per core in production', async () => {
    const expected = workersFor({ cores: availableParallelism(), memory: memoryOf(process) });
    const service = await startWorkers({
      WORKERS: '',
      NODE_ENV: 'production',
      DATA_DIR: join(home, 'production'),
      SECRET_KEYS: generateKeyRingText(),
      FILE_SCAN_MODE: 'off',
    });
    try {
      const { workers } = await service.line(({ msg }) => msg.startsWith('listening on '));
      expect(workers).to.equal(expected);
      const answers = await service.askEach('/livez', {}, expected);
      expect(new Set(answers.map(({ pid }) => pid)).size).to.equal(expected);
    } finally {
      expect(await service.stop()).to.equal(0);
    }
  });

  it('limits the requests of all processes together', async () => {
    const limited = await startWorkers({ DATA_DIR: join(home, 'limited'), RATE_LIMIT_PER_MINUTE: '10' });
    try {
      await limited.askEach('/livez'); // not counted
      const seen: { status: number; pid: number }[] = [];
      for (let i = 0; i < 14; i++) seen.push(await limited.ask('/api/v1/auth/me'));
      const passed = seen.filter(({ status }) => status === 401);
      expect([passed.length, seen.length - passed.length]).to.deep.equal([10, 4]);
      expect(seen.slice(10).every(({ status }) => status === 429)).to.equal(true);
      expect(new Set(passed.map(({ pid }) => pid)).size).to.equal(2);
    } finally {
      expect(await limited.stop()).to.equal(0);
    }
  });

  it('runs its scheduled work in one process', async () => {
    const jobs = await startWorkers({ DATA_DIR: join(home, 'jobs'), OTEL_TRACES_EXPORTER: 'console' });
    try {
      await jobs.askEach('/livez');
      const pids: number[] = [];
      for (let run = 0; run < 2; run++) {
        const seen = jobs.lines.length;
        const { pid } = await jobs.line((line) => line.span === 'job audit-chain' && jobs.lines.indexOf(line) >= seen);
        pids.push(pid);
      }
      expect(new Set(pids).size).to.equal(1);
      expect(jobs.lines.filter(({ span }) => span === 'job audit-chain').every(({ pid }) => pid === pids[0])).to.equal(
        true,
      );
      // Another process takes over: after a minute, if the lease of a job was not returned.
      process.kill(pids[0] ?? 0, 'SIGKILL');
      const next = await jobs.line(({ span, pid }) => span === 'job audit-chain' && pid !== pids[0]);
      expect(next.pid).not.to.equal(pids[0]);
    } finally {
      expect(await jobs.stop()).to.equal(0);
    }
  });

  it('ends with its supervisor', async () => {
    const orphaned = await startWorkers({ DATA_DIR: join(home, 'orphaned') });
    await orphaned.askEach('/livez');
    orphaned.child.kill('SIGKILL');
    await once(orphaned.child, 'close'); // when no process has its output open any more, so that all have ended
    expect(
      (
        await client(orphaned.origin)
          .get('/health')
          .catch(() => undefined)
      )?.status,
    ).to.equal(undefined);
  });
});
