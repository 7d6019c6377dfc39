import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { HistoryEntry } from '../../data-plane-agent/plane/contract/records/history.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, PLANES, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const reported = ({ changes }: Pick<HistoryEntry, 'changes'>) =>
  Object.fromEntries(
    changes.map(({ record, recordName, field, before, after }) => [
      `${record} ${recordName}: ${field}`,
      [before, after],
    ]),
  );

describe('the history of a contract', () => {
  forEachPlane(
    (_name, makePlane) => {
      const latest = async ({ plane }: Pick<TestPlane, 'plane'>, contractId: string): Promise<HistoryEntry> => {
        const [entry] = (await plane.listHistory({ contractId, pageSize: 1 })).items;
        if (!entry) throw new Error('no event was returned');
        return entry;
      };

      it('lists the actor, time and fields of each change, in the names and units of the API', async () => {
        const t = makePlane({ controls: { draft: 'approve' } });
        const owner = newId();
        const made = await t.plane.createContract(
          aContract({
            contractNo: 'HT-9',
            quantity: 2,
            unitPrice: 50.5,
            deposit: 10,
            payments: [aLine({ period: '2026-04', amount: 12.5 })],
          }),
        );
        t.clock.advance(1_000);
        await t.as({ actor: { ...t.call.actor, kind: 'cli', id: null, name: 'operator' } }).updateContract({
          contractId: made.id,
          changes: {
            quantity: 3,
            deposit: null,
            remark: 'first',
            ownerId: owner,
            payments: [aLine({ period: '2026-04', amount: 13 })],
            workflowAllowedRoles: ['legal'],
          },
        });
        const entry = await latest(t, made.id);
        expect(entry).to.include({
          action: 'updateContract',
          at: new Date(t.clock.now()).toISOString(),
          changeCount: 7,
        });
        expect(entry.actor).to.deep.equal({ kind: 'cli', id: null, name: 'operator' });
        expect(reported(entry)).to.deep.equal({
          'contract HT-9: quantity': [2, 3],
          'contract HT-9: totalAmount': [101, 151.5],
          'contract HT-9: deposit': [10, null],
          'contract HT-9: remark': [null, 'first'],
          'contract HT-9: ownerId': [made.ownerId, owner],
          'contract HT-9: workflowAllowedRoles': [[], ['legal']],
          'payment_line 2026-04: amount': [12.5, 13],
        });
        const [, first] = (await t.plane.listHistory({ contractId: made.id })).items;
        expect(reported(first ?? entry)).to.include.keys([
          'contract HT-9: contractNo',
          'contract HT-9: totalAmount',
          'payment_line 2026-04: dueDate',
          'payment_line 2026-04: receivedAmount',
        ]);
        expect(reported(first ?? entry)['contract HT-9: unitPrice']).to.deep.equal([null, 50.5]);
        expect(
          Object.keys(reported(first ?? entry)).filter((key) =>
            /Minor|Key|otherCurrency|outstanding|stageName/.test(key),
          ),
        ).to.deep.equal([]);
      });

      it('lists changes of lines, receipts, terms, notes, invoices and tasks, each under its name', async () => {
        const t = makePlane();
        const made = await t.plane.createContract(
          aContract({
            payments: [aLine({ period: 'A' })],
            terms: [{ kind: 'other', title: 'T', note: 'N' }],
            extraNotes: [{ label: 'L', value: 'V' }],
          }),
        );
        const contractId = made.id;
        const paymentId = made.payments[0]?.id ?? '';
        await t.plane.recordReceipt({ paymentId, receivedAmount: 0.01, receivedDate: '2026-03-01' });
        expect(reported(await latest(t, contractId))).to.deep.equal({
          'payment_line A: receivedAmount': [0, 0.01],
          'payment_line A: receivedDate': [null, '2026-03-01'],
        });
        await t.plane.updateNote({ contractId, noteId: made.notes[0]?.id ?? '', value: 'W' });
        expect(reported(await latest(t, contractId))).to.deep.equal({ 'note L: value': ['V', 'W'] });
        await t.plane.updateTerm({ contractId, termId: made.terms[0]?.id ?? '', title: 'U' });
        expect(reported(await latest(t, contractId))).to.deep.equal({ 'term U: title': ['T', 'U'] });
        await t.plane.deleteTerm({ contractId, termId: made.terms[0]?.id ?? '' });
        expect(reported(await latest(t, contractId))).to.deep.equal({
          'term U: kind': ['other', null],
          'term U: title': ['U', null],
          'term U: note': ['N', null],
        });
        const task = await t.plane.addTask({ contractId, code: 'T-1', title: 'Deliver' });
        await t.plane.updateTask({ contractId, taskId: task.id, changes: { status: 'in_progress' } });
        const moved = reported(await latest(t, contractId));
        expect(moved['fulfillment_task T-1: status']).to.deep.equal(['pending', 'in_progress']);
        expect(moved['fulfillment_task T-1: startedAt']?.[1]).to.match(/^\d{4}-.*Z$/);
        await t.plane.addInvoice({
          contractId,
          invoiceNo: 'INV-1',
          invoiceAmount: 3.5,
          taxRate: 13,
          receivablePlanId: paymentId,
          status: 'issued',
        });
        const entered = reported(await latest(t, contractId));
        expect([
          entered['invoice INV-1: invoiceAmount'],
          entered['invoice INV-1: taxRate'],
          entered['invoice INV-1: receivablePlanId'],
        ]).to.deep.equal([
          [null, 3.5],
          [null, 13],
          [null, paymentId],
        ]);
      });

      it('gives amounts in their currency at that time', async () => {
        const t = makePlane();
        const made = await t.plane.createContract(
          aContract({
            quantity: 1,
            unitPrice: 1_500,
            deposit: 20.25,
            payments: [aLine({ period: 'A', amount: 1_500 })],
          }),
        );
        await t.plane.updateContract({ contractId: made.id, changes: { deposit: 20 } });
        await t.plane.updateContract({
          contractId: made.id,
          changes: { currencyCode: 'JPY', payments: [aLine({ period: 'A', amount: 700 })] },
        });
        const [moved, changed, entered] = (await t.plane.listHistory({ contractId: made.id })).items;
        if (!moved || !changed || !entered) throw new Error('three events were expected');
        const no = made.contractNo;
        expect(reported(moved)).to.include.deep.keys([`contract ${no}: currencyCode`]);
        expect(reported(moved)['payment_line A: amount']).to.deep.equal([1_500, 700]);
        expect(reported(changed)).to.deep.equal({ [`contract ${no}: deposit`]: [20.25, 20] });
        expect(reported(entered)['payment_line A: amount']).to.deep.equal([null, 1_500]);
      });

      it('masks account numbers for every caller', async () => {
        const t = makePlane();
        const made = await t.plane.createContract(
          aContract({
            payeeAccount: '6222000011020001',
            payments: [aLine({ receivedAmount: 1, receiptAccount: '6222000011020002' })],
          }),
        );
        await t.plane.updateContract({ contractId: made.id, changes: { payeeAccount: '6222000011029999' } });
        const { items } = await t.plane.listHistory({ contractId: made.id });
        expect(JSON.stringify(items)).not.to.contain('62220000');
        expect(reported(items[0] ?? { changes: [] })).to.deep.equal({
          [`contract ${made.contractNo}: payeeAccount`]: ['****0001', '****9999'],
        });
      });

      it('lists the first of many changes, and counts all', async () => {
        const t = makePlane();
        const made = await t.plane.createContract(
          aContract({ payments: Array.from({ length: 120 }, (_, i) => aLine({ period: `P${i}` })) }),
        );
        const entry = await latest(t, made.id);
        expect(entry.changes).to.have.length(200);
        expect(entry.changeCount).to.be.greaterThan(400);
      });

      it('is paginated, newest first, and found only within the scope of the contract', async () => {
        const t = makePlane();
        const made = await t.plane.createContract(aContract());
        for (let i = 0; i < 4; i++) await t.plane.updateContract({ contractId: made.id, changes: { remark: `r${i}` } });
        const page = await t.plane.listHistory({ contractId: made.id, page: 2, pageSize: 2 });
        expect([page.total, page.pageCount, page.items.map((entry) => entry.changes[0]?.after)]).to.deep.equal([
          5,
          3,
          ['r1', 'r0'],
        ]);
        expect((await t.plane.listHistory({ contractId: made.id, page: 9 })).items).to.deep.equal([]);
        const notFound = { code: 'NOT_FOUND', details: {} };
        for (const plane of [makePlane().plane, t.as({ subjectScope: [] }), t.as({ ownerScope: newId() })])
          expect(await failureOf(plane.listHistory({ contractId: made.id }))).to.deep.equal(notFound);
        expect(
          (
            await t
              .as({ ownerScope: made.ownerId, subjectScope: [made.subjectId] })
              .listHistory({ contractId: made.id })
          ).total,
        ).to.equal(5);
        await t.plane.deleteContract({ contractId: made.id });
        for (const contractId of [made.id, newId(), 'nothing'])
          expect(await failureOf(t.plane.listHistory({ contractId }))).to.deep.equal(notFound);
      });
    },
    { only: PLANES },
  );
});
