import { expect } from 'chai';
import { s } from '../../data-plane-agent/base/schema.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind, type DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { createRemoteDataPlane } from '../../data-plane-agent/plane/remote.js';
import {
  multiStepOperation,
  operation,
  type OperationContext,
} from '../../data-plane-agent/plane/steps/operation-context.js';
import { fakeClock } from '../support/clock.js';
import { failureOf } from '../support/failures.js';
import { openExternalServices } from '../support/external-services.js';
import { aCall, openTenantDatabase } from '../support/plane.js';
import { serveOverHttp } from '../support/wire.js';

const Empty = s.object({});
const IDEMPOTENCY = { key: 'asked-in-time', requestHash: 'aa' };

/** The test's handles of the operations below, and the promises that they wait for. */
class Gate {
  private begin: () => void = () => undefined;
  private releaseCall: () => void = () => undefined;
  readonly begun = new Promise<void>((resolve) => (this.begin = resolve));
  private readonly opened = new Promise<void>((resolve) => (this.releaseCall = resolve));
  ended = 0;

  /** Waits until the test releases the call or the call ends. */
  async pass(signal: AbortSignal): Promise<void> {
    this.begin();
    const end = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([this.opened, end]);
    if (signal.aborted) this.ended += 1;
  }

  open(): void {
    this.releaseCall();
  }
}

const note = async ({ store, recorder, newId }: OperationContext): Promise<void> => {
  await store.lifecycle.ensureShipped();
  recorder.enqueue({ topic: 'contract.created', lane: 'test', reference: { contractId: newId() } });
};

function operationsAt(gate: Gate) {
  const declared = { input: Empty, output: Empty, fails: [] };
  return {
    look: operation({
      ...declared,
      effect: 'read',
      async run({ store, signal }) {
        await gate.pass(signal);
        await store.lifecycle.all();
        return {};
      },
    }),
    change: operation({
      ...declared,
      effect: 'write',
      async run(context) {
        await note(context);
        await gate.pass(context.signal);
        return {};
      },
    }),
    changeInSteps: multiStepOperation({
      ...declared,
      effect: 'write',
      async perform(work) {
        await work.write(note);
        await gate.pass(work.signal);
        await work.write(note);
        return {};
      },
    }),
    lookAndChange: multiStepOperation({
      ...declared,
      effect: 'write',
      async perform(work) {
        await gate.pass(work.signal);
        await work.write(note);
        return {};
      },
    }),
  };
}

type Listed = ReturnType<typeof operationsAt>;

