import { expect } from 'chai';
import { ALL_RIGHTS, type Call } from '../../data-plane-agent/plane/contract/call.js';
import { failureOf } from '../support/failures.js';
import { aField, fieldCommand } from '../support/fields.js';
import { aSheet, cellsOf, HARBOUR, MING, ofRows } from '../support/import-samples.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const HIDDEN_WORD = 'known to few';
const ACCOUNT = '6222020200112233445';

/** An administrator with a role that may not see the field. */
const outsider = (t: TestPlane): Pick<TestPlane, 'plane'> => ({
  plane: t.as({ actor: { ...t.call.actor, id: MING.id, roleCode: 'admin' } }),
});
const hiddenField = (t: TestPlane, more: object = {}) => aField(t, { visibleRoles: ['manager'], code: 'few', ...more });

describe('values that few members may see', () => {
  forEachPlane((_name, makePlane) => {
    it('are missing from the audit for other members, and included for those who see them', async () => {
      const t = makePlane();
      const hidden = await hiddenField(t);
      const open = await aField(t);
      const { id } = await t.plane.createContract(
        aContract({ dynamicFields: { [hidden.id]: HIDDEN_WORD, [open.id]: 'for all' } }),
      );
      await t.plane.updateContract({
        contractId: id,
        changes: { dynamicFields: { [hidden.id]: `still ${HIDDEN_WORD}` } },
      });
      const changesOf = async ({ plane }: Pick<TestPlane, 'plane'>) =>
        (await plane.listAudit({ recordId: id })).items.map(
          ({ changes }) => changes.find(({ field }) => field === 'dynamicFields')?.after ?? null,
        );
      expect(await changesOf(outsider(t))).to.deep.equal([null, { [open.id]: 'for all' }]);
      expect(await changesOf(t)).to.deep.equal([
        { [hidden.id]: `still ${HIDDEN_WORD}` },
        { [hidden.id]: HIDDEN_WORD, [open.id]: 'for all' },
      ]);
    });

    it('are converted to options, which everyone reads, only by members who see them', async () => {
      const t = makePlane();
      const hidden = await hiddenField(t);
      const { id } = await t.plane.createContract(aContract({ dynamicFields: { [hidden.id]: HIDDEN_WORD } }));
      for (const dryRun of [true, false])
        expect(
          await failureOf(fieldCommand(outsider(t), 'UpdateFieldType', { fieldId: hidden.id, type: 'select', dryRun })),
        ).to.deep.equal({ code: 'FIELD_NOT_EDITABLE', details: { fields: [hidden.id] } });
      expect((await t.plane.getContract({ contractId: id })).dynamicFields).to.deep.equal({ [hidden.id]: HIDDEN_WORD });
      expect(
        (await fieldCommand(t, 'UpdateFieldType', { fieldId: hidden.id, type: 'select' })).field.options.map(
          ({ label }) => label,
        ),
      ).to.deep.equal([HIDDEN_WORD]);
      await fieldCommand(t, 'UpdateFieldType', { fieldId: hidden.id, type: 'text' });
      const named = await fieldCommand(outsider(t), 'UpdateFieldType', {
        fieldId: hidden.id,
        type: 'select',
        options: [{ label: HIDDEN_WORD }],
      });
      expect([named.field.type, named.result], 'a caller who knows all values may send them').to.deep.equal([
        'select',
        undefined,
      ]);
    });

    it("are missing from the report and the refused rows of another member's import", async () => {
      const t = makePlane();
      const hidden = await hiddenField(t, { type: 'number' });
      const imports = [
        aSheet([{ ...cellsOf({ quantity: 'two' }), 'cf:few': HIDDEN_WORD }]),
        ofRows([
          { ...aContract({ subjectId: HARBOUR.id, ownerId: MING.id }), dynamicFields: { [hidden.id]: HIDDEN_WORD } },
        ]),
      ];
      for (const [i, input] of imports.entries()) {
        const { batchId } = await t.plane.importContracts(input);
        const occurrences = async ({ plane }: Pick<TestPlane, 'plane'>) =>
          JSON.stringify([
            await plane.getImport({ batchId: batchId ?? '' }),
            await plane.getImportErrors({ batchId: batchId ?? '' }),
          ]).split(HIDDEN_WORD).length - 1;
        expect(await occurrences(outsider(t)), `import ${i}`).to.equal(0);
        expect(await occurrences(t), `import ${i}`).to.equal(2);
      }
    });

    it('are masked in lines created by a review for members who may not see account numbers', async () => {
      const t = makePlane();
      const { id: contractId } = await t.plane.createContract(aContract());
      const { id: runId } = await t.plane.extractContract({ contractId, text: 'Contract No.: X-1' });
      await t.plane.reviewExtraction({
        runId,
        fields: [{ fieldKey: 'payments', status: 'overridden', overrideValue: [aLine({ receiptAccount: ACCOUNT })] }],
      });
      const accounts = async (changes: Partial<Call>) =>
        (await t.as(changes).getExtraction({ runId })).fields.find(({ fieldKey }) => fieldKey === 'payments')
          ?.overrideValue;
      expect(await accounts({ rights: { ...ALL_RIGHTS, sensitive: false } })).to.deep.equal([
        { ...aLine(), receiptAccount: '****3445' },
      ]);
      expect(await accounts({})).to.deep.equal([{ ...aLine(), receiptAccount: ACCOUNT }]);
    });
  });
});
