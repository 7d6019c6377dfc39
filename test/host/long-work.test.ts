import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { isLongWorkUnderWay } from '../../data-plane-agent/base/long-work.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { createLongWork, type LongWork, type LongWorkParts } from '../../data-plane-agent/host/long-work/long-work.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind, type DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { fakeClock } from '../support/clock.js';
import { failureOf } from '../support/failures.js';
import { HARBOUR, MING, ofRows } from '../support/import-samples.js';
import { until } from '../support/joined-agent.js';
import { aCall, openTenantDatabase } from '../support/plane.js';
import { needsPostgres } from '../support/postgres.js';
import { aContract } from '../support/samples.js';

const ROWS = 501; // one more than are imported in the same thread
const rowsOf = (count: number) =>
  ofRows(Array.from({ length: count }, () => aContract({ subjectId: HARBOUR.id, ownerId: MING.id })));

describe('long imports', function () {
  this.timeout(180_000); // the thread compiles the sources first

  for (const name of ['sqlite', 'postgres'] as const) {
    describe(`on ${name}`, () => {
      if (name === 'postgres') needsPostgres();
      const logged: string[] = [];
      let database: Database;
      let longWork: LongWork;
      let data: DataPlane<Operations>;
      const undo: (() => Promise<void>)[] = [];

      before(async () => {
        const opened = await openTenantDatabase(name);
        undo.push(opened.close);
        ({ database } = opened);
        const secretKeys = generateKeyRingText();
        const clock = fakeClock();
        longWork = createLongWork({
          settings: { databaseUrl: opened.url, poolMax: 2, secretKeys },
          database,
          clock,
          log: createLog({ level: 'info', name: 'test', destination: { write: (line) => void logged.push(line) } }),
        });
        undo.push(() => longWork.close());
        const keyRing = parseKeyRing(secretKeys);
        data = createLocalDataPlane({ operations: OPERATIONS, database, clock, keyRing, forLong: longWork.plane });
      });
      after(async () => {
        for (const step of undo.toReversed()) await step();
      });
      const planeOf = (call: Call) => bind(data, call, { operations: OPERATIONS });
      const keyed = (key: string): Partial<Call> => ({ idempotency: { key, requestHash: 'the-same' } });

      it('start no thread if they are short', async () => {
        const report = await planeOf(aCall()).importContracts(rowsOf(3));
        expect(report).to.include({ created: 3 });
        expect(longWork.isUp).to.equal(false);
      });

      it('have a thread also if they have few rows, but many lines or long texts', async () => {
        const line = { period: '1', dueDate: '2026-05-01', amount: 1 };
        const row = { subjectId: HARBOUR.id, ownerId: MING.id };
        for (const rows of [
          [aContract({ ...row, payments: Array.from({ length: 1_001 }, () => line) })],
          Array.from({ length: 60 }, () => aContract({ ...row, remark: 'x'.repeat(10_000) })),
        ]) {
          expect(await planeOf(aCall()).previewImport(ofRows(rows))).to.include({ created: rows.length });
          expect(longWork.isUp).to.equal(true);
          await longWork.close();
        }
      });

      it('run in a thread, with the same report, records and times as short ones', async () => {
        const call = aCall();
        const report = await planeOf(call).importContracts(rowsOf(ROWS));
        expect(report).to.include({ total: ROWS, created: ROWS, failed: 0 });
        expect(longWork.isUp).to.equal(true);
        const page = await planeOf(call).listContracts({});
        expect(page.total).to.equal(ROWS);
        const contract = await planeOf(call).getContract({ contractId: report.rows[7]?.contractId ?? '' });
        expect(contract.createdAt).to.match(/^2026-03-15T08:0/); // by the clock of the process
        const preview = await planeOf(call).previewImport(rowsOf(ROWS));
        expect(preview).to.include({ total: ROWS, created: ROWS, batchId: null });
        expect((await planeOf(call).listContracts({})).total).to.equal(ROWS);
      });

      it('let writes of others wait for their turn, and lose none', async () => {
        const call = aCall();
        const importing = planeOf(call).importContracts(rowsOf(ROWS));
        const others = Array.from({ length: 20 }, () => planeOf(call).createContract(aContract({})));
        await until(async () => isLongWorkUnderWay(), 'the import is under way');
        await Promise.all([importing, ...others]);
        expect(isLongWorkUnderWay(), 'the memory of the process may be given back').to.equal(false);
        expect((await planeOf(call).listContracts({})).total).to.equal(ROWS + 20);
      });

      it('return the stored report for a repeated key, and refuse the key while they run', async () => {
        const call = { ...aCall(), ...keyed('twice') };
        const [first, second] = await Promise.allSettled([
          planeOf(call).importContracts(rowsOf(ROWS)),
          planeOf(call).importContracts(rowsOf(ROWS)),
        ]);
        expect([first.status, second.status].toSorted()).to.deep.equal(['fulfilled', 'rejected']);
        const again = await data.invoke('importContracts', { call }, rowsOf(ROWS));
        expect(again.replayed).to.equal(true);
        expect((await planeOf({ ...call, idempotency: null }).listContracts({})).total).to.equal(ROWS);
      });

      it('are refused like short ones', async () => {
        const rows = rowsOf(ROWS);
        const call = { ...aCall(), rights: { ...aCall().rights }, subjectScope: [] };
        const report = await planeOf(call).importContracts(rows);
        expect(report).to.include({ created: 0, failed: ROWS });
      });

      if (name === 'sqlite')
        it('enter nothing if their caller disconnects while they wait for their turn to write', async () => {
          const call = aCall();
          const ends = new AbortController();
          const continueWrites = await database.pauseWrites();
          const importing = failureOf(data.invoke('importContracts', { call, signal: ends.signal }, rowsOf(ROWS)));
          while (database.pool().waiting !== 1) await sleep(5);
          ends.abort();
          expect(await importing).to.have.property('code', 'DATA_PLANE_OUTCOME_UNKNOWN');
          continueWrites();
          await planeOf(call).createContract(aContract({}));
          expect((await planeOf(call).listContracts({})).total).to.equal(1);
        });

      it('do not delay the end of an idle thread, and start it again', async () => {
        await longWork.close();
        expect(longWork.isUp).to.equal(false);
        expect(await planeOf(aCall()).previewImport(rowsOf(ROWS))).to.include({ created: ROWS });
      });

      it('log nothing but faults', () => {
        expect(logged).to.deep.equal([]);
      });
    });
  }

  it('are not ended with the thread as idle, after two whose replies came together', async () => {
    const opened = await openTenantDatabase('sqlite');
    const longWork = createLongWork({
      settings: { databaseUrl: opened.url, poolMax: 1, secretKeys: generateKeyRingText() },
      database: opened.database,
      clock: fakeClock(),
      log: createLog({ level: 'info', name: 'test', destination: { write: () => undefined } }),
      idleMs: 1_000,
      entry: ANSWERS_TWO_TOGETHER,
    });
    const one = () => longWork.plane.invoke('continueImports', { call: aCall() }, {});
    try {
      await Promise.all([one(), one()]);
      expect(await one()).to.deep.include({ output: { more: false, abandoned: 0 } }); // takes longer than `idleMs`
      await until(() => Promise.resolve(!longWork.isUp), 'the thread has ended as idle');
    } finally {
      await longWork.close();
      await opened.close();
    }
  });

  describe('whose thread dies', () => {
    let opened: Awaited<ReturnType<typeof openTenantDatabase>>;
    const logged: string[] = [];
    before(async () => {
      opened = await openTenantDatabase('sqlite');
    });
    after(() => opened.close());
    const dying = (changes: Pick<LongWorkParts, 'heapMb' | 'entry'>): LongWork =>
      createLongWork({
        settings: { databaseUrl: opened.url, poolMax: 1, secretKeys: generateKeyRingText() },
        database: opened.database,
        clock: fakeClock(),
        log: createLog({ level: 'info', name: 'test', destination: { write: (line) => void logged.push(line) } }),
        ...changes,
      });
    const write = () => opened.database.write({ tenantId: null }, () => Promise.resolve('written'));

    it('let others write on, if it dies in its turn to write', async () => {
      const longWork = dying({ entry: DIES_IN_ITS_TURN });
      const importing = longWork.plane.invoke('importContracts', { call: aCall() }, rowsOf(ROWS));
      expect(await failureOf(importing)).to.have.property('code', 'DATA_PLANE_OUTCOME_UNKNOWN');
      expect(await write()).to.equal('written');
      expect(longWork.isUp).to.equal(false);
      await longWork.close();
    });

    it('fail, but not the process, if it runs out of memory', async () => {
      const longWork = dying({ heapMb: 8 });
      const importing = longWork.plane.invoke('importContracts', { call: aCall() }, rowsOf(ROWS));
      expect(await failureOf(importing)).to.have.property('code', 'DATA_PLANE_UNAVAILABLE');
      expect(await write()).to.equal('written');
      expect(logged.join(''))
        .to.contain('the thread for long work has failed')
        .and.to.contain('ERR_WORKER_OUT_OF_MEMORY');
    });
  });
});

/** Speaks the messages of the thread, and ends as soon as it may write. */
const DIES_IN_ITS_TURN = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.postMessage({ ready: true });
    parentPort.on('message', (message) => {
      if ('request' in message) parentPort.postMessage({ turn: 'wanted' });
      if ('turn' in message) process.exit(1);
    });
  `)}`,
);

/**
 * Speaks the messages of the thread: answers the first two requests together, the first with a reply that takes longer to
 * read, and the third after 1.5 s.
 */
const ANSWERS_TWO_TOGETHER = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    const output = { more: false, abandoned: 0 };
    const body = (long) => new TextEncoder().encode(JSON.stringify({ ok: true, output, replayed: false, long }));
    const answer = (request) =>
      parentPort.postMessage({ reply: request, body: body(request === 1 ? 'x'.repeat(1_000_000) : '') });
    parentPort.postMessage({ ready: true });
    parentPort.on('message', ({ request, end }) => {
      if (request === 2) [1, 2].forEach(answer);
      if (request === 3) setTimeout(answer, 1_500, request);
      if (end) parentPort.close();
    });
  `)}`,
);
