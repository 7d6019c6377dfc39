import { expect } from 'chai';
import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { FieldReview } from '../../data-plane-agent/plane/contract/records/extraction.js';
import { EN_SALE } from '../domain/contracts-to-read/en-sale.js';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane, PLANES } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';
import { acceptAll, controls, field, put, withPeople } from '../support/extraction-runs.js';

describe('a review of an extraction', () => {
  forEachPlane(
    (_name, makePlane) => {
      it('is stored by field, of which the last counts, and by call with its metadata', async () => {
        const t = makePlane();
        const run = await t.plane.extractContract({ text: EN_SALE.text });
        const first = await t.plane.reviewExtraction({
          runId: run.id,
          fields: [
            { fieldKey: 'contractNo', status: 'accepted' },
            put('remark', '  by hand '),
            put('quantity', 5),
            { fieldKey: 'partyA', status: 'rejected' },
          ],
          metadata: { screen: 'one' },
        });
        expect(first).to.deep.include({ status: 'reviewed', contractId: null });
        expect(field(first, 'contractNo')).to.include({
          reviewStatus: 'accepted',
          overrideValue: null,
          reviewedBy: t.call.actor.id,
        });
        expect(field(first, 'remark'), 'not extracted, but added').to.deep.include({
          value: null,
          rawText: null,
          location: null,
          candidates: [],
          confidence: 0,
          band: 'low',
          reviewStatus: 'overridden',
          overrideValue: 'by hand',
        });
        t.clock.advance(1_000);
        const second = await t.plane.reviewExtraction({
          runId: run.id,
          fields: [{ fieldKey: 'quantity', status: 'accepted' }, put('partyA', 'One'), put('partyA', 'Two')],
        });
        expect(field(second, 'quantity')).to.include({ reviewStatus: 'accepted', overrideValue: null });
        expect(field(second, 'partyA')?.overrideValue, 'the last one of a call counts, too').to.equal('Two');
        expect(field(second, 'contractNo')?.reviewStatus).to.equal('accepted');
        expect(
          second.reviews.map(({ applied, byName, metadata, fields }) => [applied, byName, metadata, fields.length]),
        ).to.deep.equal([
          [false, 'Ming Li', null, 3],
          [false, 'Ming Li', { screen: 'one' }, 4],
        ]);
      });

      it('warns if the payment plan that it applies does not add up to the total', async () => {
        const { plane, people, subjectId } = withPeople(makePlane());
        const contract = await plane.createContract(aContract({ subjectId }));
        const differences = async (contractId: string | null, values: object) => {
          const run = await plane.extractContract({ text: 'Nothing to be read.', contractId });
          const { warnings } = await plane.reviewExtraction({
            runId: run.id,
            fields: Object.entries(values).map(([key, value]) => put(key, value)),
            applyToContract: true,
            people,
          });
          return warnings.flatMap(({ code, difference }) => (code === 'PLAN_DIFFERS_FROM_TOTAL' ? [difference] : []));
        };
        const payments = [aLine({ amount: 9_000 })];
        const { subjectId: _subject, ownerId: _owner, ...values } = aContract();
        expect(await differences(contract.id, { payments })).to.deep.equal([1_000]);
        expect(await differences(contract.id, { totalAmount: 9_000 })).to.deep.equal([]);
        expect(await differences(null, { ...values, payments })).to.deep.equal([1_000]);
      });

      it('checks values as an update of the contract would, and reports each invalid one', async () => {
        const { plane } = makePlane();
        const run = await plane.extractContract({ text: EN_SALE.text });
        const bad: readonly (readonly [review: FieldReview | object, path: string, problem: RegExp])[] = [
          [{ fieldKey: 'colour', status: 'accepted' }, 'fieldKey', /must be a field of contracts/],
          [{ fieldKey: 'payments[0].colour', status: 'rejected' }, 'fieldKey', /must be a field/],
          [{ fieldKey: 'payments[9999].amount', status: 'rejected' }, 'fieldKey', /must be a field/],
          [{ fieldKey: 'constructor', status: 'rejected' }, 'fieldKey', /must be a field/],
          [{ fieldKey: 'terms[01].note', status: 'rejected' }, 'fieldKey', /must be a field/],
          [{ fieldKey: 'partyA', status: 'overridden' }, 'overrideValue', /is required/],
          [{ fieldKey: 'partyA', status: 'accepted', overrideValue: 'x' }, 'overrideValue', /must be left out/],
          [{ fieldKey: 'projectName', status: 'accepted' }, 'status', /nothing was found/],
          [put('partyA', null), 'overrideValue', /must be a string/],
          [put('partyA', ' '), 'overrideValue', /must not be empty/],
          [put('contractNo', 'x'.repeat(101)), 'overrideValue', /at most 100/],
          [put('quantity', 2.5), 'overrideValue', /whole number/],
          [put('quantity', '2'), 'overrideValue', /whole number/],
          [put('startDate', '2026-02-30'), 'overrideValue', /calendar date/],
          [put('type', 'gift'), 'overrideValue', /one of sale, lease/],
          [put('totalAmount', 1.005), 'overrideValue', /at most 2 decimals in USD/],
          [put('payments[0].amount', -1), 'overrideValue', />= 0/],
          [put('payments[0].amount', 0.001), 'overrideValue', /at most 2 decimals in USD/],
          [put('terms[0].kind', 'odd'), 'overrideValue', /one of/],
          [
            put('payments', [{ period: 'a', dueDate: '2026-01-01', amount: 'x' }]),
            'overrideValue[0].amount',
            /must be a number/,
          ],
        ];
        for (const [review, path, problem] of bad) {
          const issues = await badFields(
            plane.reviewExtraction({
              runId: run.id,
              fields: [{ fieldKey: 'contractNo', status: 'accepted' }, review as FieldReview],
            }),
          );
          expect(Object.keys(issues), JSON.stringify(review)).to.deep.equal([`fields[1].${path}`]);
          expect(Object.values(issues)[0], JSON.stringify(review)).to.match(problem);
        }
        const several = await badFields(
          plane.reviewExtraction({ runId: run.id, fields: bad.map(([review]) => review as FieldReview) }),
        );
        expect(Object.keys(several).length).to.be.greaterThan(10);
        // With the currency in the review, the amount has other decimals.
        await plane.reviewExtraction({
          runId: run.id,
          fields: [put('currencyCode', 'KWD'), put('totalAmount', 1.005)],
        });
        expect((await plane.getExtraction({ runId: run.id })).reviews).to.have.length(1);
      });

      it('refuses members and subject companies that do not exist', async () => {
        const t = withPeople(makePlane());
        const run = await t.plane.extractContract({ text: EN_SALE.text });
        for (const key of ['ownerId', 'subjectId', 'ownerSuperiorId']) {
          for (const value of [newId(), 'no-id']) {
            expect(
              await failureOf(t.plane.reviewExtraction({ runId: run.id, fields: [put(key, value)], people: t.people })),
            ).to.deep.equal({ code: 'REFERENCE_INVALID', details: { field: 'fields[0].overrideValue', value } });
          }
        }
        await t.plane.reviewExtraction({
          runId: run.id,
          fields: [put('ownerId', t.call.actor.id), put('subjectId', t.subjectId)],
          people: t.people,
        });
      });

      it('creates a draft from a run without a contract once it is complete, and marks it extracted', async () => {
        const t = withPeople(makePlane({ controls }));
        const run = await t.plane.extractContract({ text: EN_SALE.text });
        const lacking = await failureOf(
          t.plane.reviewExtraction({ runId: run.id, fields: acceptAll(run), applyToContract: true, people: t.people }),
        );
        expect(lacking).to.deep.equal({
          code: 'EXTRACTION_INCOMPLETE',
          details: { missingFields: ['archiveCode', 'projectName'] },
        });
        expect(await t.plane.getExtraction({ runId: run.id }), 'the review was rolled back with it').to.deep.equal(run);
        const applied = await t.plane.reviewExtraction({
          runId: run.id,
          fields: [
            ...acceptAll(run, ['partyB']),
            put('partyB', 'Andes S.A.'),
            put('archiveCode', 'AR-7'),
            put('projectName', 'Chile'),
          ],
          applyToContract: true,
          people: t.people,
        });
        expect(applied).to.include({ status: 'applied' });
        expect(applied.warnings).to.deep.equal([]);
        const contract = await t.plane.getContract({ contractId: applied.contractId ?? '' });
        expect(contract).to.include({
          ...Object.fromEntries(Object.entries(EN_SALE.expected).filter(([key]) => !key.includes('['))),
          partyB: 'Andes S.A.',
          archiveCode: 'AR-7',
          ownerId: t.call.actor.id,
          subjectId: t.subjectId,
          workflowStage: 'extracted',
        });
        expect(contract.payments.map(({ period, amount }) => `${period} ${amount}`)).to.deep.equal([
          'Down payment 154500',
          'Before shipment 309000',
          'Balance after acceptance 51500',
        ]);
        expect(contract.terms.map(({ kind, title }) => `${kind} ${title}`)).to.deep.equal(EN_SALE.terms);
        const again = await t.plane.reviewExtraction({
          runId: run.id,
          fields: [put('projectName', 'Chile North')],
          applyToContract: true,
          people: t.people,
        });
        expect(again.contractId, 'the same contract').to.equal(applied.contractId);
        expect(await t.plane.getContract({ contractId: contract.id })).to.include({
          projectName: 'Chile North',
          partyB: 'Andes S.A.',
        });
      });

      it('requires the subject company if the caller has several, and reports incomplete lines and terms', async () => {
        const t = withPeople(makePlane({ controls }));
        const run = await t.plane.extractContract({ text: '合同总价：100,000元\n预付款：合同总价的30%；' });
        const people = { ...t.people, subjects: [...t.people.subjects, { id: newId(), name: 'Other' }] };
        const { code, details } = await failureOf(
          t.plane.reviewExtraction({
            runId: run.id,
            fields: [...acceptAll(run), put('terms[0].title', 'Lone')],
            applyToContract: true,
            people,
          }),
        );
        expect(code).to.equal('EXTRACTION_INCOMPLETE');
        expect((details as { missingFields: string[] }).missingFields)
          .to.include.members(['subjectId', 'contractNo', 'payments[0].dueDate', 'terms[0].kind', 'terms[0].note'])
          .and.not.include('ownerId');
      });

      it('updates the contract of the run by the same rules as a request, completely or not at all', async () => {
        const t = withPeople(makePlane({ controls }));
        const contract = await t.plane.createContract(
          aContract({ subjectId: t.subjectId, ownerId: newId(), payments: [aLine({ period: 'old' })] }),
        );
        const run = await t.plane.extractContract({ contractId: contract.id, text: EN_SALE.text });
        const pick: FieldReview[] = [
          'contractNo',
          'totalAmount',
          'currencyCode',
          'payments[0].period',
          'payments[0].dueDate',
          'payments[0].amount',
        ].map((fieldKey) => ({ fieldKey, status: 'accepted' }));
        const applied = await t.plane.reviewExtraction({
          runId: run.id,
          fields: [...pick, { fieldKey: 'partyA', status: 'rejected' }],
          applyToContract: true,
          people: t.people,
        });
        expect(applied).to.include({ status: 'applied', contractId: contract.id });
        const now = await t.plane.getContract({ contractId: contract.id });
        expect(now).to.include({
          contractNo: 'SC-2026-113',
          totalAmount: 515_000,
          currencyCode: 'USD',
          partyA: contract.partyA,
          workflowStage: 'extracted',
          ownerId: contract.ownerId,
        });
        expect(
          now.payments.map(({ period, amount }) => [period, amount]),
          'the complete plan',
        ).to.deep.equal([['Down payment', 154_500]]);

        const clash = await t.plane.createContract(aContract({ contractNo: 'TAKEN' }));
        expect(
          await failureOf(
            t.plane.reviewExtraction({
              runId: run.id,
              fields: [put('contractNo', clash.contractNo), put('partyA', 'Not this')],
              applyToContract: true,
              people: t.people,
            }),
          ),
        ).to.include({ code: 'DUPLICATE_CONTRACT_NO' });
        expect(
          await badFields(
            t.plane.reviewExtraction({
              runId: run.id,
              fields: [put('endDate', '2000-01-01')],
              applyToContract: true,
              people: t.people,
            }),
          ),
        ).to.have.all.keys('endDate');
        expect(await t.plane.getContract({ contractId: contract.id })).to.deep.equal(now);
        expect(
          field(await t.plane.getExtraction({ runId: run.id }), 'partyA')?.reviewStatus,
          'together with the review',
        ).to.equal('rejected');
      });

      it('respects locks, versions and the rights on lines', async () => {
        const t = withPeople(makePlane({ controls }));
        const contract = await t.plane.createContract(aContract({ workflowStage: 'signed', payments: [aLine()] }));
        const run = await t.plane.extractContract({ contractId: contract.id, text: EN_SALE.text });
        const review = { runId: run.id, applyToContract: true, people: t.people };
        expect(
          await failureOf(
            t.plane.reviewExtraction({
              ...review,
              fields: [{ fieldKey: 'partyA', status: 'accepted' }, put('remark', 'free')],
            }),
          ),
        ).to.deep.equal({ code: 'CONTRACT_LOCKED', details: { fields: ['partyA'] } });
        expect(
          await failureOf(t.as({ ifVersion: 7 }).reviewExtraction({ ...review, fields: [put('remark', 'free')] })),
        ).to.include({ code: 'VERSION_MISMATCH' });
        await t.as({ ifVersion: 1 }).reviewExtraction({ ...review, fields: [put('remark', 'free')] });
        expect(await t.plane.getContract({ contractId: contract.id })).to.include({
          remark: 'free',
          workflowStage: 'signed',
          version: 2,
        });
        const line = [
          put('payments[0].period', '2026-04'),
          put('payments[0].dueDate', '2026-04-30'),
          put('payments[0].amount', 1_000),
          put('payments[0].receivedAmount', 5),
        ];
        expect(
          await failureOf(
            t.as({ rights: { ...ALL_RIGHTS, paymentEntry: false } }).reviewExtraction({ ...review, fields: line }),
          ),
        ).to.deep.equal({ code: 'FORBIDDEN', details: { needs: 'payment_entry (edit)' } });
        await t.plane.reviewExtraction({ ...review, fields: line });
        expect(await t.plane.getContract({ contractId: contract.id })).to.include({ receivedAmount: 5 });
      });

      it('leaves the contract a draft without the workflow feature, or, with a warning, if the caller may not move it', async () => {
        for (const [changes, codes] of [
          [{ rights: { ...ALL_RIGHTS, workflowAutomation: false } }, []],
          [{ controls: {} }, ['NOT_MARKED_EXTRACTED']],
        ] as const) {
          const t = withPeople(makePlane({ controls, ...changes }));
          const contract = await t.plane.createContract(aContract());
          const run = await t.plane.extractContract({ contractId: contract.id, text: 'Contract No.: A-1' });
          const applied = await t.plane.reviewExtraction({
            runId: run.id,
            fields: acceptAll(run),
            applyToContract: true,
            people: t.people,
          });
          expect(applied.warnings.map(({ code }) => code)).to.deep.equal(codes);
          expect(await t.plane.getContract({ contractId: contract.id })).to.include({
            contractNo: 'A-1',
            workflowStage: 'draft',
          });
        }
      });

      it('writes custom values like an update, and shows them to members who may see them', async () => {
        const t = withPeople(makePlane({ controls }));
        const { field: margin } = await t.plane.runFieldCommand({
          type: 'CreateField',
          payload: { name: 'Margin', type: 'number', visibleRoles: ['manager'] },
        });
        const contract = await t.plane.createContract(aContract());
        const run = await t.plane.extractContract({ contractId: contract.id, text: 'Contract No.: A-1' });
        const review = (value: unknown) =>
          t.plane.reviewExtraction({
            runId: run.id,
            fields: [put('dynamicFields', { [margin.id]: value })],
            applyToContract: true,
            people: t.people,
          });
        expect(await badFields(review('much'))).to.have.all.keys(`dynamicFields.${margin.id}`);
        await review(12);
        expect((await t.plane.getContract({ contractId: contract.id })).dynamicFields).to.deep.equal({
          [margin.id]: 12,
        });
        const sales = await t
          .as({ actor: { ...t.call.actor, id: newId(), roleCode: 'sales' } })
          .getExtraction({ runId: run.id });
        expect(field(sales, 'dynamicFields')?.overrideValue).to.deep.equal({});
      });

      it('loses no value of concurrent reviews', async () => {
        const t = makePlane();
        const run = await t.plane.extractContract({ text: EN_SALE.text });
        await Promise.all(
          run.fields
            .slice(0, 10)
            .map(({ fieldKey }) =>
              t.plane.reviewExtraction({ runId: run.id, fields: [{ fieldKey, status: 'accepted' }] }),
            ),
        );
        const after = await t.plane.getExtraction({ runId: run.id });
        expect(after.fields.filter(({ reviewStatus }) => reviewStatus === 'accepted')).to.have.length(10);
        expect(after.reviews).to.have.length(10);
      });
    },
    { only: PLANES },
  );
});
