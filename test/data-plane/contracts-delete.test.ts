import { expect } from 'chai';
import { failureOf } from '../support/failures.js';
import { forEachPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

describe('deleting a contract', () => {
  forEachPlane((_name, makePlane) => {
    it('hides it and its lines from every operation', async () => {
      const { plane } = makePlane();
      const made = await plane.createContract(
        aContract({ remark: 'findable text', payments: [aLine({ receivedAmount: 10 })] }),
      );
      expect(await plane.deleteContract({ contractId: made.id })).to.deep.equal({ ok: true });
      const notFound = { code: 'NOT_FOUND', details: {} };
      expect(await failureOf(plane.getContract({ contractId: made.id }))).to.deep.equal(notFound);
      expect(await failureOf(plane.updateContract({ contractId: made.id, changes: { remark: 'x' } }))).to.deep.equal(
        notFound,
      );
      expect(await failureOf(plane.deleteContract({ contractId: made.id }))).to.deep.equal(notFound);
      expect(
        await failureOf(plane.recordReceipt({ paymentId: made.payments[0]?.id ?? '', receivedAmount: 11 })),
      ).to.deep.equal(notFound);
      expect((await plane.listContracts({})).total).to.equal(0);
      expect((await plane.listContracts({ q: 'findable' })).total).to.equal(0);
      expect((await plane.listPayments({ tab: 'all' })).total).to.equal(0);
    });

    it('keeps its receipts, and is recorded in one audit row', async () => {
      const { plane, database, call } = makePlane();
      const made = await plane.createContract(aContract({ payments: [aLine({ receivedAmount: 10 }), aLine()] }));
      await plane.deleteContract({ contractId: made.id });
      const rows = await database.read(call, async (tx) => ({
        receipts: await tx.all('SELECT total_minor FROM receipts WHERE tenant_id = ? AND contract_id = ?', [
          call.tenantId,
          made.id,
        ]),
        live: await tx.all(
          'SELECT id FROM payment_lines WHERE tenant_id = ? AND contract_id = ? AND deleted_at IS NULL',
          [call.tenantId, made.id],
        ),
        texts: await tx.all('SELECT contract_id FROM contract_texts WHERE tenant_id = ?', [call.tenantId]),
        audit: await tx.all('SELECT action, record_id FROM audit_log WHERE tenant_id = ? AND action = ?', [
          call.tenantId,
          'deleteContract',
        ]),
      }));
      expect(rows).to.deep.equal({
        receipts: [{ total_minor: 1_000 }],
        live: [],
        texts: [],
        audit: [{ action: 'deleteContract', record_id: made.id }],
      });
    });

    it('frees its numbers', async () => {
      const { plane } = makePlane();
      const input = aContract();
      const made = await plane.createContract(input);
      expect(await failureOf(plane.createContract(input))).to.have.property('code', 'DUPLICATE_CONTRACT_NO');
      await plane.deleteContract({ contractId: made.id });
      expect((await plane.createContract(input)).contractNo).to.equal(input.contractNo);
    });

    it('requires the control `admin` at its stage if it was signed or running, and paid', async () => {
      const t = makePlane();
      for (const stage of ['signed', 'active'] as const) {
        const admin = t.as({ controls: { [stage]: 'admin' } });
        const paid = await admin.createContract(
          aContract({ workflowStage: stage, payments: [aLine({ receivedAmount: 12.34 })] }),
        );
        const refused = { code: 'CONTRACT_HAS_MONEY', details: { receivedAmount: 12.34, currencyCode: 'CNY' } };
        expect(await failureOf(t.plane.deleteContract({ contractId: paid.id }))).to.deep.equal(refused);
        expect(
          await failureOf(t.as({ controls: { [stage]: 'sign' } }).deleteContract({ contractId: paid.id })),
        ).to.deep.equal(refused);
        expect(await admin.deleteContract({ contractId: paid.id })).to.deep.equal({ ok: true });
        const unpaid = await admin.createContract(aContract({ workflowStage: stage, payments: [aLine()] }));
        expect(await t.plane.deleteContract({ contractId: unpaid.id })).to.deep.equal({ ok: true });
      }
    });

    it("requires it also for money in another currency than the contract's", async () => {
      const t = makePlane({ controls: { signed: 'admin' } });
      const paid = await t.plane.createContract(
        aContract({ workflowStage: 'signed', payments: [aLine({ currencyCode: 'JPY', receivedAmount: 500 })] }),
      );
      expect(await failureOf(t.as({ controls: {} }).deleteContract({ contractId: paid.id }))).to.deep.equal({
        code: 'CONTRACT_HAS_MONEY',
        details: { receivedAmount: 500, currencyCode: 'JPY' },
      });
    });

    it('is refused under an outdated version', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract());
      await t.plane.updateContract({ contractId: made.id, changes: { remark: 'x' } });
      expect(await failureOf(t.as({ ifVersion: 1 }).deleteContract({ contractId: made.id }))).to.deep.equal({
        code: 'VERSION_MISMATCH',
        details: { version: 2 },
      });
      expect(await t.as({ ifVersion: 2 }).deleteContract({ contractId: made.id })).to.deep.equal({ ok: true });
    });
  });
});
