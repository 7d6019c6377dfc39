import { expect } from 'chai';
import type { OperationList } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Warning } from '../../data-plane-agent/plane/contract/records/common.js';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import type { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { aSheet, cellsOf, HARBOUR, MING, ofRows, PEOPLE } from '../support/import-samples.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

const paid = (bankSerialNo: string, changes: Partial<PaymentLineInput> = {}): PaymentLineInput =>
  aLine({ receivedAmount: 5, bankSerialNo, ...changes });
const IDS = { subjectId: HARBOUR.id, ownerId: MING.id };

/** The warning for a transfer that other lines refer to. */
const reused = (warnings: readonly Warning[] | undefined) =>
  (warnings ?? []).filter(({ code }) => code === 'BANK_SERIAL_REUSED').map(({ paymentIds }) => paymentIds);

interface Given extends TestPlane {
  /** An unpaid contract, and its line. */
  readonly contractId: string;
  readonly paymentId: string;
}

/** Every operation that can set the transfer `T-1` on a line, with the warnings that it returns. */
const WAYS: Readonly<Record<string, (given: Given) => Promise<readonly Warning[] | undefined>>> = {
  'a new contract': async ({ plane }) => (await plane.createContract(aContract({ payments: [paid('T-1')] }))).warnings,
  'a plan in a change of a contract': async ({ plane, contractId }) =>
    (await plane.updateContract({ contractId, changes: { payments: [paid('T-1')] } })).warnings,
  'a new line': async ({ plane, contractId }) =>
    (await plane.addPaymentLine({ contractId, ...paid('T-1', { period: 'new' }) })).warnings,
  'a changed line': async ({ plane, paymentId }) =>
    (await plane.updatePaymentLine({ paymentId, receivedAmount: 5, bankSerialNo: 'T-1' })).warnings,
  'a receipt': async ({ plane, paymentId }) =>
    (await plane.recordReceipt({ paymentId, receivedAmount: 5, bankSerialNo: 'T-1' })).warnings,
  'an added receipt': async ({ plane, paymentId }) =>
    (await plane.addReceipt({ paymentId, amount: 5, bankSerialNo: 'T-1' })).warnings,
  'an imported list of contracts': async ({ plane }) =>
    (await plane.importContracts(ofRows([aContract({ ...IDS, payments: [paid('T-1')] })]))).rows[0]?.warnings,
  'an imported sheet': async ({ plane }) => (await plane.importContracts(aSheet([sheetRow('T-1')]))).rows[0]?.warnings,
  'the stored report of an import': async ({ plane }) =>
    (await plane.getImport({ batchId: (await plane.importContracts(aSheet([sheetRow('T-1')]))).batchId ?? '' })).rows[0]
      ?.warnings,
  'the preview of an import': async ({ plane }) =>
    (await plane.previewImport(aSheet([sheetRow('T-1')]))).rows[0]?.warnings,
  'a review of an extraction that creates a contract': async ({ plane }) => {
    const { id } = await plane.extractContract({ text: 'Nothing to be read.' });
    const put = Object.entries({ ...aContract(IDS), payments: [paid('T-1')] }).map(([fieldKey, overrideValue]) => ({
      fieldKey,
      status: 'overridden' as const,
      overrideValue,
    }));
    return (await plane.reviewExtraction({ runId: id, fields: put, applyToContract: true, people: PEOPLE })).warnings;
  },
  'a review of an extraction for an existing contract': async ({ plane, contractId }) => {
    const { id } = await plane.extractContract({ text: 'Nothing to be read.', contractId });
    return (
      await plane.reviewExtraction({
        runId: id,
        fields: [{ fieldKey: 'payments', status: 'overridden', overrideValue: [paid('T-1')] }],
        applyToContract: true,
        people: PEOPLE,
      })
    ).warnings;
  },
};

const sheetRow = (bankSerialNo: string) =>
  cellsOf({
    'line.period': 'all',
    'line.dueDate': '2026-05-01',
    'line.amount': 7,
    'line.receivedAmount': 5,
    'line.bankSerialNo': bankSerialNo,
  });
const reported = ({ rows }: ImportReport) => rows.map(({ row, warnings }) => [row, ...reused(warnings)]);

describe('a bank transfer that other lines refer to', () => {
  it('can be set by exactly these operations; sheets and reviews encode it differently', () => {
    const naming = Object.entries(OPERATIONS as OperationList).filter(([, { input }]) =>
      JSON.stringify(input).includes('"bankSerialNo"'),
    );
    expect(naming.map(([name]) => name)).to.have.members([
      'createContract',
      'updateContract',
      'addPaymentLine',
      'updatePaymentLine',
      'recordReceipt',
      'addReceipt',
      'importContracts',
      'previewImport',
    ]);
  });

  forEachPlane((_name, makePlane) => {
    const given = async (): Promise<Given> => {
      const test = makePlane();
      const {
        id,
        payments: [line],
      } = await test.plane.createContract(aContract({ payments: [aLine()] }));
      return { ...test, contractId: id, paymentId: line?.id ?? '' };
    };

    for (const [way, come] of Object.entries(WAYS)) {
      it(`is reported by ${way}, with the lines, unless it is the first`, async () => {
        expect(reused(await come(await given()))).to.deep.equal([]);
        const test = await given();
        const {
          payments: [other],
        } = await test.plane.createContract(aContract({ payments: [paid('T-1')] }));
        expect(reused(await come(test))).to.deep.equal([[other?.id]]);
      });
    }

    it('is reported for a contract that is restored from the trash, if other lines refer to it by then', async () => {
      const { plane } = makePlane();
      const deleted = await plane.createContract(
        aContract({ payments: [paid('T-1', { period: 'A' }), paid('T-1', { period: 'B' })] }),
      );
      await plane.deleteContract({ contractId: deleted.id });
      expect(
        reused((await plane.restoreContract({ contractId: deleted.id })).warnings),
        'its own lines are not reported',
      ).to.deep.equal([]);
      await plane.deleteContract({ contractId: deleted.id });
      const {
        payments: [other],
        warnings,
      } = await plane.createContract(aContract({ payments: [paid('T-1')] }));
      expect(reused(warnings), 'deleted lines are not reported').to.deep.equal([]);
      expect(reused((await plane.restoreContract({ contractId: deleted.id })).warnings)).to.deep.equal([[other?.id]]);
    });

    it('is reported for every import row that refers to it, and by a preview without lines that do not exist', async () => {
      const { plane } = makePlane();
      const sheet = aSheet([sheetRow('T-1'), sheetRow('T-2'), sheetRow('T-1'), sheetRow('T-3')]);
      const {
        payments: [there],
      } = await plane.createContract(aContract({ payments: [paid('T-3')] }));
      expect(reported(await plane.previewImport(sheet))).to.deep.equal([
        [2, undefined],
        [3],
        [4, undefined],
        [5, [there?.id]],
      ]);
      const report = await plane.importContracts(sheet);
      const lineOf = async (row: number) =>
        (await plane.getContract({ contractId: report.rows[row]?.contractId ?? '' })).payments[0]?.id;
      expect(reported(report)).to.deep.equal([[2, [await lineOf(2)]], [3], [4, [await lineOf(0)]], [5, [there?.id]]]);
    });

    it('is reported for the row of its line if a contract has several', async () => {
      const { plane } = makePlane();
      await plane.createContract(aContract({ payments: [paid('T-1')] }));
      const first = sheetRow('T-9');
      expect(
        reported(
          await plane.importContracts(aSheet([first, { ...first, 'line.period': 'rest', 'line.bankSerialNo': 'T-1' }])),
        ).map(([row, ids]) => [row, Boolean(ids)]),
      ).to.deep.equal([
        [2, false],
        [3, true],
      ]);
    });

    it('is not reported if the caller may not see the other lines', async () => {
      const test = makePlane();
      await test.plane.createContract(aContract({ payments: [paid('T-1')] }));
      const mine = aContract({ payments: [paid('T-1')] });
      expect(reused((await test.as({ subjectScope: [mine.subjectId] }).createContract(mine)).warnings)).to.deep.equal(
        [],
      );
    });
  });
});
