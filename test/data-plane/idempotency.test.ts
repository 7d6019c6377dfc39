import { expect } from 'chai';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { forEachPlane, PLANES, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

const keyed = (key: string, requestHash = 'h'): Pick<Call, 'idempotency'> => ({ idempotency: { key, requestHash } });
const codeOf = (error: unknown) => (isFailure(error) ? error.code : error);
const rows = async ({ database, call }: TestPlane, table: string) =>
  database.read(call, async (tx) =>
    Number((await tx.get(`SELECT count(*) AS n FROM ${table} WHERE tenant_id = ?`, [call.tenantId]))?.['n']),
  );

describe('a write with an idempotency key', () => {
  forEachPlane(
    (_name, makePlane) => {
      it('happens once: the repeated request gets the first answer without running', async () => {
        const test = makePlane();
        const input = aContract();
        const call = { ...test.call, ...keyed('k') };
        const first = await test.data.invoke('createContract', { call }, input);
        const second = await test.data.invoke('createContract', { call }, { ...input });
        expect(first.replayed).to.equal(false);
        expect(second.replayed).to.equal(true);
        expect(second.output).to.deep.equal(first.output);
        expect(await rows(test, 'contracts')).to.equal(1);
        expect(await rows(test, 'workflow_events')).to.equal(1);
      });

      it('repeats a refusal, too, even if it would now be accepted', async () => {
        const test = makePlane();
        const input = aContract();
        const existing = await test.plane.createContract(input);
        const refuse = () =>
          test
            .as(keyed('k'))
            .createContract(input)
            .catch((error: unknown) => (isFailure(error) ? [error.code, error.replayed] : error));
        expect(await refuse()).to.deep.equal(['DUPLICATE_CONTRACT_NO', false]);
        await test.plane.deleteContract({ contractId: existing.id });
        expect(await refuse()).to.deep.equal(['DUPLICATE_CONTRACT_NO', true]);
        expect(await rows(test, 'contracts')).to.equal(1);
      });

      it('does not store a validation failure: the corrected request may use the key', async () => {
        const test = makePlane();
        expect(
          await test
            .as(keyed('k'))
            .createContract(aContract({ endDate: '2020-01-01' }))
            .catch(codeOf),
        ).to.equal('INVALID_INPUT');
        expect((await test.as(keyed('k', 'corrected')).createContract(aContract())).version).to.equal(1);
      });

      it('is refused if the key comes with another request', async () => {
        const test = makePlane();
        const created = await test.as(keyed('k')).createContract(aContract());
        expect(await test.as(keyed('k', 'other')).createContract(aContract()).catch(codeOf)).to.equal(
          'IDEMPOTENCY_KEY_REUSED',
        );
        expect(await test.as(keyed('k')).deleteContract({ contractId: created.id }).catch(codeOf)).to.equal(
          'IDEMPOTENCY_KEY_REUSED',
        );
      });

      it('happens once if the same request comes many times at once', async () => {
        const test = makePlane();
        const input = aContract();
        const outcomes = await Promise.all(
          Array.from({ length: 10 }, () =>
            test
              .as(keyed('k'))
              .createContract(input)
              .then(({ id }) => id, codeOf),
          ),
        );
        const created = new Set(outcomes.filter((outcome) => outcome !== 'IDEMPOTENCY_IN_PROGRESS'));
        expect(created.size).to.equal(1);
        expect(await rows(test, 'contracts')).to.equal(1);
      });

      it('is a new one after a day', async () => {
        const test = makePlane();
        const first = await test.as(keyed('k')).createContract(aContract());
        test.clock.advance(24 * 60 * 60 * 1000);
        const second = await test.as(keyed('k', 'next day')).createContract(aContract());
        expect(second.id).not.to.equal(first.id);
      });

      it('removes expired records', async () => {
        const test = makePlane();
        for (const key of ['a', 'b', 'c']) await test.as(keyed(key)).createContract(aContract());
        test.clock.advance(24 * 60 * 60 * 1000);
        await test.as(keyed('d')).createContract(aContract());
        expect(await test.plane.removeEnded({})).to.deep.equal({ removed: 3, more: false });
        expect(await rows(test, 'idempotency_records')).to.equal(1);
      });

      it('stores its answer encrypted', async () => {
        const test = makePlane();
        await test.as(keyed('k')).createContract(aContract({ partyA: 'Unmistakable Ltd' }));
        const stored = await test.database.read(test.call, (tx) =>
          tx.all('SELECT answer FROM idempotency_records WHERE tenant_id = ?', [test.call.tenantId]),
        );
        expect(stored).to.have.length(1);
        expect(JSON.stringify(stored)).to.match(/"v1\./).and.not.contain('Unmistakable');
      });

      it('belongs to one tenant', async () => {
        const one = makePlane();
        const other = makePlane();
        const a = await one.as(keyed('k')).createContract(aContract());
        const b = await other.as(keyed('k')).createContract(aContract());
        expect(a.id).not.to.equal(b.id);
      });
    },
    { only: PLANES },
  );
});