for (const kind of ['sqlite', 'postgres', 'sqlite over the wire'] as const) {
  describe(`the deadline of a call, on ${kind}`, () => {
    const undo: (() => Promise<void>)[] = [];
    let database: Awaited<ReturnType<typeof openTenantDatabase>>['database'];
    let gate: Gate;
    let plane: DataPlane<Listed>;
    let operations: Listed;
    let call: Call;

    beforeEach(async () => {
      const opened = await openTenantDatabase(kind === 'postgres' ? 'postgres' : 'sqlite');
      const clock = fakeClock();
      const keyRing = parseKeyRing(generateKeyRingText());
      const { external: outside, close } = await openExternalServices({ clock, keyRing });
      undo.push(opened.close, close);
      database = opened.database;
      gate = new Gate();
      operations = operationsAt(gate);
      call = aCall();
      await changes(); // the first connection to a database takes part of a short deadline
      plane = createLocalDataPlane({ operations, database, clock, keyRing, external: outside });
      if (kind !== 'sqlite over the wire') return;
      const wire = await serveOverHttp(plane, Object.keys(operations) as (keyof Listed)[]);
      undo.push(wire.close);
      plane = createRemoteDataPlane({ operations, transport: wire.transport });
    });
    afterEach(async () => {
      gate.open();
      for (const step of undo.splice(0).toReversed()) await step();
    });

    const changes = (): Promise<number> =>
      database.read(call, async (tx) =>
        Number((await tx.get('SELECT count(*) AS n FROM outbox WHERE tenant_id = ?', [call.tenantId]))?.['n']),
      );
    const late = (name: keyof Listed, more: Partial<Call> = {}) =>
      failureOf(plane.invoke(name, { call: { ...call, timeoutMs: 200, ...more } }, {}));

    it('ends a read, which has changed nothing', async () => {
      expect(await late('look')).to.deep.equal({ code: 'DATA_PLANE_UNAVAILABLE', details: { retryAfterSeconds: 5 } });
      expect(gate.ended).to.equal(1);
    });

    it('rolls back a write, which has changed nothing and can be repeated under its key', async () => {
      expect(await late('change', { idempotency: IDEMPOTENCY })).to.have.property('code', 'DATA_PLANE_UNAVAILABLE');
      expect(await changes()).to.equal(0);
      gate.open();
      expect(await plane.invoke('change', { call: { ...call, idempotency: IDEMPOTENCY } }, {})).to.deep.equal({
        output: {},
        replayed: false,
      });
      expect(await changes()).to.equal(1);
    });

    it('ends an operation of many steps between two of them; what it committed may be all of it', async () => {
      expect(await late('changeInSteps')).to.deep.equal({
        code: 'DATA_PLANE_OUTCOME_UNKNOWN',
        details: { operationId: call.requestId },
      });
      expect(await changes()).to.equal(1);
    });

    it('ends an operation of many steps before its first change, and then nothing has changed', async () => {
      expect(await late('lookAndChange')).to.have.property('code', 'DATA_PLANE_UNAVAILABLE');
      expect(await changes()).to.equal(0);
    });

    it('ends a read when its caller disconnects, through the bound plane too', async () => {
      const going = new AbortController();
      const bound = bind(plane, call, { operations, signal: going.signal });
      const asked = failureOf(bound.look({}));
      await gate.begun;
      going.abort();
      expect(await asked).to.have.property('code', 'DATA_PLANE_UNAVAILABLE');
      await waitForEnd();
    });

    it('does not end a write when its caller disconnects, if the plane is bound', async () => {
      const going = new AbortController();
      const asked = bind(plane, call, { operations, signal: going.signal }).change({});
      await gate.begun;
      going.abort();
      gate.open();
      expect(await asked).to.deep.equal({});
      expect([await changes(), gate.ended]).to.deep.equal([1, 0]);
    });

    it('rolls back a write without a key when its caller aborts it', async () => {
      const going = new AbortController();
      const asked = failureOf(plane.invoke('change', { call, signal: going.signal }, {}));
      await gate.begun;
      going.abort();
      // Over a connection, the caller has disconnected before the outcome is known.
      expect(await asked).to.have.property(
        'code',
        kind === 'sqlite over the wire' ? 'DATA_PLANE_OUTCOME_UNKNOWN' : 'DATA_PLANE_UNAVAILABLE',
      );
      await waitForEnd();
      await database.write(call, (tx) => tx.all('SELECT 1')); // runs after the write
      expect(await changes()).to.equal(0);
    });

    it('does not end a write under a key that has begun, and a repeated request gets its answer', async () => {
      const going = new AbortController();
      const keyed = { ...call, idempotency: IDEMPOTENCY };
      const asked = plane.invoke('change', { call: keyed, signal: going.signal }, {}).then(
        () => 'done',
        () => 'unheard',
      );
      await gate.begun;
      going.abort();
      gate.open();
      expect(await asked).to.equal(kind === 'sqlite over the wire' ? 'unheard' : 'done');
      await database.write(call, (tx) => tx.all('SELECT 1'));
      expect(await plane.invoke('change', { call: keyed }, {})).to.deep.equal({ output: {}, replayed: true });
      expect([await changes(), gate.ended]).to.deep.equal([1, 0]);
    });

    it('starts nothing for a caller who has disconnected', async () => {
      for (const name of ['look', 'change', 'lookAndChange'] as const)
        expect(await failureOf(plane.invoke(name, { call, signal: AbortSignal.abort() }, {})), name).to.have.property(
          'code',
          'DATA_PLANE_UNAVAILABLE',
        );
      expect(await changes()).to.equal(0);
    });

    const waitForEnd = async (): Promise<void> => {
      while (gate.ended === 0) await new Promise(setImmediate);
    };
  });
}
