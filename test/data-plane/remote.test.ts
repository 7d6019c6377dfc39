import { expect } from 'chai';
import fc from 'fast-check';
import type { FailureCode } from '../../data-plane-agent/base/failures.js';
import { frozen } from '../../data-plane-agent/base/frozen.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { isCleanText } from '../../data-plane-agent/base/text.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import type { DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { TransportError, type Transport, type WireReply } from '../../data-plane-agent/plane/contract/wire.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATION_NAMES, OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { createRemoteDataPlane } from '../../data-plane-agent/plane/remote.js';
import { serve } from '../../data-plane-agent/plane/serve.js';
import { fakeClock } from '../support/clock.js';
import { failureOf } from '../support/failures.js';
import { aCall, openTenantDatabase } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';
import { serveOverHttp, type Disturb } from '../support/wire.js';

/** The caller who waits for ever. */
const NEVER_ABORTED = new AbortController().signal;
const IDEMPOTENCY = { key: 'first-try', requestHash: 'aa' };

describe('a remote data plane', () => {
  let local: DataPlane<Operations>;
  let close: () => Promise<void> = async () => undefined;
  const clock = fakeClock();

  before(async () => {
    const opened = await openTenantDatabase('sqlite');
    close = opened.close;
    local = createLocalDataPlane({
      operations: OPERATIONS,
      database: opened.database,
      clock,
      keyRing: parseKeyRing(generateKeyRingText()),
    });
  });
  after(() => close());

  /** Runs `work` with a remote plane whose connection `disturb` may cut, and returns what the remote side logged. */
  async function overWire<T>(
    work: (remote: DataPlane<Operations>) => Promise<T>,
    { plane = local, disturb }: { readonly plane?: DataPlane<Operations>; readonly disturb?: Disturb } = {},
  ) {
    const wire = await serveOverHttp(plane, OPERATION_NAMES, disturb);
    try {
      return {
        result: await work(createRemoteDataPlane({ operations: OPERATIONS, transport: wire.transport })),
        faults: wire.faults,
      };
    } finally {
      await wire.close();
    }
  }
  const contractsOf = async (call: Call) =>
    (await local.invoke('listContracts', { call: { ...call, idempotency: null } }, {})).output.total;

  it('returns the same bytes as the plane in process, including failures', async () => {
    await overWire(async (remote) => {
      const call = aCall();
      const made = await remote.invoke(
        'createContract',
        { call },
        aContract({
          remark: 'über 上海 \u2028 😀',
          payments: [aLine({ receivedAmount: 0.07 }), aLine({ currencyCode: 'JPY' })],
        }),
      );
      const { id } = made.output;
      const questions: (readonly [keyof Operations, unknown])[] = [
        ['getContract', { contractId: id }],
        ['getContract', { contractId: newId() }],
        ['getContract', { contractId: 5 }],
        ['getContract', { unknown: true }],
        ['listContracts', { q: 'über', sort: 'nextDueDate' }],
        ['listContracts', { sort: 'nonsense', page: 0 }],
        ['updateContract', { contractId: id, changes: { unitPrice: 0.0000001, endDate: '2000-01-01' } }],
        ['updateContract', { contractId: id, changes: { currencyCode: 'EUR' } }],
        ['createContract', aContract({ contractNo: made.output.contractNo })],
        ['createContract', aContract({ typeCode: 'none' })],
        ['getPaymentStats', {}],
      ];
      for (const [name, input] of questions) {
        const outcome = (plane: DataPlane<Operations>) =>
          plane
            .invoke(name, { call }, structuredClone(input) as never)
            .then(JSON.stringify, async (error: unknown) =>
              JSON.stringify(await failureOf(Promise.reject(error as Error))),
            );
        expect(await outcome(remote), name).to.equal(await outcome(local));
      }
    });
  });

  it('returns every contract unchanged', async () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
      .filter((sample) => sample.trim() !== '' && isCleanText(sample));
    await overWire((remote) =>
      fc.assert(
        fc.asyncProperty(
          text,
          text,
          fc.integer({ min: 0, max: 1e9 }),
          text,
          async (projectName, remark, cents, custom) => {
            const call = aCall();
            const { field } = (
              await local.invoke(
                'runFieldCommand',
                { call },
                { type: 'CreateField', payload: { name: 'Custom', type: 'text' } },
              )
            ).output;
            const input = aContract({
              projectName,
              remark,
              unitPrice: cents / 1e6,
              dynamicFields: { [field.id]: custom },
            });
            const outcome = await remote.invoke('createContract', { call }, structuredClone(input)).then(
              ({ output }) => output,
              () => undefined,
            );
            if (!outcome)
              return void expect(
                await failureOf(local.invoke('createContract', { call }, structuredClone(input))),
              ).to.have.property('code', 'INVALID_INPUT');
            const contractId = outcome.id;
            const near = await local.invoke('getContract', { call }, { contractId });
            expect(JSON.stringify(await remote.invoke('getContract', { call }, { contractId }))).to.equal(
              JSON.stringify(near),
            );
            expect(outcome).to.deep.equal(near.output);
          },
        ),
        { numRuns: 60 },
      ),
    );
  });

  it('runs a keyed write once if it is sent twice, and reports that', async () => {
    await overWire(async (remote) => {
      const call = { ...aCall(), idempotency: IDEMPOTENCY };
      const input = aContract();
      const first = await remote.invoke('createContract', { call }, structuredClone(input));
      const second = await remote.invoke('createContract', { call }, structuredClone(input));
      expect([first.replayed, second.replayed]).to.deep.equal([false, true]);
      expect(second.output).to.deep.equal(first.output);
      expect(await local.invoke('createContract', { call }, structuredClone(input))).to.deep.equal(second);
    });
  });

  it('reports an unexpected error without its details', async () => {
    const broken: DataPlane<Operations> = { invoke: () => Promise.reject(new Error('secret table name')) };
    const { result, faults } = await overWire(
      (remote) =>
        remote
          .invoke('getContract', { call: aCall() }, { contractId: newId() })
          .catch((error: unknown) => String(error)),
      { plane: broken },
    );
    expect(result).not.to.contain('secret');
    expect(faults.map(String)).to.deep.equal(['Error: secret table name']);
  });

  it('refuses an unknown operation or call before anything runs', async () => {
    const transport = serve(local, ['getContract'], () => undefined);
    expect(
      await transport({ protocol: 1, name: 'dropEverything', call: aCall(), input: {} }, { signal: NEVER_ABORTED }),
    ).to.deep.equal({
      ok: false,
      code: 'INVALID_INPUT',
      details: { issues: [{ path: 'name', problem: 'is not a known operation' }] },
      replayed: false,
    });
    const call = { ...aCall(), today: 'yesterday' };
    expect(
      await transport(
        { protocol: 1, name: 'getContract', call, input: { contractId: newId() } },
        { signal: NEVER_ABORTED },
      ),
    ).to.have.nested.property('details.issues[0].path', 'call.today');
  });

  it('ignores a request in another version of the protocol, and reports which side is older', async () => {
    const transport = serve(local, OPERATION_NAMES, () => undefined);
    const call = aCall();
    expect(
      await transport({ protocol: 2, name: 'createContract', call, input: aContract() }, { signal: NEVER_ABORTED }),
    ).to.deep.equal({ ok: false, speaks: 1 });
    const newer = createRemoteDataPlane({
      operations: OPERATIONS,
      transport: (request, options) => transport({ ...request, protocol: 2 }, options),
    });
    expect(await failureOf(newer.invoke('createContract', { call }, aContract()))).to.have.property(
      'code',
      'DATA_PLANE_UNAVAILABLE',
    );
    expect(await contractsOf(call)).to.equal(0);
  });

  describe('when replies are lost', () => {
    const cutting = (
      when: 'before' | 'after',
      times: number,
    ): { readonly disturb: Disturb; readonly seen: () => number } => {
      let seen = 0;
      return { disturb: (_request, at) => (at === when && ++seen <= times ? 'lost' : undefined), seen: () => seen };
    };

    for (const when of ['before', 'after'] as const) {
      it(`retries a read (the reply was lost ${when} it ran)`, async () => {
        const { disturb, seen } = cutting(when, 1);
        const { result } = await overWire((remote) => remote.invoke('listContracts', { call: aCall() }, {}), {
          disturb,
        });
        expect([result.output.total, seen()]).to.deep.equal([0, 2]);
      });

      it(`retries a keyed write, which runs once (the reply was lost ${when} it ran)`, async () => {
        const call = { ...aCall(), idempotency: IDEMPOTENCY };
        const { result } = await overWire((remote) => remote.invoke('createContract', { call }, aContract()), {
          disturb: cutting(when, 1).disturb,
        });
        expect(result.replayed).to.equal(when === 'after');
        expect(await contractsOf(call)).to.equal(1);
      });

      it(`does not retry a write without a key, which may have run (the reply was lost ${when} it ran)`, async () => {
        const call = aCall();
        const { disturb, seen } = cutting(when, 9);
        const { result } = await overWire(
          (remote) => failureOf(remote.invoke('createContract', { call }, aContract())),
          { disturb },
        );
        expect(result).to.deep.equal({ code: 'DATA_PLANE_OUTCOME_UNKNOWN', details: { operationId: call.requestId } });
        expect([seen(), await contractsOf(call)]).to.deep.equal([1, when === 'after' ? 1 : 0]);
      });
    }

    it('reports that nothing was changed by a read whose replies are both lost', async () => {
      const { result } = await overWire((remote) => failureOf(remote.invoke('listContracts', { call: aCall() }, {})), {
        disturb: cutting('before', 9).disturb,
      });
      expect(result).to.have.property('code', 'DATA_PLANE_UNAVAILABLE');
    });

    it('reports the key of a keyed write whose replies are both lost, for another attempt', async () => {
      const call = { ...aCall(), idempotency: IDEMPOTENCY };
      const input = aContract();
      const { result } = await overWire(
        (remote) => failureOf(remote.invoke('createContract', { call }, structuredClone(input))),
        { disturb: cutting('after', 9).disturb },
      );
      expect(result).to.deep.equal({ code: 'DATA_PLANE_OUTCOME_UNKNOWN', details: { operationId: IDEMPOTENCY.key } });
      expect((await local.invoke('createContract', { call }, structuredClone(input))).replayed).to.equal(true);
    });

    for (const [ended, answered] of [
      [5, true],
      [8, false],
    ] as const)
      it(`sends again while sessions end, within limits (${ended} sessions)`, async () => {
        const call = { ...aCall(), idempotency: IDEMPOTENCY };
        let seen = 0;
        const wire = await serveOverHttp(local, OPERATION_NAMES);
        const transport: Transport = (request, options) => {
          if (++seen > ended) return wire.transport(request, options);
          throw new TransportError('the session has ended', { nothingRan: true, sessionEnded: true });
        };
        const remote = createRemoteDataPlane({ operations: OPERATIONS, transport });
        const created = remote.invoke('createContract', { call }, aContract());
        if (answered) await created;
        else expect(await failureOf(created)).to.have.property('code', 'DATA_PLANE_UNAVAILABLE');
        expect([seen, await contractsOf(call)]).to.deep.equal(answered ? [ended + 1, 1] : [8, 0]);
        await wire.close();
      });

    describe('and the request is sent again', () => {
      const refusal = (code: FailureCode, details: object): WireReply =>
        ({ ok: false, code, details, replayed: false }) as WireReply;
      const IN_PROGRESS = refusal('IDEMPOTENCY_IN_PROGRESS', {});
      /** The first attempt runs, and its reply is lost; the next ones get these replies, and then the plane's. */
      async function afterLoss(replies: readonly WireReply[], call: Call) {
        const wire = await serveOverHttp(local, OPERATION_NAMES);
        let seen = 0;
        const transport: Transport = async (request, options) => {
          const reply = seen === 0 ? undefined : replies[seen - 1];
          seen += 1;
          if (reply) return reply;
          const answer = await wire.transport(request, options);
          if (seen === 1) throw new TransportError('the session has ended', { nothingRan: false, sessionEnded: true });
          return answer;
        };
        const remote = createRemoteDataPlane({ operations: OPERATIONS, transport });
        const asked = remote.invoke('createContract', { call }, aContract());
        const outcome = await asked.then(
          ({ replayed }) => ({ replayed }),
          (error: unknown) => failureOf(Promise.reject(error as Error)),
        );
        await wire.close();
        return { outcome, seen, total: await contractsOf(call) };
      }

      it('waits while the first attempt still runs, and returns its answer', async () => {
        const call = { ...aCall(), idempotency: IDEMPOTENCY };
        expect(await afterLoss([IN_PROGRESS, IN_PROGRESS, IN_PROGRESS], call)).to.deep.equal({
          outcome: { replayed: true },
          seen: 5,
          total: 1,
        });
      });

      it('reports that the outcome is unknown if the first attempt still runs at the deadline', async () => {
        const call = { ...aCall(), idempotency: IDEMPOTENCY, timeoutMs: 400 };
        const { outcome } = await afterLoss(
          Array.from({ length: 100 }, () => IN_PROGRESS),
          call,
        );
        expect(outcome).to.deep.equal({
          code: 'DATA_PLANE_OUTCOME_UNKNOWN',
          details: { operationId: IDEMPOTENCY.key },
        });
      });

      for (const code of ['DATA_PLANE_UNAVAILABLE', 'RATE_LIMITED', 'OVERLOADED'] as const)
        it(`does not report that nothing ran because the second attempt did not (${code})`, async () => {
          const call = { ...aCall(), idempotency: IDEMPOTENCY };
          expect(await afterLoss([refusal(code, { retryAfterSeconds: 1 })], call)).to.deep.equal({
            outcome: { code: 'DATA_PLANE_OUTCOME_UNKNOWN', details: { operationId: IDEMPOTENCY.key } },
            seen: 2,
            total: 1,
          });
        });
    });

    it('does not send again and again what was lost for another reason', async () => {
      let seen = 0;
      const transport: Transport = () => {
        seen++;
        throw new TransportError('busy', { nothingRan: true });
      };
      const remote = createRemoteDataPlane({ operations: OPERATIONS, transport });
      const refused = await failureOf(remote.invoke('listContracts', { call: aCall() }, {}));
      expect([seen, refused.code]).to.deep.equal([2, 'DATA_PLANE_UNAVAILABLE']);
    });

    it('reports that nothing ran without a listener, also for a write', async () => {
      const wire = await serveOverHttp(local, OPERATION_NAMES);
      const remote = createRemoteDataPlane({ operations: OPERATIONS, transport: wire.transport });
      await wire.close();
      expect(await failureOf(remote.invoke('createContract', { call: aCall() }, aContract()))).to.have.property(
        'code',
        'DATA_PLANE_UNAVAILABLE',
      );
    });
  });

  it('lists contracts with long texts', async () => {
    const call = aCall();
    const remark = '远航 '.repeat(3_000).trim();
    await local.invoke('createContract', { call }, aContract({ remark }));
    const { items } = (await local.invoke('listContracts', { call }, {})).output;
    expect(items[0]?.json).to.contain(remark);
    const { result } = await overWire(async (remote) =>
      (await remote.invoke('listContracts', { call }, {})).output.items.map(({ json }) => json),
    );
    expect(result).to.deep.equal(items.map(({ json }) => json));
  });

  it('refuses a contract in a list whose text is not JSON, or not of a contract', async () => {
    const call = aCall();
    await local.invoke('createContract', { call }, aContract());
    const page = (await local.invoke('listContracts', { call }, {})).output;
    for (const json of ['{"id":', '{}', (page.items[0]?.json ?? '').replace('"version":1', '"version":"1"')]) {
      const invalid: DataPlane<Operations> = {
        invoke: () =>
          Promise.resolve({
            output: { ...page, items: page.items.map((item) => ({ ...item, json })) },
            replayed: false,
          } as never),
      };
      const { result } = await overWire((remote) => failureOf(remote.invoke('listContracts', { call }, {})), {
        plane: invalid,
      });
      expect(result).to.have.property('code', 'DATA_PLANE_UNAVAILABLE');
    }
  });

  it('refuses an answer that violates the schema of the operation', async () => {
    const invalidAnswers: DataPlane<Operations> = {
      invoke: () => Promise.resolve({ output: { id: 'only this' }, replayed: false } as never),
    };
    const { result } = await overWire(
      (remote) => failureOf(remote.invoke('getContract', { call: aCall() }, { contractId: newId() })),
      { plane: invalidAnswers },
    );
    expect(result).to.have.property('code', 'DATA_PLANE_UNAVAILABLE');
  });

  it('checks an output that cannot change once for each operation, and again while it is refused', async () => {
    const call = aCall();
    const made = await local.invoke('createContract', { call }, aContract());
    const { id } = made.output;
    const output = frozen(made.output);
    const invalid = Object.freeze({ id });
    const answering = (reply: unknown) =>
      createRemoteDataPlane<Operations>({
        operations: OPERATIONS,
        transport: () => Promise.resolve({ ok: true, output: reply, replayed: false }),
      });
    const asking = { call, signal: NEVER_ABORTED };
    for (let n = 0; n < 2; n++) {
      expect((await answering(output).invoke('getContract', asking, { contractId: id })).output).to.equal(output);
      for (const refused of [
        answering(invalid).invoke('getContract', asking, { contractId: id }),
        answering(output).invoke('getPaymentStats', asking, {}),
      ])
        expect(await failureOf(refused)).to.have.property('code', 'DATA_PLANE_UNAVAILABLE');
    }
  });
});
