import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { DatabaseError } from '../../data-plane-agent/base/database/errors.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import { tablesHash } from '../../data-plane-agent/plane/steps/moving/the-move.js';
import { IMPORT_LEASE_MS } from '../../data-plane-agent/plane/store/running-imports.js';
import { fakeClock } from '../support/clock.js';
import { until } from '../support/file-server.js';
import { failureOf } from '../support/failures.js';
import { faultsOf, HARBOUR, MING, ofRows } from '../support/import-samples.js';
import {
  diesBefore,
  interruptedDatabase,
  poisonedDatabase,
  stopsBefore,
  type BeforeWrite,
} from '../support/interrupted.js';
import { aCall, listedContracts, openTenantDatabase, type DatabaseName } from '../support/plane.js';
import { needsPostgres } from '../support/postgres.js';
import { rebuildRollups, rollupsOf } from '../support/rollups.js';
import { aContract, aLine } from '../support/samples.js';
import { upkeepProcess, type UpkeepProcess } from '../support/upkeep.js';

/** Long because of their texts. The third is invalid, and the fourth repeats the number of the second. */
const ROWS = 60;
const CREATED = ROWS - 2;
/** Number of the write that enters contracts for the second time: before come the beginning, two parts of the input, … */
const SECOND_CONTRACTS = 6;
/** So many contracts of one line are entered in the first transaction. */
const IN_FIRST = 40;
const ACCOUNT = '6222020012345678901';

function longRows() {
  const transfer = newId();
  const rows = Array.from({ length: ROWS }, (_, i) =>
    aContract({
      subjectId: HARBOUR.id,
      ownerId: MING.id,
      payeeAccount: ACCOUNT,
      remark: 'x'.repeat(10_000),
      // The first and the last are paid by the same transfer.
      payments: [aLine({ receivedAmount: 5, ...(i % (ROWS - 1) === 0 ? { bankSerialNo: transfer } : {}) })],
    }),
  );
  return rows.map((row, i) =>
    i === 2 ? { ...row, quantity: 0 } : i === 3 ? { ...row, contractNo: rows[1]?.contractNo ?? '' } : row,
  );
}

/** What is the same whichever process has finished the import. */
const contentOf = ({ batchId: _batchId, rows, ...report }: ImportReport) => ({
  ...report,
  rows: rows.map(({ row, status, errors, warnings }) => ({
    row,
    status,
    errors: errors?.map(({ field, code }) => ({ field, code })),
    warnings: warnings?.map(({ code }) => code),
  })),
});

