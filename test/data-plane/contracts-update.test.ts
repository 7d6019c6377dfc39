import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail, ContractPatch } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PayloadOf } from '../../data-plane-agent/plane/contract/records/fields.js';
import { aField } from '../support/fields.js';
import { failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

/** Creates this number of custom fields of type long text. */
async function manyTexts(
  t: TestPlane,
  count: number,
  payload: Partial<PayloadOf<'CreateField'>> = {},
): Promise<string[]> {
  const ids = [];
  for (let i = 0; i < count; i++) ids.push((await aField(t, { type: 'long_text', ...payload })).id);
  return ids;
}

describe('updating a contract', () => {
  forEachPlane((_name, makePlane) => {
    const update = (
      { plane }: Pick<TestPlane, 'plane'>,
      contract: Pick<ContractDetail, 'id'>,
      changes: ContractPatch,
    ) => plane.updateContract({ contractId: contract.id, changes });
    const auditRows = async ({ database, call }: TestPlane, id: string) =>
      database.read(call, async (tx) =>
        (
          await tx.all('SELECT action FROM audit_log WHERE tenant_id = ? AND record_id = ? ORDER BY id', [
            call.tenantId,
            id,
          ])
        ).map((row) => row['action']),
      );

    it('changes the given fields, keeps the others, and returns the contract as it is read afterwards', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(
        aContract({
          remark: 'first',
          payments: [aLine()],
          terms: [{ kind: 'delivery', title: 'Ex works', note: 'Shanghai' }],
        }),
      );
      t.clock.advance(1_000);
      const changed = await update(t, made, { projectName: 'Quay two', remark: null, status: 'completed' });
      expect(changed).to.deep.equal({
        ...made,
        projectName: 'Quay two',
        remark: null,
        status: 'completed',
        version: 2,
        updatedAt: changed.updatedAt,
      });
      expect(changed.updatedAt > made.updatedAt).to.equal(true);
      expect(await t.plane.getContract({ contractId: made.id })).to.deep.equal(changed);
    });

    it('changes neither version, time nor audit trail if the request changes nothing', async () => {
      const t = makePlane();
      const [text, blank] = [await aField(t), await aField(t)];
      const input = aContract({
        remark: 'same',
        dynamicFields: { [text.id]: 'one' },
        deposit: 5,
        terms: [{ kind: 'other', title: 'T', note: 'N' }],
        extraNotes: [{ label: 'L', value: 'V' }],
      });
      const made = await t.plane.createContract(input);
      t.clock.advance(1_000);
      expect(
        await update(t, made, {
          ...input,
          workflowStage: 'draft',
          lifecycleStageCode: 'draft',
          lifecycleTemplateId: made.lifecycleTemplateId,
          dynamicFields: { [text.id]: 'one', [blank.id]: null },
        }),
      ).to.deep.equal(made);
      expect(await update(t, made, {})).to.deep.equal(made);
      expect(await auditRows(t, made.id)).to.deep.equal(['createContract']);
    });

    it('adds one audit row', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract());
      await update(t, made, { remark: 'x', extraNotes: [{ label: 'a', value: 'b' }] });
      expect(await auditRows(t, made.id)).to.deep.equal(['createContract', 'updateContract']);
    });

    it('replaces terms and notes as a whole, and empties them with null', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(
        aContract({ terms: [{ kind: 'deposit', title: 'A', note: 'a' }], extraNotes: [{ label: 'l', value: 'v' }] }),
      );
      const changed = await update(t, made, {
        terms: [
          { kind: 'payment', title: 'B', date: '2026-05-01', note: 'b' },
          { kind: 'other', title: 'C', note: 'c' },
        ],
      });
      expect(changed.terms.map(({ kind, title, date }) => [kind, title, date])).to.deep.equal([
        ['payment', 'B', '2026-05-01'],
        ['other', 'C', null],
      ]);
      expect(changed.notes).to.deep.equal(made.notes);
      const emptied = await update(t, made, { terms: null, extraNotes: null });
      expect([emptied.terms, emptied.notes, emptied.version]).to.deep.equal([[], [], 3]);
      expect(await t.plane.getContract({ contractId: made.id })).to.deep.equal(emptied);
    });

    it('merges custom values by key; null clears one, and null for all clears all', async () => {
      const t = makePlane();
      const [a, b, c] = [await aField(t, { type: 'number' }), await aField(t), await aField(t, { type: 'boolean' })];
      const made = await t.plane.createContract(aContract({ dynamicFields: { [a.id]: 1, [b.id]: 'two' } }));
      expect((await update(t, made, { dynamicFields: { [b.id]: null, [c.id]: false } })).dynamicFields).to.deep.equal({
        [a.id]: 1,
        [c.id]: false,
      });
      expect((await update(t, made, { dynamicFields: null })).dynamicFields).to.deep.equal({});
    });

    it('refuses custom values whose total size is too large', async () => {
      const t = makePlane();
      const texts = await manyTexts(t, 27);
      const made = await t.plane.createContract(
        aContract({ dynamicFields: Object.fromEntries(texts.slice(0, 26).map((id) => [id, 'x'.repeat(10_000)])) }),
      );
      const refused = {
        code: 'INVALID_INPUT',
        details: { issues: [{ path: 'dynamicFields', problem: 'must have at most 256 KB' }] },
      };
      expect(
        await failureOf(update(t, made, { dynamicFields: { [texts[26] ?? '']: 'x'.repeat(10_000) } })),
      ).to.deep.equal(refused);
      const less = await update(t, made, {
        dynamicFields: { [texts[0] ?? '']: null, [texts[26] ?? '']: 'x'.repeat(10_000) },
      });
      expect(Object.keys(less.dynamicFields)).to.have.members(texts.slice(1));
    });

    it('accepts ten thousand characters of any script in a long text', async () => {
      const t = makePlane();
      const [id = ''] = await manyTexts(t, 1);
      for (const text of [
        '合'.repeat(6_000),
        '合'.repeat(10_000),
        '𠮷'.repeat(10_000),
        '😀'.repeat(10_000),
        'ß'.repeat(10_000),
      ]) {
        const made = await t.plane.createContract(aContract({ dynamicFields: { [id]: text } }));
        expect(made.dynamicFields[id] === text).to.equal(true);
        expect((await update(t, made, { remark: 'and stays' })).dynamicFields[id] === text).to.equal(true);
      }
      const problem = {
        code: 'INVALID_INPUT',
        details: { issues: [{ path: `dynamicFields.${id}`, problem: 'must have at most 10000 characters' }] },
      };
      for (const text of ['合'.repeat(10_001), '😀'.repeat(10_001)])
        expect(await failureOf(t.plane.createContract(aContract({ dynamicFields: { [id]: text } })))).to.deep.equal(
          problem,
        );
    });

    it('reports how much room hidden values leave', async () => {
      const t = makePlane();
      const [mine = ''] = await manyTexts(t, 1);
      const hidden = await manyTexts(t, 26, { visibleRoles: ['finance'] });
      const made = await t
        .as({ actor: { ...t.call.actor, roleCode: 'finance' } })
        .createContract(aContract({ dynamicFields: Object.fromEntries(hidden.map((id) => [id, 'x'.repeat(9_990)])) }));
      const seller = t.as({ actor: { ...t.call.actor, roleCode: 'sales' } });
      const enter = (length: number) =>
        seller.updateContract({ contractId: made.id, changes: { dynamicFields: { [mine]: 'x'.repeat(length) } } });
      const problem =
        'must have at most 1 KB on this contract: values of fields that you cannot see take up the rest of the 256 KB';
      expect(await failureOf(enter(9_000))).to.deep.equal({
        code: 'INVALID_INPUT',
        details: { issues: [{ path: 'dynamicFields', problem }] },
      });
      expect((await enter(900)).dynamicFields, 'values up to the limit are accepted').to.deep.equal({
        [mine]: 'x'.repeat(900),
      });
      expect(
        (await seller.updateContract({ contractId: made.id, changes: { remark: 'nothing of it' } })).remark,
      ).to.equal('nothing of it');
    });

    it('recomputes a computed total from quantity and price, and keeps one that was set', async () => {
      const t = makePlane();
      const computed = await t.plane.createContract(aContract({ quantity: 2, unitPrice: 10.5 }));
      expect((await update(t, computed, { quantity: 3 })).totalAmount).to.equal(31.5);
      const set = await t.plane.createContract(aContract({ quantity: 2, unitPrice: 10, totalAmount: 15 }));
      const kept = await update(t, set, { unitPrice: 20 });
      expect([kept.totalAmount, kept.computedAmount, kept.amountDifference]).to.deep.equal([15, 40, -25]);
      expect((await update(t, set, { totalAmount: null })).totalAmount).to.equal(40);
    });

    it('refuses an end before the start, whichever of the two changes', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract({ startDate: '2026-02-01', endDate: '2026-03-01' }));
      for (const changes of [{ startDate: '2026-03-02' }, { endDate: '2026-01-31' }]) {
        expect(await failureOf(update(t, made, changes))).to.deep.equal({
          code: 'INVALID_INPUT',
          details: { issues: [{ path: 'endDate', problem: 'must not be before startDate' }] },
        });
      }
      expect((await update(t, made, { startDate: '2026-04-01', endDate: '2026-04-01' })).startDate).to.equal(
        '2026-04-01',
      );
    });

    it('refuses a number of another contract in any case, but accepts another case of its own', async () => {
      const t = makePlane();
      await t.plane.createContract(aContract({ contractNo: 'HT-One', archiveCode: 'AR-One' }));
      const second = await t.plane.createContract(aContract({ contractNo: 'HT-Two', archiveCode: 'AR-Two' }));
      expect(await failureOf(update(t, second, { contractNo: 'ht-ONE' }))).to.deep.equal({
        code: 'DUPLICATE_CONTRACT_NO',
        details: { contractNo: 'ht-ONE' },
      });
      expect(await failureOf(update(t, second, { archiveCode: 'ar-one' }))).to.deep.equal({
        code: 'DUPLICATE_ARCHIVE_CODE',
        details: { archiveCode: 'ar-one' },
      });
      expect((await update(t, second, { contractNo: 'ht-two' })).contractNo).to.equal('ht-two');
    });

    it('accepts one of two concurrent requests for the same number, and refuses the other with its field', async () => {
      const t = makePlane();
      const made = await Promise.all([t.plane.createContract(aContract()), t.plane.createContract(aContract())]);
      const outcomes = await Promise.allSettled(made.map((contract) => update(t, contract, { contractNo: 'WANTED' })));
      expect(outcomes.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
      const lost = outcomes.find((outcome) => outcome.status === 'rejected');
      expect(lost?.reason).to.have.property('code', 'DUPLICATE_CONTRACT_NO');
    });

    it('counts all parallel changes of one contract', async () => {
      const t = makePlane();
      const fields: string[] = [];
      for (let i = 0; i < 20; i++) fields.push((await aField(t, { type: 'number' })).id);
      const made = await t.plane.createContract(aContract());
      await Promise.all(fields.map((id, i) => update(t, made, { dynamicFields: { [id]: i } })));
      const after = await t.plane.getContract({ contractId: made.id });
      expect([after.version, Object.keys(after.dynamicFields).length]).to.deep.equal([21, 20]);
    });

    it('updates the text that the search finds', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract({ remark: 'yellow crane 黄鹤楼' }));
      await update(t, made, { remark: 'BLUE crane 蓝鲸号' });
      expect((await t.plane.listContracts({ q: '黄鹤楼' })).total).to.equal(0);
      expect((await t.plane.listContracts({ q: 'blue CRANE 蓝鲸' })).items.map(({ id }) => id)).to.deep.equal([
        made.id,
      ]);
    });

    describe('currency', () => {
      it("keeps the number of every amount, including those of lines in the contract's currency", async () => {
        const t = makePlane();
        const made = await t.plane.createContract(
          aContract({
            quantity: 2,
            unitPrice: 50,
            deposit: 30,
            periodicRent: null,
            payments: [aLine({ amount: 100 }), aLine({ amount: 7.5, currencyCode: 'EUR' })],
          }),
        );
        const yen = await update(t, made, { currencyCode: 'JPY' });
        expect([yen.totalAmount, yen.deposit, yen.receivableAmount]).to.deep.equal([100, 30, 100]);
        expect(yen.payments.map(({ amount, currencyCode }) => [amount, currencyCode])).to.deep.equal([
          [100, 'JPY'],
          [7.5, 'EUR'],
        ]);
        const dinar = await update(t, made, { currencyCode: 'KWD' });
        expect([dinar.totalAmount, dinar.deposit, dinar.payments[0]?.amount]).to.deep.equal([100, 30, 100]);
        expect((await update(t, made, { currencyCode: null })).currencyCode).to.equal('CNY');
      });

      it('reports an amount with more decimals than the new currency has', async () => {
        const t = makePlane();
        const made = await t.plane.createContract(
          aContract({
            quantity: 1,
            unitPrice: 10.4,
            totalAmount: 9.99,
            deposit: 1.5,
            payments: [aLine({ amount: 3 }), aLine({ amount: 2.25 })],
          }),
        );
        const problem = 'must have at most 0 decimals in JPY';
        expect(await failureOf(update(t, made, { currencyCode: 'JPY' }))).to.deep.equal({
          code: 'INVALID_INPUT',
          details: { issues: ['totalAmount', 'deposit', 'payments[1].amount'].map((path) => ({ path, problem })) },
        });
        expect((await t.plane.getContract({ contractId: made.id })).version).to.equal(1);
      });

      it('is refused after money was received or while an invoice is issued', async () => {
        const t = makePlane();
        const paid = await t.plane.createContract(aContract({ payments: [aLine({ receivedAmount: 1 })] }));
        const invoiced = await t.plane.createContract(
          aContract({ payments: [aLine({ invoiceNo: 'F-1', invoiceAmount: 10 })] }),
        );
        for (const contract of [paid, invoiced]) {
          expect(await failureOf(update(t, contract, { currencyCode: 'EUR' }))).to.deep.equal({
            code: 'CURRENCY_FIXED',
            details: { currencyCode: 'CNY' },
          });
          expect((await update(t, contract, { currencyCode: 'cny' })).version).to.equal(1);
        }
      });

      it('is refused even if the money was taken back', async () => {
        const t = makePlane();
        const made = await t.plane.createContract(aContract({ payments: [aLine({ receivedAmount: 1 })] }));
        await t.plane.recordReceipt({ paymentId: made.payments[0]?.id ?? '', receivedAmount: 0 });
        expect(await failureOf(update(t, made, { currencyCode: 'EUR' }))).to.have.property('code', 'CURRENCY_FIXED');
      });
    });

    describe('a locked contract', () => {
      const locked = async () => {
        const t = makePlane({ controls: { active: 'admin' } });
        const input = aContract({
          workflowStage: 'active',
          unitPrice: 0.1,
          quantity: 3,
          deposit: 1,
          payments: [aLine()],
          terms: [{ kind: 'other', title: 'T', note: 'N' }],
        });
        return { t, input, made: await t.plane.createContract(input) };
      };

      it('refuses other values of core fields, and lists them', async () => {
        const { t, made } = await locked();
        expect(made.locked).to.equal(true);
        const changes: ContractPatch = {
          partyA: 'Other',
          quantity: 4,
          deposit: null,
          terms: [],
          endDate: made.endDate,
          remark: 'free',
        };
        expect(await failureOf(update(t, made, changes))).to.deep.equal({
          code: 'CONTRACT_LOCKED',
          details: { fields: ['partyA', 'quantity', 'deposit', 'terms'] },
        });
      });

      it('accepts the same values, and changes of unprotected fields', async () => {
        const { t, made, input } = await locked();
        const { payments: _, ...same } = input;
        const superior = newId();
        const { id } = await aField(t);
        const changed = await update(t, made, {
          ...same,
          remark: 'noted',
          ownerSuperiorId: superior,
          status: 'completed',
          extraNotes: [{ label: 'a', value: 'b' }],
          dynamicFields: { [id]: 'x' },
        });
        expect([
          changed.remark,
          changed.ownerSuperiorId,
          changed.status,
          changed.notes.length,
          changed.version,
        ]).to.deep.equal(['noted', superior, 'completed', 1, 2]);
      });
    });

    it('changes the stage and the template by transitions only', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract());
      const refused: [ContractPatch, string, string][] = [
        [{ workflowStage: 'signed' }, 'workflowStage', 'draft'],
        [{ lifecycleStageCode: 'review' }, 'lifecycleStageCode', 'draft'],
        [{ lifecycleTemplateId: newId() }, 'lifecycleTemplateId', made.lifecycleTemplateId],
      ];
      for (const [changes, field, from] of refused) {
        const to = Object.values(changes)[0];
        expect(await failureOf(update(t, made, changes))).to.deep.equal({
          code: 'INVALID_TRANSITION',
          details: { field, from, to, allowed: [] },
        });
      }
    });

    it('requires an existing type code, and keeps the type with it', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract({ type: 'sale' }));
      expect(await failureOf(update(t, made, { typeCode: 'barter' }))).to.deep.equal({
        code: 'REFERENCE_INVALID',
        details: { field: 'typeCode', value: 'barter' },
      });
      const leased = await update(t, made, { typeCode: 'lease' });
      expect([leased.typeCode, leased.type]).to.deep.equal(['lease', 'sale']);
      expect((await update(t, made, { type: null })).type).to.equal('lease');
    });

    it('refuses invalid ids, and files that do not exist', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract());
      for (const field of ['subjectId', 'ownerId', 'ownerSuperiorId'] as const) {
        expect(await failureOf(update(t, made, { [field]: 'nobody' }))).to.deep.equal({
          code: 'REFERENCE_INVALID',
          details: { field, value: 'nobody' },
        });
      }
      expect(await failureOf(update(t, made, { contractAttachment: 'nothing' }))).to.deep.equal({
        code: 'FILE_REFERENCE_INVALID',
        details: { field: 'contractAttachment', value: 'nothing' },
      });
    });

    it('refuses an outdated version', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract());
      await update({ plane: t.as({ ifVersion: 1 }) }, made, { remark: 'second' });
      expect(await failureOf(update({ plane: t.as({ ifVersion: 1 }) }, made, { remark: 'third' }))).to.deep.equal({
        code: 'VERSION_MISMATCH',
        details: { version: 2 },
      });
      expect((await update({ plane: t.as({ ifVersion: 2 }) }, made, { remark: 'third' })).version).to.equal(3);
    });

    it('refuses to clear a required field', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract());
      const changes = { partyA: null, quantity: null } as unknown as ContractPatch; // a request that violates the schema
      expect(await failureOf(update(t, made, changes))).to.deep.equal({
        code: 'INVALID_INPUT',
        details: {
          issues: [
            { path: 'changes.partyA', problem: 'must be a string' },
            { path: 'changes.quantity', problem: 'must be a whole number' },
          ],
        },
      });
    });
  });
});
