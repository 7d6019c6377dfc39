import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createDatabase, needsPostgres } from '../support/postgres.js';
import { aContract, aLine } from '../support/samples.js';
import { startWorkers } from '../support/workers-service.js';
import { METRICS_TOKEN, register } from './installation.js';

const WRITERS = 4;
const KILLS = 3;
/** How many writes are acknowledged between two kills. */
const BETWEEN = 40;

for (const kind of ['sqlite', 'postgres'] as const)
  describe(`a service of two processes of which one is killed, on ${kind}`, function () {
    this.timeout(300_000);
    if (kind === 'postgres') needsPostgres();

    it('loses no acknowledged write, is ready all the time, and has two processes again', async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'duebook-workers-'));
      const [platform, tenant] =
        kind === 'postgres' ? [await createDatabase({ durable: true }), await createDatabase({ durable: true })] : [];
      const service = await startWorkers({
        DATA_DIR: dataDir,
        METRICS_TOKEN,
        JWT_ACCESS_TTL: '12h',
        ...(platform && tenant ? { PLATFORM_DATABASE_URL: platform.url, TENANT_DATABASE_URL: tenant.url } : {}),
      });
      try {
        const { token, owner } = await register(service.origin);
        const counted = async (): Promise<number> => {
          const { status, body } = await service.ask<string>('/metrics', {
            headers: { Authorization: `Bearer ${METRICS_TOKEN}` },
          });
          expect(status).to.equal(200);
          const found = /^duebook_http_requests_total\{method="POST",route="\/contracts",status="201"\} (\d+)$/m.exec(
            body,
          );
          return Number(found?.[1] ?? 0);
        };
        const acknowledged: string[] = [];
        const unready: number[] = [];
        let isOver = false;
        const writer = async (): Promise<void> => {
          while (!isOver) {
            const contract = aContract({ ...owner, payments: [aLine()] });
            const status = await sendOnce(service.port, {
              method: 'POST',
              path: '/api/v1/contracts',
              token,
              body: JSON.stringify(contract),
            });
            if (status === 201) acknowledged.push(contract.contractNo);
            else expect(status, 'an answer, or a connection that was cut').to.equal(undefined);
          }
        };
        const prober = async (): Promise<void> => {
          while (!isOver) {
            const status = await sendOnce(service.port, { method: 'GET', path: '/readyz' });
            if (status !== undefined && status !== 200) unready.push(status);
          }
        };
        const work = Promise.all([...Array.from({ length: WRITERS }, writer), prober()]);
        const killed: number[] = [];
        for (let kill = 0; kill < KILLS; kill++) {
          const [first, second] = await service.askEach('/livez');
          const until = acknowledged.length + BETWEEN;
          while (acknowledged.length < until) await service.ask('/livez');
          const before = await counted();
          expect(before).to.be.greaterThan(0);
          const victim = (kill % 2 === 0 ? first : second)?.pid ?? 0;
          process.kill(victim, 'SIGKILL');
          killed.push(victim);
          await service.line(({ msg, worker }) => msg === 'a worker has ended and is replaced' && worker === victim);
          expect(await counted(), 'what the killed process had counted is kept').to.be.at.least(before);
        }
        const left = await service.askEach('/livez');
        expect(left.map(({ pid }) => pid).filter((pid) => killed.includes(pid))).to.deep.equal([]);
        isOver = true;
        await work;
        expect(unready).to.deep.equal([]);
        const present = new Map<string, number>();
        for (let page = 1; ; page++) {
          const { body } = await service.ask<{ items: { contractNo: string }[] }>(
            `/api/v1/contracts?pageSize=100&page=${page}`,
            { token },
          );
          for (const { contractNo } of body.items) present.set(contractNo, (present.get(contractNo) ?? 0) + 1);
          if (body.items.length < 100) break;
        }
        expect(acknowledged.length).to.be.at.least(KILLS * BETWEEN);
        expect(acknowledged.filter((contractNo) => present.get(contractNo) !== 1)).to.deep.equal([]);
      } finally {
        expect(await service.stop()).to.equal(0);
        await platform?.drop();
        await tenant?.drop();
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  });

/** Sends a request over a connection of its own. Undefined if the connection was cut. */
async function sendOnce(
  port: number,
  {
    method,
    path,
    token,
    body,
  }: { readonly method: string; readonly path: string; readonly token?: string; readonly body?: string },
): Promise<number | undefined> {
  const sent = request({
    host: '127.0.0.1',
    port,
    agent: false,
    method,
    path,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
  });
  sent.end(body);
  try {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await text(answer);
    return answer.statusCode;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
      return undefined;
    throw error;
  }
}
