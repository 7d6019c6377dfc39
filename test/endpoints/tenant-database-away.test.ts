import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { PASSWORD } from '../support/accounts.js';
import { administration, type Administration } from '../support/administration.js';
import type { Answer, Client, DomainError } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer as startPostgres, type PostgresServer } from '../support/postgres-server.js';
import { aContract, aLine } from '../support/samples.js';
import { startServer, type TestServer } from '../support/server.js';

const NAME = 'contract_data';
const UNAVAILABLE = { status: 503, retryAfter: '5', code: 'DATA_PLANE_UNAVAILABLE' };

for (const remote of [false, true])
  describe(`an unreachable tenant database${remote ? ' of a remote data plane' : ''}`, function () {
    this.timeout(240_000);
    needsPostgres();
    let postgres: PostgresServer;
    let server: TestServer;
    let org: Administration;
    let contract: ContractDetail;
    let subject: string;
    /** The role of the plane, not a superuser, as superusers may connect when other roles cannot. */
    const role = { name: 'plane', password: randomBytes(12).toString('hex') };

    before('a PostgreSQL of its own, and a server whose other database is a file', async () => {
      postgres = await startPostgres({ durable: false });
      await asAdmin(`CREATE ROLE ${role.name} LOGIN PASSWORD '${role.password}'`);
      await asAdmin(`CREATE DATABASE ${NAME} OWNER ${role.name}`);
      const url = new URL(postgres.adminUrl);
      Object.assign(url, { username: role.name, password: role.password, pathname: `/${NAME}` });
      server = await startServer({ remote, env: { TENANT_DATABASE_URL: url.href } });
      org = await administration(server);
      subject = org.subjectId;
      contract = (await create()).body as ContractDetail;
    });
    after(async () => {
      await server?.stop();
      await postgres?.stop();
    });

    const asAdmin = async (sql: string): Promise<void> => {
      const client = new pg.Client({ connectionString: postgres.adminUrl });
      await client.connect();
      try {
        await client.query(sql);
      } finally {
        await client.end();
      }
    };
    const cutAll = (): Promise<void> =>
      asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${NAME}'`);
    const create = (client: Client = org.asOwner) =>
      client.post<ContractDetail | DomainError>(
        '/contracts',
        aContract({ subjectId: subject, ownerId: org.owner.id, payments: [aLine()] }),
      );
    const list = () => org.asOwner.get<{ readonly total: number }>('/contracts?pageSize=100');
    const reported = ({ status, headers, body }: Answer<unknown>) => ({
      status,
      retryAfter: headers.get('retry-after'),
      code: (body as DomainError).error.code,
    });

    /** The requests of a user in that time. */
    const ASKED: Readonly<Record<string, () => Promise<Answer<unknown>>>> = {
      'a list': () => list(),
      'a contract': () => org.asOwner.get(`/contracts/${contract.id}`),
      'a new contract': () => create(),
      'a change': () => org.asOwner.patch(`/contracts/${contract.id}`, { remark: 'not now' }),
      'a receipt': () => org.asOwner.patch(`/payments/${contract.payments[0]?.id}/receipt`, { receivedAmount: 1 }),
      figures: () => org.asOwner.get('/analytics/summary'),
      'an upload': () =>
        org.asOwner.post('/files/presign', {
          fileName: 'a.pdf',
          contentType: 'application/pdf',
          kind: 'contract_original',
          sizeBytes: 10,
        }),
      'an import': () => org.asOwner.post('/contracts/import/preview', { csv: 'contractNo\nA-1' }),
      'an export': () => org.asOwner.get('/contracts/export?profile=summary'),
      'the audit of contract data': () => org.asOwner.get('/audit?source=data'),
    };
    const until = async (condition: () => Promise<boolean>): Promise<void> => {
      while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const health = () => server.client.get<{ readonly status: string; readonly tenantDb: string }>('/health');

    /** During the outage, and after it. */
    const expectUnavailable = async (): Promise<void> => {
      for (const [what, ask] of Object.entries(ASKED)) expect(reported(await ask()), what).to.deep.equal(UNAVAILABLE);
    };
    const expectAvailable = async (): Promise<void> => {
      expect((await org.asOwner.get<ContractDetail>(`/contracts/${contract.id}`)).body).to.deep.equal(contract);
      expect((await create()).status).to.equal(201);
    };
    const expectOutage = async (): Promise<void> => {
      await expectUnavailable();
      await until(async () => (await health()).body.tenantDb === 'down');
      expect(await health()).to.deep.include({ status: 200 });
      expect((await health()).body).to.include({ status: 'degraded', platformDb: 'up', tenantDb: 'down' });
      expect((await fetch(`${server.url}/readyz`)).status).to.equal(200);
      expect((await org.asOwner.get('/auth/me')).status).to.equal(200);
      const session = await server.client.post<{ refreshToken: string }>('/auth/login', {
        tenantSlug: org.tenant.slug,
        email: org.owner.email,
        password: PASSWORD,
      });
      expect(session.status).to.equal(200);
      expect((await server.client.post('/auth/refresh', { refreshToken: session.body.refreshToken })).status).to.equal(
        200,
      );
    };
    const expectRecovered = async (): Promise<void> => {
      await expectAvailable();
      await until(async () => (await health()).body.status === 'ok');
    };

    it('because it was stopped: contract data is 503, sessions continue, and everything works after a start', async () => {
      await postgres.restart(expectOutage);
      await expectRecovered();
    });

    // Causes that make no difference to a remote plane are not tested with it.
    if (!remote)
      for (const [why, refuse, allow] of [
        [
          'takes no connections',
          `ALTER DATABASE ${NAME} ALLOW_CONNECTIONS false`,
          `ALTER DATABASE ${NAME} ALLOW_CONNECTIONS true`,
        ],
        [
          'has reached its connection limit',
          `ALTER ROLE ${role.name} CONNECTION LIMIT 0`,
          `ALTER ROLE ${role.name} CONNECTION LIMIT -1`,
        ],
        ['denies its role the connection', `ALTER ROLE ${role.name} NOLOGIN`, `ALTER ROLE ${role.name} LOGIN`],
        ['is renamed for a while', `ALTER DATABASE ${NAME} RENAME TO moved`, `ALTER DATABASE moved RENAME TO ${NAME}`],
      ] as const) {
        it(`because it ${why}: contract data is 503 until that ends`, async () => {
          // A database with connections cannot be renamed, and may get new ones at any time.
          await until(async () => {
            await cutAll();
            return asAdmin(refuse).then(
              () => true,
              () => false,
            );
          });
          await cutAll();
          try {
            await expectUnavailable();
          } finally {
            await asAdmin(allow);
          }
          await expectAvailable();
        });
      }
    it('because all connections are cut for a moment: requests get 503, or 504 for an unknown outcome, and the code is correct', async () => {
      const answers: Answer<unknown>[] = [];
      let hasEnded = false;
      const writer = async (): Promise<void> => {
        while (!hasEnded) answers.push(await create());
      };
      const reader = async (): Promise<void> => {
        while (!hasEnded) answers.push(await list());
      };
      const before = (await list()).body.total;
      const callers = [writer(), writer(), writer(), writer(), reader(), reader()];
      for (let cuts = 0; cuts < 12;) {
        const answersBefore = answers.length;
        await until(() => Promise.resolve(answers.length > answersBefore + 3));
        await cutAll();
        cuts += 1;
      }
      hasEnded = true;
      await Promise.all(callers);
      const withStatus = (status: number) => answers.filter((answer) => answer.status === status);
      const [made, unavailable, unknown] = [withStatus(201), withStatus(503), withStatus(504)];
      expect(
        answers
          .filter(({ status }) => ![200, 201, 503, 504].includes(status))
          .map(({ status, text }) => [status, text]),
      ).to.deep.equal([]);
      expect(unavailable).to.not.be.empty;
      for (const answer of unavailable) expect(reported(answer)).to.deep.equal(UNAVAILABLE);
      for (const answer of unknown)
        expect((answer.body as DomainError).error.code).to.equal('DATA_PLANE_OUTCOME_UNKNOWN');
      await expectRecovered();
      const entered = (await list()).body.total - before - 1; // one is added by the check for recovery
      expect(entered).to.be.within(made.length, made.length + unknown.length);
      expect(server.logged.filter(({ msg }) => msg === 'unexpected error')).to.deep.equal([]);
    });
  });