describe('an import of many transactions', function () {
  this.timeout(120_000);

  for (const name of ['sqlite', 'postgres'] as const) {
    describe(`on ${name}`, () => {
      if (name === 'postgres') needsPostgres();
      const clock = fakeClock();
      let opened: Awaited<ReturnType<typeof openTenantDatabase>>;
      let process: UpkeepProcess;
      before(async () => {
        opened = await openTenantDatabase(name satisfies DatabaseName);
        process = upkeepProcess({ database: opened.database, clock });
      });
      after(() => opened.close());

      const other = (before: BeforeWrite): UpkeepProcess =>
        upkeepProcess({ database: interruptedDatabase(opened.database, before), clock });
      const keyed = (changes: Partial<Call> = {}): Call => ({
        ...aCall(),
        idempotency: { key: newId(), requestHash: 'the-same' },
        ...changes,
      });
      const rows = (tenantId: string, sql: string) =>
        opened.database.read({ tenantId }, (tx) => tx.all(sql, [tenantId]));
      const running = async ({ tenantId }: Call) =>
        (await rows(tenantId, 'SELECT state FROM running_imports WHERE tenant_id = ?')).map(({ state }) => state);
      const parts = async ({ tenantId }: Call) =>
        (await rows(tenantId, 'SELECT 1 AS found FROM running_import_parts WHERE tenant_id = ?')).length;
      const batches = async ({ tenantId }: Call) =>
        (await rows(tenantId, 'SELECT id FROM import_batches WHERE tenant_id = ?')).length;
      const totalOf = async (call: Call) =>
        (await listedContracts(process.as({ ...call, idempotency: null }), {})).total;
      const leaseEnds = () => clock.advance(IMPORT_LEASE_MS);
      /** The round of the job. */
      const job = () => process.round({ imports: (plane) => plane.continueImports({}) });
      const diesIn = (call: Call, at: number, input = ofRows(longRows())): Promise<void> =>
        dies(diesBefore(at), call, input);
      const dies = async (before: BeforeWrite, call: Call, input: ReturnType<typeof ofRows>): Promise<void> => {
        const outcome = await other(before)
          .data.invoke('importContracts', { call }, input)
          .then(
            () => 'answered',
            (error: unknown) => String(error),
          );
        expect(outcome).to.contain('the process has died');
      };

      let whole: ReturnType<typeof contentOf>;
      before('import without an interruption', async () => {
        const call = keyed();
        const report = await process.as(call).importContracts(ofRows(longRows()));
        whole = contentOf(report);
        expect(report).to.include({ total: ROWS, created: CREATED, failed: 2 });
        expect(faultsOf(report)).to.deep.equal(['3 quantity INVALID_INPUT', '4 contractNo DUPLICATE_CONTRACT_NO']);
        expect(whole.rows.filter(({ warnings }) => warnings?.includes('BANK_SERIAL_REUSED'))).to.have.length(2);
        expect(await running(call)).to.deep.equal([]);
        expect(await parts(call)).to.equal(0);
      });

      it('reports what the same import in one transaction reports', async () => {
        const short = longRows().map((row) => ({ ...row, remark: 'x' }));
        expect(contentOf(await process.as().importContracts(ofRows(short)))).to.deep.equal(whole);
      });

      it('lets others write in between, who see what has been entered so far', async () => {
        const call = aCall();
        const held = stopsBefore(SECOND_CONTRACTS);
        const importing = other(held.before).as(call).importContracts(ofRows(longRows()));
        await held.stopped;
        const plane = process.as(call);
        // On PostgreSQL two transactions run at once, of which one goes on.
        const entered = await until(
          () => totalOf(call),
          (total) => total > 0,
        );
        expect(entered).to.be.within(1, CREATED - 1);
        const { payments } = await plane.createContract(aContract({ payments: [aLine()] }));
        await plane.recordReceipt({ paymentId: payments[0]?.id ?? '', receivedAmount: 10 });
        const { items } = await listedContracts(plane, {});
        const { payments: imported } = await plane.getContract({ contractId: items.at(-1)?.id ?? '' });
        await plane.recordReceipt({ paymentId: imported[0]?.id ?? '', receivedAmount: 10 });
        held.goOn();
        expect(contentOf(await importing)).to.deep.equal(whole);
        expect(await totalOf(call)).to.equal(CREATED + 1);
      });

      it('enters everything once or nothing, whichever step its process dies before', async () => {
        const found = { nothing: 0, everything: 0 };
        for (let at = 1; ; at += 1) {
          const call = keyed();
          const input = ofRows(longRows());
          const dying = other(diesBefore(at)).data.invoke('importContracts', { call }, input);
          if (
            await dying.then(
              () => true,
              () => false,
            )
          )
            break;
          const isKept = (await running(call)).includes('entering');
          if (!isKept) expect(await totalOf(call), `before step ${at}`).to.equal(0);
          leaseEnds();
          await job();
          expect(await running(call), `before step ${at}`).to.deep.equal([]);
          expect(await parts(call)).to.equal(0);
          expect(await totalOf(call), `before step ${at}`).to.equal(isKept ? CREATED : 0);
          found[isKept ? 'everything' : 'nothing'] += 1;
          const again = await process.data.invoke('importContracts', { call }, input);
          expect(again.replayed).to.equal(isKept);
          expect(contentOf(again.output)).to.deep.equal(whole);
          expect(await process.data.invoke('importContracts', { call }, input)).to.deep.equal({
            output: again.output,
            replayed: true,
          });
          expect(await totalOf(call)).to.equal(CREATED);
          expect(await batches(call)).to.equal(1);
        }
        expect(found).to.deep.equal({ nothing: 4, everything: 3 });
        const test = { ...process, database: opened.database, call: aCall() } as never;
        const kept = await rollupsOf(test);
        await rebuildRollups(test);
        expect(await rollupsOf(test)).to.deep.equal(kept);
      });

      it('goes on after all parts that are there, if the first of two that were entered at once is missing', async () => {
        const call = keyed();
        const input = ofRows(longRows());
        const first = SECOND_CONTRACTS - 1;
        const before: BeforeWrite = (number) => {
          if (number === first || number > SECOND_CONTRACTS) throw new Error('the process has died');
        };
        await dies(before, call, input);
        if (name === 'sqlite') expect(await totalOf(call)).to.equal(0);
        else expect(await totalOf(call)).to.be.within(1, CREATED - 1);
        leaseEnds();
        await job();
        expect(await running(call)).to.deep.equal([]);
        expect(await parts(call)).to.equal(0);
        expect(contentOf(await process.as(call).importContracts(input))).to.deep.equal(whole);
        expect(await totalOf(call)).to.equal(CREATED);
      });

      it('enters the first of two contracts with one invoice, also if they are not entered in one transaction', async () => {
        for (let n = 0; n < 3; n++) {
          const call = aCall();
          const rows = longRows();
          const invoiced = aLine({ invoiceNo: `INV-${n}`, invoiceAmount: 5 });
          const given = rows.map((row, i) =>
            i === IN_FIRST - 1 || i === IN_FIRST ? { ...row, payments: [invoiced] } : row,
          );
          const report = await process.as(call).importContracts(ofRows(given));
          expect(faultsOf(report).at(-1)).to.equal(`${IN_FIRST + 1} invoiceNo DUPLICATE_CODE`);
          expect(await totalOf(call)).to.equal(CREATED - 1);
        }
      });

      it('is finished by a request with its key, once nobody works on it', async () => {
        const call = keyed();
        const input = ofRows(longRows());
        await diesIn(call, SECOND_CONTRACTS, input);
        expect(await failureOf(process.as(call).importContracts(input))).to.have.property(
          'code',
          'IDEMPOTENCY_IN_PROGRESS',
        );
        const reused = { ...call, idempotency: { key: call.idempotency?.key ?? '', requestHash: 'another' } };
        expect(await failureOf(process.as(reused).importContracts(input))).to.have.property(
          'code',
          'IDEMPOTENCY_KEY_REUSED',
        );
        leaseEnds();
        const report = await process.as(call).importContracts(input);
        expect(contentOf(report)).to.deep.equal(whole);
        await job();
        expect(await process.as(call).importContracts(input)).to.deep.equal(report);
        expect(await totalOf(call)).to.equal(CREATED);
      });

      it('is finished by one process, if that which has begun it comes back', async () => {
        const call = keyed();
        const held = stopsBefore(SECOND_CONTRACTS);
        const input = ofRows(longRows());
        const importing = failureOf(other(held.before).as(call).importContracts(input));
        await held.stopped;
        leaseEnds();
        await job();
        held.goOn();
        expect(await importing).to.have.property('code', 'DATA_PLANE_OUTCOME_UNKNOWN');
        expect(contentOf(await process.as(call).importContracts(input))).to.deep.equal(whole);
        expect(await totalOf(call)).to.equal(CREATED);
      });

      it('is audited in the name of who has begun it', async () => {
        const call = aCall();
        await diesIn(call, SECOND_CONTRACTS);
        leaseEnds();
        await job();
        const audited = await rows(
          call.tenantId,
          'SELECT DISTINCT action, actor_id, request_id FROM audit_log WHERE tenant_id = ?',
        );
        expect(audited).to.deep.equal([
          { action: 'importContracts', actor_id: call.actor.id, request_id: call.requestId },
        ]);
      });

      it('goes on when its caller disconnects', async () => {
        const call = aCall();
        const held = stopsBefore(SECOND_CONTRACTS);
        const ends = new AbortController();
        const input = ofRows(longRows());
        const importing = other(held.before).data.invoke('importContracts', { call, signal: ends.signal }, input);
        await held.stopped;
        ends.abort();
        held.goOn();
        expect(contentOf((await importing).output)).to.deep.equal(whole);
      });

      it('says that the outcome is unknown when the database is lost, and is finished at once when it is back', async () => {
        const call = aCall();
        const lost: BeforeWrite = (number) => {
          if (number === SECOND_CONTRACTS) throw new DatabaseError('unreachable', undefined, undefined);
        };
        const importing = failureOf(other(lost).as(call).importContracts(ofRows(longRows())));
        expect(await importing).to.have.property('code', 'DATA_PLANE_OUTCOME_UNKNOWN');
        await job();
        expect(await totalOf(call)).to.equal(CREATED);
        expect(await batches(call)).to.equal(1);
      });

      it('changes nothing when the database is lost before it has begun to enter', async () => {
        const call = keyed();
        const lost: BeforeWrite = (number) => {
          if (number === 3) throw new DatabaseError('unreachable', undefined, undefined);
        };
        const input = ofRows(longRows());
        expect(await failureOf(other(lost).as(call).importContracts(input))).to.have.property(
          'code',
          'DATA_PLANE_UNAVAILABLE',
        );
        expect(await running(call)).to.deep.equal([]);
        expect(contentOf(await process.as(call).importContracts(input))).to.deep.equal(whole);
      });

      it('reports rows as failed that have become bad in between, as a single contract is refused', async () => {
        const call = aCall();
        const subjectId = newId();
        const input = longRows();
        const last = input.at(-1);
        const held = stopsBefore(SECOND_CONTRACTS);
        const people = { members: [MING], subjects: [HARBOUR, { id: subjectId, name: 'Closing Ltd' }] };
        const importing = other(held.before)
          .as(call)
          .importContracts({
            ...ofRows(input.map((row, i) => (i === ROWS - 2 ? { ...row, subjectId } : row))),
            people,
          });
        await held.stopped;
        await process.as(call).createContract(aContract({ contractNo: last?.contractNo ?? '' }));
        await process.as(call).closeSubject({ subjectId, closingId: newId() });
        held.goOn();
        const report = await importing;
        expect(report).to.include({ created: CREATED - 2, failed: 4 });
        expect(faultsOf(report).slice(-2)).to.deep.equal([
          `${ROWS - 1} subjectId REFERENCE_INVALID`,
          `${ROWS} contractNo DUPLICATE_CONTRACT_NO`,
        ]);
      });

      it('is given up after five attempts that end in an error, with the rows that are left reported as failed', async () => {
        const call = keyed();
        const input = longRows();
        const poisoned = upkeepProcess({
          database: poisonedDatabase(opened.database, input[50]?.contractNo ?? ''),
          clock,
        });
        const attempt = () => poisoned.round({ imports: (plane) => plane.continueImports({}) });
        await poisoned
          .as(call)
          .importContracts(ofRows(input))
          .then(
            () => expect.fail('it was imported'),
            (error: unknown) => expect(String(error)).to.contain('poisoned'),
          );
        for (let attempts = 2; attempts <= 5; attempts += 1) {
          await attempt();
          expect(poisoned.logged).to.have.length(attempts - 1);
          expect(await running(call)).to.deep.equal(['entering']);
          clock.advance(60_000);
        }
        const entered = await totalOf(call);
        await attempt();
        expect(poisoned.logged).to.have.length(4);
        expect(await running(call)).to.deep.equal([]);
        const report = await process.as(call).importContracts(ofRows(input));
        expect(report).to.include({ total: ROWS, created: entered, failed: ROWS - entered });
        expect(await totalOf(call)).to.equal(entered);
        expect(entered).to.be.within(1, CREATED - 1);
        expect(faultsOf(report).at(-1)).to.equal(`${ROWS} - IMPORT_INTERRUPTED`);
        const errors = await process
          .as({ ...call, idempotency: null })
          .getImportErrors({ batchId: report.batchId ?? '' });
        expect(
          errors.csv.split('\r\n').filter((line) => line.includes('interrupted by an error of the program')),
        ).to.have.length(faultsOf(report).filter((fault) => fault.endsWith('IMPORT_INTERRUPTED')).length);
      });

      it('keeps its input sealed', async () => {
        const call = aCall();
        await diesIn(call, SECOND_CONTRACTS - 1);
        expect(await running(call)).to.deep.equal(['entering']);
        const stored = await rows(call.tenantId, 'SELECT content FROM running_import_parts WHERE tenant_id = ?');
        expect(stored).to.have.length(2);
        for (const { content } of stored) {
          expect(content).to.match(/^v1\./);
          expect(content).not.to.contain(ACCOUNT);
        }
        const columns = await rows(call.tenantId, 'SELECT * FROM running_imports WHERE tenant_id = ?');
        expect(JSON.stringify(columns)).not.to.contain(ACCOUNT);
        leaseEnds();
        await job();
      });

      it('is waited for by a move of the data, and removed with it', async () => {
        const call = aCall();
        await diesIn(call, SECOND_CONTRACTS);
        const moving = { moveId: newId(), tables: tablesHash() };
        const plane = process.as(call);
        await plane.chainAudit({});
        expect(await plane.beginMovingOut(moving)).to.deep.include({ ready: false, runningImports: 1 });
        expect(await failureOf(plane.createContract(aContract()))).to.have.property('code', 'DATA_MOVING');
        expect(await failureOf(plane.importContracts(ofRows(longRows())))).to.have.property('code', 'DATA_MOVING');
        expect(await running(call)).to.deep.equal(['entering']);
        leaseEnds();
        await job();
        await process.round({ audit: (one) => one.chainAudit({}) });
        expect(await plane.beginMovingOut(moving)).to.deep.include({ ready: true, runningImports: 0 });
        expect((await plane.listContracts({})).total).to.equal(CREATED);
      });
    });
  }

  it('leaves no account number of its input in the file of the database', async () => {
    const { database, url, close } = await openTenantDatabase('sqlite');
    try {
      const dying = upkeepProcess({
        database: interruptedDatabase(database, diesBefore(SECOND_CONTRACTS - 1)),
        clock: fakeClock(),
      });
      await dying
        .as()
        .importContracts(ofRows(longRows()))
        .then(
          () => expect.fail('it was imported'),
          () => undefined,
        );
      const file = url.slice('sqlite:'.length);
      for (const path of [file, `${file}-wal`]) expect((await readFile(path)).includes(ACCOUNT)).to.equal(false);
    } finally {
      await close();
    }
  });
});
