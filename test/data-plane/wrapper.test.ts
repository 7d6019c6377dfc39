import { expect } from 'chai';
import { fail } from '../../data-plane-agent/base/failures.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { operation } from '../../data-plane-agent/plane/steps/operation-context.js';
import { dataVersion } from '../../data-plane-agent/plane/store/data-version.js';
import { newContract, withAggregates } from '../../data-plane-agent/plane/domain/contracts/changes.js';
import { AmountReader } from '../../data-plane-agent/plane/domain/amounts.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

const Empty = s.object({});

/** Operations that reveal what wraps every `run`. */
const operations = {
  announcing: operation({
    effect: 'write',
    input: Empty,
    output: Empty,
    fails: [],
    async run({ store, recorder, clock, newId }, call) {
      await store.lifecycle.ensureShipped();
      const [stage] = await store.lifecycle.stages((await store.lifecycle.defaultTemplate()).id);
      if (!stage) throw new Error('expected the default template to have stages');
      const row = newContract({
        id: newId(),
        input: aContract(),
        type: 'sale',
        stage,
        currencyCode: 'CNY',
        dynamicFields: {},
        amounts: new AmountReader(),
        now: clock.now(),
        actorId: call.actor.id,
      });
      await store.contracts.insert(withAggregates(row, []));
      recorder.enqueue({ topic: 'contract.created', lane: 'test', reference: { contractId: row.id } });
      return {};
    },
  }),
  failing: operation({
    effect: 'write',
    input: Empty,
    output: Empty,
    fails: ['CONTRACT_LOCKED'],
    async run(context, call) {
      await operations.announcing.run(context, call, {});
      throw fail('CONTRACT_LOCKED', { fields: ['partyA'] });
    },
  }),
  silent: operation({
    effect: 'write',
    input: Empty,
    output: Empty,
    fails: [],
    async run({ store, newId }) {
      const contractId = newId();
      await store.lines.insertReceipts([
        {
          id: newId(),
          contractId,
          lineId: newId(),
          deltaMinor: 1,
          totalMinor: 1,
          currencyCode: 'CNY',
          receivedDate: null,
          method: null,
          payerName: null,
          receiptAccount: null,
          bankSerialNo: null,
          proofFileId: null,
          actorId: null,
          actorName: 'x',
          createdAt: 1,
        },
      ]);
      return {};
    },
  }),
  idle: operation({ effect: 'write', input: Empty, output: Empty, fails: [], run: async () => ({}) }),
};

const count = ({ database, call }: TestPlane, table: string) =>
  database.read(call, async (tx) =>
    Number((await tx.get(`SELECT count(*) AS n FROM ${table} WHERE tenant_id = ?`, [call.tenantId]))?.['n']),
  );
const version = ({ database, call }: TestPlane) => database.read(call, (tx) => dataVersion(tx, call.tenantId));

describe('the wrapper of every operation', () => {
  forEachPlane(
    (_name, makePlane) => {
      const wrapped = () => {
        const test = makePlane();
        const plane = createLocalDataPlane({
          operations,
          database: test.database,
          clock: test.clock,
          keyRing: parseKeyRing(generateKeyRingText()),
        });
        return {
          test,
          run: (name: keyof typeof operations, input: Record<string, never> = {}) =>
            plane.invoke(name, { call: test.call }, input),
        };
      };

      it('writes audit, outbox and data version together with the change', async () => {
        const { test, run } = wrapped();
        await run('announcing');
        expect(await count(test, 'contracts')).to.equal(1);
        expect(await version(test)).to.equal(1);
        const [audit] = await test.database.read(test.call, (tx) =>
          tx.all("SELECT * FROM audit_log WHERE tenant_id = ? AND record_kind = 'contract'", [test.call.tenantId]),
        );
        expect(audit).to.include({
          action: 'announcing',
          actor_kind: 'user',
          actor_id: test.call.actor.id,
          actor_name: 'Ming Li',
          ip: '127.0.0.1',
          request_id: 'test-request',
          at: test.clock.now(),
        });
        const changes = JSON.parse(String(audit?.['changes'])) as { record: string; fields: Record<string, unknown> }[];
        expect(changes[0]?.fields).to.deep.include({
          partyA: [null, 'Harbour Logistics Ltd'],
          totalMinor: [null, 1_000_000],
        });
        const [message] = await test.database.read(test.call, (tx) =>
          tx.all('SELECT * FROM outbox WHERE tenant_id = ?', [test.call.tenantId]),
        );
        expect(message).to.include({ topic: 'contract.created', lane: 'test', due_at: test.clock.now(), attempts: 0 });
      });

      it('rolls all of it back on a refusal', async () => {
        const { test, run } = wrapped();
        const error = await run('failing').catch((reason: unknown) => reason);
        expect(error).to.have.property('code', 'CONTRACT_LOCKED');
        for (const table of ['contracts', 'audit_log', 'outbox', 'lifecycle_templates'])
          expect(await count(test, table), table).to.equal(0);
        expect(await version(test)).to.equal(0);
      });

      it('fails and rolls back a write that does not record its change', async () => {
        const { test, run } = wrapped();
        const error = await run('silent').catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(Error);
        expect(await count(test, 'receipts')).to.equal(0);
      });

      it('leaves no trace of a write that changes nothing', async () => {
        const { test, run } = wrapped();
        await run('idle');
        expect(await count(test, 'audit_log')).to.equal(0);
        expect(await version(test)).to.equal(0);
      });

      it('validates the input again, for every caller', async () => {
        const { test, run } = wrapped();
        const error = await run('idle', { extra: 1 } as never).catch((reason: unknown) => reason);
        expect(error).to.have.property('code', 'INVALID_INPUT');
        expect(await count(test, 'audit_log')).to.equal(0);
      });
    },
    { only: ['sqlite', 'postgres'] },
  );
});

describe('account numbers', () => {
  forEachPlane(
    (_name, makePlane) => {
      it('are masked in the audit trail', async () => {
        const test = makePlane();
        await test.plane.createContract(aContract({ payeeAccount: '6222021234567890' }));
        const audit = await test.database.read(test.call, (tx) =>
          tx.all('SELECT changes FROM audit_log WHERE tenant_id = ?', [test.call.tenantId]),
        );
        expect(JSON.stringify(audit)).to.contain('****7890').and.not.contain('6222021234567890');
      });
    },
    { only: ['sqlite'] },
  );
});
