import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import type { BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { ContractQuery } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { contractStep, EVERY_CONTROL, PEOPLE, SUBJECTS, walk } from '../support/contract-walk.js';
import { aField, fieldCommand } from '../support/fields.js';
import type { TestPlane } from '../support/plane.js';
import { forEachReplicas } from '../support/replicas.js';
import { COMPILE_CACHE, program } from '../support/programs.js';
import { aContract, aLine } from '../support/samples.js';

type Plane = BoundPlane<Operations>;

const LISTS: readonly ContractQuery[] = [
  {},
  { type: 'lease', sort: 'endDate', order: 'desc' },
  { payment: 'partial', sort: 'outstandingAmount' },
  { overdue: true, sort: 'nextDueDate' },
  { dueSoon: true },
  { ownerId: PEOPLE[0], subjectId: SUBJECTS[0], sort: 'updatedAt' },
  { q: 'contract', pageSize: 2, page: 2 },
];
const TABS = ['due', 'overdue', 'reconcile', 'invoice', 'all'] as const;

/** Everything that is kept, as this plane answers it. */
async function answersOf(plane: Plane) {
  const lists = [];
  for (const query of LISTS) lists.push(await plane.listContracts(query));
  const payments = [];
  for (const tab of TABS) payments.push(await plane.listPayments({ tab }));
  const contracts = [];
  for (const { id } of lists[0]?.items ?? []) contracts.push(await plane.getContract({ contractId: id }));
  return { lists, payments, contracts };
}

describe('kept answers', () => {
  forEachReplicas((name, replicas) => {
    const both = (changes: Partial<Call> = {}): [TestPlane, TestPlane] => replicas().both(changes);
    const fresh = (test: TestPlane) => answersOf(replicas().fresh(test, test.call));

    it('are the answers of now on each replica, after any changes by either', async function () {
      this.timeout(180_000);
      const steps = fc.array(fc.tuple(fc.nat({ max: 1 }), fc.array(contractStep, { minLength: 1, maxLength: 5 })), {
        minLength: 2,
        maxLength: 6,
      });
      await fc.assert(
        fc.asyncProperty(steps, async (rounds) => {
          const pair = both({ controls: EVERY_CONTROL });
          for (const [which, some] of rounds) {
            await walk(pair[which === 0 ? 0 : 1], some);
            const expected = await fresh(pair[0]);
            for (const one of pair) expect(await answersOf(one.plane)).to.deep.equal(expected);
          }
        }),
        { numRuns: name === 'sqlite' ? 25 : 8 },
      );
    });

    it('are returned again while nothing changes, and not after each kind of write', async () => {
      const [here, there] = both();
      const { id: field } = await aField(here);
      const contract = await here.plane.createContract(
        aContract({ dynamicFields: { [field]: '17' }, payments: [aLine()] }),
      );
      const { id: contractId } = contract;
      const paymentId = contract.payments[0]?.id ?? '';
      const { templates } = await here.plane.getContractCatalog({});
      const stage = templates.flatMap(({ stages }) => stages).find(({ code }) => code === 'draft');
      const read = ({ plane }: TestPlane) =>
        Promise.all([plane.listContracts({}), plane.getContract({ contractId }), plane.listPayments({ tab: 'all' })]);
      const writes: Readonly<Record<string, () => Promise<unknown>>> = {
        receipt: () => there.plane.recordReceipt({ paymentId, receivedAmount: 1 }),
        change: () => there.plane.updateContract({ contractId, changes: { projectName: 'Renamed' } }),
        task: () => there.plane.addTask({ contractId, code: 'T-1', title: 'Deliver', kind: 'delivery' }),
        field: () => fieldCommand(there, 'UpdateFieldType', { fieldId: field, type: 'number' }),
        stage: () => there.plane.updateLifecycleStage({ stageId: stage?.id ?? '', changes: { name: '起草' } }),
        another: () => there.plane.createContract(aContract({ payments: [aLine()] })),
      };
      for (const [what, write] of Object.entries(writes)) {
        const before = await read(here);
        const again = await read(here);
        before.forEach((answer, i) => expect(again[i], `before the ${what}`).to.equal(answer));
        await write();
        const after = await read(here);
        before.forEach((answer, i) => expect(after[i], `after the ${what}`).not.to.equal(answer));
        expect(await answersOf(here.plane), `after the ${what}`).to.deep.equal(await fresh(here));
      }
    });

    it('are those of another process, after it has written', async () => {
      const [here] = both();
      const { id: contractId, payments } = await here.plane.createContract(aContract({ payments: [aLine()] }));
      const received = async () => (await here.plane.getContract({ contractId })).receivedAmount;
      expect(await received()).to.equal(0);
      const input = { paymentId: payments[0]?.id ?? '', receivedAmount: 12.5 };
      await promisify(execFile)(
        process.execPath,
        [program('test/support/receipt-program.ts'), replicas().url, JSON.stringify(here.call), JSON.stringify(input)],
        { env: { ...process.env, ...COMPILE_CACHE }, timeout: 60_000 },
      );
      expect(await received()).to.equal(12.5);
      expect((await here.plane.listPayments({ tab: 'all' })).items[0]?.receivedAmount).to.equal(12.5);
    }).timeout(90_000);

    it('are never older than what was written before they were asked for, however many ask at once', async function () {
      this.timeout(240_000);
      const pair = both();
      const { id: contractId, payments } = await pair[0].plane.createContract(aContract({ payments: [aLine()] }));
      const paymentId = payments[0]?.id ?? '';
      let written = 0;
      let isOver = false;
      let compared = 0;
      const outdated: string[] = [];
      const reader = async (one: TestPlane): Promise<void> => {
        while (!isOver) {
          const least = written;
          const { receivedAmount } = await one.plane.getContract({ contractId });
          const listed = await one.plane.listPayments({ tab: 'all' });
          compared++;
          if (receivedAmount < least || (listed.items[0]?.receivedAmount ?? 0) < receivedAmount)
            outdated.push(`${receivedAmount} and ${listed.items[0]?.receivedAmount} after ${least}`);
          await new Promise(setImmediate); // lets the writer in
        }
      };
      const readers = Promise.all(Array.from({ length: 12 }, (_, i) => reader(pair[i % 2 === 0 ? 0 : 1])));
      for (let n = 1; n <= 60; n++) {
        await pair[n % 2 === 0 ? 0 : 1].plane.recordReceipt({ paymentId, receivedAmount: n });
        written = n;
      }
      isOver = true;
      await readers;
      expect(outdated).to.deep.equal([]);
      expect(compared).to.be.greaterThan(60);
    });

    it('are read once for all who ask at the same time, even if the first of them leaves', async () => {
      const [{ plane, data, call }, there] = both();
      const { id: contractId, payments } = await plane.createContract(aContract({ payments: [aLine()] }));
      await plane.listContracts({});
      await there.plane.recordReceipt({ paymentId: payments[0]?.id ?? '', receivedAmount: 5 });
      const together = await Promise.all(Array.from({ length: 20 }, () => plane.listContracts({})));
      expect(new Set(together).size).to.equal(1);
      expect(together[0]?.items[0]?.json).to.include('"receivedAmount":5,');
      await there.plane.recordReceipt({ paymentId: payments[0]?.id ?? '', receivedAmount: 6 });
      const leaving = new AbortController();
      const first = data.invoke('listContracts', { call, signal: leaving.signal }, {}).then(
        () => 'answered',
        () => 'left',
      );
      const others = Array.from({ length: 10 }, () => plane.listContracts({}));
      leaving.abort();
      expect(await first).to.be.oneOf(['left', 'answered']);
      for (const page of await Promise.all(others)) expect(page.items[0]?.json).to.include('"receivedAmount":6,');
      // A refusal belongs to one reader only.
      const refused = Array.from({ length: 5 }, () =>
        plane.getContract({ contractId: call.tenantId }).then(
          () => 'found',
          (error: unknown) => (isFailure(error, 'NOT_FOUND') ? 'not found' : 'another error'),
        ),
      );
      expect(await Promise.all(refused)).to.deep.equal(Array.from({ length: 5 }, () => 'not found'));
      expect((await plane.getContract({ contractId })).receivedAmount).to.equal(6);
    });

    it('belong to one view: other rights, scopes, roles, days and settings have their own', async () => {
      const [{ plane, as, call }] = both();
      await plane.createContract(aContract({ payeeAccount: '6222020200112233', payments: [aLine()] }));
      const listed = await plane.listContracts({});
      const same = [
        { requestId: 'another-request' },
        { timeoutMs: 5_000 },
        { actor: { ...call.actor, id: PEOPLE[0], name: 'Another', ip: '127.0.0.2' } },
      ];
      for (const changes of same) expect(await as(changes).listContracts({}), JSON.stringify(changes)).to.equal(listed);
      const different: Partial<Call>[] = [
        { rights: { ...call.rights, sensitive: false } },
        { subjectScope: [] },
        { ownerScope: PEOPLE[0] },
        { actor: { ...call.actor, roleCode: 'sales' } },
        { today: '2026-03-16' },
        { reminderLeadDays: 8 },
      ];
      for (const changes of different)
        expect(await as(changes).listContracts({}), JSON.stringify(changes)).not.to.equal(listed);
      expect((await as({ subjectScope: [] }).listContracts({})).total).to.equal(0);
      expect((await as({ rights: { ...call.rights, sensitive: false } }).listContracts({})).items[0]?.json).to.include(
        '****2233',
      );
      const elsewhere = both()[0].plane;
      expect((await elsewhere.listContracts({})).total).to.equal(0);
    });

    it('depend on nothing of the call that only identifies the request or the person', async () => {
      const [{ plane, call }] = both();
      const { id: contractId } = await plane.createContract(aContract({ payments: [aLine()] }));
      const looked = new Set<string>();
      const watched = <T extends object>(of: T, within = ''): T =>
        new Proxy(of, {
          get: (target, key) => {
            if (typeof key === 'string') looked.add(within + key);
            return Reflect.get(target, key) as unknown;
          },
        });
      for (const operation of [OPERATIONS.listContracts, OPERATIONS.getContract, OPERATIONS.listPayments])
        expect(operation).to.include({ isKept: true });
      const kept = {
        ...OPERATIONS,
        listContracts: spied(OPERATIONS.listContracts),
        getContract: spied(OPERATIONS.getContract),
        listPayments: spied(OPERATIONS.listPayments),
      };
      /** Runs with a call whose use is noted; the wrapper itself may read all of it. */
      function spied<O extends { run(...given: never[]): unknown }>(operation: O): O {
        // Each operation has an input type of its own.
        const run = operation.run as unknown as (context: unknown, call: Call, input: unknown) => unknown;
        return {
          ...operation,
          run: (context: unknown, given: Call, input: unknown) =>
            run(context, watched({ ...given, actor: watched(given.actor, 'actor.') }), input),
        };
      }
      const watching = replicas().planeOn(replicas().database, kept);
      await watching.invoke('listContracts', { call }, { q: 'a', overdue: true });
      await watching.invoke('getContract', { call }, { contractId });
      await watching.invoke('listPayments', { call }, { tab: 'overdue' });
      expect([...looked]).to.include.members(['today', 'rights']);
      expect([...looked]).not.to.include.members(['requestId']);
      for (const hidden of ['timeoutMs', 'idempotency', 'ifVersion', 'actor.id', 'actor.name', 'actor.ip'])
        expect([...looked]).not.to.include(hidden);
    });

    it('cannot be changed by whoever gets them, and are not kept when they are very long', async () => {
      const [{ plane }] = both();
      const { id: contractId } = await plane.createContract(aContract({ payments: [aLine()] }));
      const contract = await plane.getContract({ contractId });
      expect(() => Object.assign(contract, { projectName: 'Another' })).to.throw(TypeError);
      expect(() => contract.payments.pop()).to.throw(TypeError);
      for (let n = 0; n < 120; n++) await plane.createContract(aContract({ remark: 'x'.repeat(5_000) }));
      const [one, two] = [await plane.listContracts({ pageSize: 200 }), await plane.listContracts({ pageSize: 200 })];
      expect(one).to.deep.equal(two);
      expect(one).not.to.equal(two);
    });
  });
});
