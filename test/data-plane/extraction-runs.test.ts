import { expect } from 'chai';
import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { EN_SALE } from '../domain/contracts-to-read/en-sale.js';
import { ZH_LEASE } from '../domain/contracts-to-read/zh-lease.js';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane, PLANES } from '../support/plane.js';
import { aContract } from '../support/samples.js';
import { field, NOT_FOUND, put } from '../support/extraction-runs.js';

describe('extraction runs', () => {
  forEachPlane(
    (_name, makePlane) => {
      it('read a text, store it for review, and return it unchanged later', async () => {
        const t = makePlane();
        const run = await t.plane.extractContract({ text: ZH_LEASE.text, fileName: 'lease.txt' });
        expect(run).to.deep.include({
          contractId: null,
          status: 'needs_review',
          source: { kind: 'text', fileId: null, fileName: 'lease.txt' },
          engine: { name: 'rules', version: '4' },
          createdBy: t.call.actor.id,
          warnings: [],
          reviews: [],
        });
        expect(run.overallConfidence).to.be.within(0.8, 1);
        expect(field(run, 'totalAmount')).to.include({
          label: 'Total amount',
          value: 1_020_000,
          band: 'high',
          reviewStatus: 'pending',
          overrideValue: null,
          reviewedBy: null,
        });
        expect(field(run, 'payments[1].dueDate')).to.include({ label: 'Payment 2: Due on', value: '2026-06-10' });
        expect(run.missingFields).to.include('unitPrice');
        for (const key of ['payments', 'ownerId', 'subjectId', 'archiveCode'])
          expect(run.missingFields).not.to.include(key);
        expect(await t.plane.getExtraction({ runId: run.id })).to.deep.equal(run);
        expect(field(await t.as({ language: 'zh-CN' }).getExtraction({ runId: run.id }), 'partyA')?.label).to.equal(
          '甲方',
        );
      });

      it('read either a text or a file', async () => {
        const { plane } = makePlane();
        expect(await badFields(plane.extractContract({}))).to.have.all.keys('text');
        expect(await badFields(plane.extractContract({ text: ' \n\t ' }))).to.deep.equal({ text: 'must not be empty' });
        expect(await badFields(plane.extractContract({ text: 'x', fileRef: newId() }))).to.have.all.keys('fileRef');
        expect(await badFields(plane.extractContract({ text: 'x'.repeat(200_001) }))).to.have.all.keys('text');
        for (const fileRef of [newId(), 'no-id'])
          expect(await failureOf(plane.extractContract({ fileRef }))).to.deep.equal({
            code: 'FILE_REFERENCE_INVALID',
            details: { field: 'fileRef', value: fileRef },
          });
      });

      it('for a contract in scope are visible to everyone who sees that contract', async () => {
        const t = makePlane();
        const contract = await t.plane.createContract(aContract());
        for (const contractId of [newId(), 'no-id'])
          expect(await failureOf(t.plane.extractContract({ contractId, text: 'x' }))).to.deep.equal({
            code: 'REFERENCE_INVALID',
            details: { field: 'contractId', value: contractId },
          });
        const outOfScope = t.as({ subjectScope: [] });
        expect(await failureOf(outOfScope.extractContract({ contractId: contract.id, text: 'x' }))).to.include({
          code: 'REFERENCE_INVALID',
        });
        const run = await t.plane.extractContract({ contractId: contract.id, text: EN_SALE.text });
        expect(
          (
            await t
              .as({ actor: { ...t.call.actor, id: newId() }, rights: { ...ALL_RIGHTS, admin: false } })
              .getExtraction({ runId: run.id })
          ).contractId,
        ).to.equal(contract.id);
        for (const plane of [outOfScope, t.as({ ownerScope: newId() }), t.as({ tenantId: newId() })]) {
          expect(await failureOf(plane.getExtraction({ runId: run.id }))).to.deep.equal(NOT_FOUND);
          expect(await failureOf(plane.reviewExtraction({ runId: run.id, fields: [] }))).to.deep.equal(NOT_FOUND);
        }
        for (const runId of [newId(), 'no-id'])
          expect(await failureOf(t.plane.getExtraction({ runId }))).to.deep.equal(NOT_FOUND);
        await t.plane.deleteContract({ contractId: contract.id });
        expect(await failureOf(t.plane.getExtraction({ runId: run.id }))).to.deep.equal(NOT_FOUND);
      });

      it('for no contract are visible to their creator and to administrators with unrestricted scope', async () => {
        const t = makePlane();
        const run = await t.plane.extractContract({ text: EN_SALE.text });
        const other = { actor: { ...t.call.actor, id: newId() } };
        expect((await t.as(other).getExtraction({ runId: run.id })).id).to.equal(run.id);
        for (const changes of [
          { ...other, rights: { ...ALL_RIGHTS, admin: false } },
          { ...other, subjectScope: [newId()] },
          { ...other, ownerScope: newId() },
        ]) {
          expect(await failureOf(t.as(changes).getExtraction({ runId: run.id }))).to.deep.equal(NOT_FOUND);
        }
      });

      it('mask account numbers, wherever they occur, for callers who may not see them', async () => {
        const t = makePlane();
        const plain = t.as({ rights: { ...ALL_RIGHTS, sensitive: false } });
        const run = await plain.extractContract({ text: EN_SALE.text });
        expect(JSON.stringify(run)).not.to.contain('7559 1234');
        expect(field(run, 'payeeAccount')).to.include({ value: '**** 901', rawText: '**** 901' });
        const reviewed = await plain.reviewExtraction({
          runId: run.id,
          fields: [put('payeeAccount', '4000 1111 2222')],
        });
        expect(field(reviewed, 'payeeAccount')?.overrideValue).to.equal('****2222');
        // A masked value that is sent back unchanged stands for the original value.
        await plain.reviewExtraction({ runId: run.id, fields: [put('payeeAccount', '**** 901')] });
        expect(field(await t.plane.getExtraction({ runId: run.id }), 'payeeAccount')?.overrideValue).to.equal(
          '7559 1234 5678 901',
        );
      });

      it('do not store the text, and the audit records the action without the values', async () => {
        const t = makePlane();
        const run = await t.plane.extractContract({
          text: `${EN_SALE.text}\nA word that no reading rests on: xylophonist.`,
        });
        await t.plane.reviewExtraction({
          runId: run.id,
          fields: [put('payeeAccount', '4000-secret'), { fieldKey: 'partyA', status: 'rejected' }],
        });
        const { audits, runs } = await t.database.read(t.call, async (tx) => ({
          audits: await tx.all(
            "SELECT action, changes FROM audit_log WHERE tenant_id = ? AND record_kind = 'extraction' ORDER BY id",
            [t.call.tenantId],
          ),
          runs: await tx.all('SELECT * FROM extraction_runs WHERE tenant_id = ?', [t.call.tenantId]),
        }));
        expect(audits.map(({ action }) => action)).to.deep.equal(['extractContract', 'reviewExtraction']);
        expect(JSON.stringify(audits)).not.to.match(/Shenzhen|secret|7559/);
        expect(String(audits[1]?.['changes'])).to.contain('"payeeAccount":"overridden"');
        expect(JSON.stringify(runs)).not.to.contain('xylophonist');
      });

      it('that were not applied are deleted after ninety days, a few with each new one', async () => {
        const t = makePlane();
        const old = await t.plane.extractContract({ text: 'Contract No.: A-1' });
        await t.plane.reviewExtraction({ runId: old.id, fields: [{ fieldKey: 'contractNo', status: 'accepted' }] });
        t.clock.advance(91 * 24 * 60 * 60 * 1000);
        await t.plane.extractContract({ text: 'Contract No.: A-2' });
        expect(await failureOf(t.plane.getExtraction({ runId: old.id }))).to.deep.equal(NOT_FOUND);
      });

      it('read a text once under one key', async () => {
        const t = makePlane();
        const call = { ...t.call, idempotency: { key: 'extract', requestHash: 'h' } };
        const first = await t.data.invoke('extractContract', { call }, { text: EN_SALE.text });
        expect(await t.data.invoke('extractContract', { call }, { text: EN_SALE.text })).to.deep.equal({
          output: first.output,
          replayed: true,
        });
      });
    },
    { only: PLANES },
  );
});
