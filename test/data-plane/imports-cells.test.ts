import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import { WORKFLOW_STAGES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { aField } from '../support/fields.js';
import {
  aSheet,
  cellsOf,
  faultsOf,
  HARBOUR,
  LEAVER,
  MING,
  ofCsv,
  ofRows,
  YUANHANG,
} from '../support/import-samples.js';
import { forEachPlane, listedContracts, PLANES } from '../support/plane.js';
import { aContract } from '../support/samples.js';

const IDS = { subjectId: HARBOUR.id, ownerId: MING.id };

describe('an import', () => {
  forEachPlane(
    (_name, makePlane) => {
      it("finds subject companies, members and templates by name, address and code, also if the ids are another organisation's", async () => {
        const test = makePlane();
        const report = await test.plane.importContracts(
          aSheet([
            cellsOf({
              subjectName: ' 远航租赁有限公司 ',
              ownerEmail: 'MING@harbour.test',
              lifecycleTemplateCode: 'standard',
            }),
            cellsOf({
              subjectId: newId(),
              ownerId: newId(),
              lifecycleTemplateId: newId(),
              lifecycleTemplateCode: 'standard',
            }),
            cellsOf({ subjectId: YUANHANG.name, subjectName: 'nobody', ownerId: MING.email, ownerEmail: null }),
            cellsOf({
              subjectName: 'nobody',
              ownerEmail: LEAVER.email,
              ownerSuperiorEmail: 'ghost@harbour.test',
              lifecycleTemplateCode: 'none',
            }),
            cellsOf({ subjectName: null, ownerEmail: null }),
          ]),
        );
        expect(faultsOf(report)).to.have.members([
          '5 subjectName REFERENCE_INVALID',
          '5 ownerEmail REFERENCE_INVALID',
          '5 ownerSuperiorEmail REFERENCE_INVALID',
          '5 lifecycleTemplateCode REFERENCE_INVALID',
          '6 subjectId INVALID_INPUT',
          '6 ownerId INVALID_INPUT',
        ]);
        expect(report.rows[3]?.errors?.find(({ field }) => field === 'ownerEmail')).to.include({
          message: 'ownerEmail is not an active member',
          value: LEAVER.email,
        });
        expect((await listedContracts(test.plane, { subjectId: YUANHANG.id })).total).to.equal(2);
        const rows = await test.plane.importContracts(
          ofRows([
            aContract({
              subjectId: YUANHANG.name,
              ownerId: MING.email,
              ownerSuperiorId: MING.email,
              lifecycleTemplateId: 'standard',
            }),
            aContract({ subjectId: 'nobody', ownerId: newId() }),
          ]),
        );
        expect(faultsOf(rows)).to.deep.equal(['2 subjectId REFERENCE_INVALID', '2 ownerId REFERENCE_INVALID']);
      });

      it("recognises the organisation's roles, if it receives them", async () => {
        const { plane } = makePlane({ controls: { draft: 'approve' } });
        const allowed = (...workflowAllowedRoles: unknown[]) =>
          aContract({ ...IDS, workflowAllowedRoles: workflowAllowedRoles as string[] }); // a request that violates the types
        const input = {
          ...ofRows([allowed('sales', ' legal '), allowed('sales', 'pirate', 'Sales'), allowed(7, ' '), allowed()]),
          roleCodes: ['sales', 'legal'],
        };
        const report = await plane.importContracts(input);
        expect(faultsOf(report)).to.deep.equal([
          '2 workflowAllowedRoles[1] REFERENCE_INVALID',
          '2 workflowAllowedRoles[2] REFERENCE_INVALID',
          '3 workflowAllowedRoles[0] INVALID_INPUT',
          '3 workflowAllowedRoles[1] INVALID_INPUT',
        ]);
        expect(report.rows[1]?.errors?.[0]).to.include({
          message: 'workflowAllowedRoles[1] is not the code of a role',
          value: 'pirate',
        });
        const sheet = await plane.previewImport({
          ...aSheet([cellsOf({ workflowAllowedRoles: '["sales"]' }), cellsOf({ workflowAllowedRoles: '["pirate"]' })]),
          roleCodes: ['sales'],
        });
        expect(faultsOf(sheet)).to.deep.equal(['3 workflowAllowedRoles[0] REFERENCE_INVALID']);
        expect((await plane.previewImport(ofRows([allowed('pirate')]))).created).to.equal(1);
      });

      it('checks each entry of a list separately, and quotes the invalid value', async () => {
        const { plane } = makePlane();
        const report = await plane.importContracts(
          ofRows([
            aContract(IDS),
            {},
            {
              ...aContract(IDS),
              quantity: '2',
              remark: 'x'.repeat(10_001),
              payments: [{ period: '1', dueDate: '2026-02-30', amount: 1 }, {}],
            },
            { ...aContract(IDS), terms: 'none', dynamicFields: { x: 1 } },
          ]),
        );
        expect(report).to.include({ created: 1, failed: 3 });
        expect(report.rows[1]?.errors).to.have.length(14);
        expect(faultsOf(report).filter((fault) => fault.startsWith('3'))).to.have.members([
          '3 quantity INVALID_INPUT',
          '3 remark INVALID_INPUT',
          '3 payments[0].dueDate INVALID_INPUT',
          '3 payments[1].period INVALID_INPUT',
          '3 payments[1].dueDate INVALID_INPUT',
          '3 payments[1].amount INVALID_INPUT',
        ]);
        const remark = report.rows[2]?.errors?.find(({ field }) => field === 'remark');
        expect(remark?.value).to.equal('x'.repeat(100));
        expect(report.rows[2]?.errors?.find(({ field }) => field === 'payments[0].dueDate')).to.include({
          value: '2026-02-30',
        });
        expect(faultsOf(report).filter((fault) => fault.startsWith('4'))).to.include('4 terms INVALID_INPUT');
      });

      it('refuses money without its right, a later stage without control, and a masked account number', async () => {
        const test = makePlane();
        const withoutMoney = test.as({
          rights: { ...ALL_RIGHTS, paymentEntry: false, invoice: false, sensitive: false },
        });
        const line = { 'line.period': '1', 'line.dueDate': '2026-02-01', 'line.amount': 10 };
        const report = await withoutMoney.importContracts(
          aSheet([
            cellsOf({ ...line, 'line.receivedAmount': 0, 'line.reconciliationStatus': 'pending' }),
            cellsOf({ ...line, 'line.receivedAmount': 5, 'line.invoiceNo': 'F-9' }),
            cellsOf({ workflowStage: 'active' }),
            cellsOf({ payeeAccount: '****1234' }),
            cellsOf({ payeeAccount: `6222 0212 3456 7890 ${'9'.repeat(600)}` }),
          ]),
        );
        expect(faultsOf(report)).to.deep.equal([
          '3 line.receivedAmount FORBIDDEN',
          '3 line.invoiceNo FORBIDDEN',
          '4 workflowStage WORKFLOW_CONTROL_REQUIRED',
          '5 payeeAccount INVALID_INPUT',
          '6 payeeAccount INVALID_INPUT',
        ]);
        expect(report.rows[1]?.errors?.[0]).to.include({
          message: 'line.receivedAmount needs payment_entry (edit), which your role lacks',
          value: '5',
        });
        expect(report.rows[4]?.errors?.[0]?.value, 'an account number').to.equal('****9999');
        const administrator = test.as({
          controls: Object.fromEntries(WORKFLOW_STAGES.map((stage) => [stage, 'admin'])),
        });
        const running = await administrator.importContracts(
          aSheet([
            cellsOf({
              workflowStage: 'active',
              'line.period': '1',
              'line.dueDate': '2026-02-01',
              'line.amount': 10,
              'line.receivedAmount': 4,
            }),
          ]),
        );
        expect(running).to.include({ created: 1, failed: 0 });
      });

      it('fills custom fields by code or name, as far as the caller sees and may write them', async () => {
        const test = makePlane();
        const note = await aField(test, { name: 'Gate', code: 'gate' });
        const weight = await aField(test, { name: 'Weight', code: 'weight', type: 'number' });
        const fixed = await aField(test, { name: 'Fixed', code: 'fixed', editableRoles: ['admin'] });
        await aField(test, { name: 'Secret', code: 'secret', visibleRoles: ['admin'] });
        const report = await test.plane.importContracts(
          aSheet([
            cellsOf({ 'CF:GATE': '=4', weight: '1,234.5', 'cf:secret': 'x' }),
            cellsOf({ weight: 'heavy' }),
            cellsOf({ 'cf:fixed': 'y' }),
          ]),
        );
        expect(report.unknownColumns).to.deep.equal(['cf:secret']);
        expect(faultsOf(report)).to.deep.equal(['3 cf:weight INVALID_INPUT', '4 cf:fixed FIELD_NOT_EDITABLE']);
        expect(
          (await test.plane.getContract({ contractId: report.rows[0]?.contractId ?? '' })).dynamicFields,
        ).to.deep.equal({ [note.id]: '=4', [weight.id]: 1234.5 });
        const rows = await test.plane.importContracts(
          ofRows([
            aContract({ ...IDS, dynamicFields: { [fixed.id]: 'y' } }),
            aContract({ ...IDS, dynamicFields: { [newId()]: 'y' } }),
          ]),
        );
        expect(rows.rows.map(({ errors }) => errors?.map(({ code }) => code))).to.deep.equal([
          ['FIELD_NOT_EDITABLE'],
          ['INVALID_INPUT'],
        ]);
        const { csv } = await test.plane.getImportTemplate({});
        expect(csv)
          .to.contain(',cf:gate,')
          .and.contain(',cf:weight,')
          .and.not.contain('secret')
          .and.not.contain('cf:fixed');
      });

      it('refuses cells whose value would be lost or altered', async () => {
        const { plane } = makePlane();
        const validRow = cellsOf();
        const header = Object.keys(validRow);
        const row = (changes: Record<string, string> = {}, more = '') =>
          header.map((name) => `"${String(changes[name] ?? cellsOf(changes)[name])}"`).join(',') + more;
        const report = await plane.importContracts(
          await ofCsv(
            [
              header.join(','),
              row({}, ',stray'),
              row({ projectName: '#REF!' }),
              row({ projectName: "'=SUM(A1)" }),
              row({ projectName: "''=x" }),
            ].join('\n'),
          ),
        );
        expect(faultsOf(report)).to.deep.equal(['2 - INVALID_INPUT', '3 projectName INVALID_INPUT']);
        expect(report.rows[0]?.errors?.[0]?.message).to.equal('the cell in column 15 has no header');
        expect(
          (await listedContracts(plane, { sort: 'contractNo' })).items.map(({ projectName }) => projectName),
        ).to.have.members(['=SUM(A1)', "'=x"]);
      });
    },
    { only: PLANES },
  );
});
