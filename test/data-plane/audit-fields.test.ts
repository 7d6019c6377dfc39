import { expect } from 'chai';
import { aField } from '../support/fields.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';

/** By record, in alphabetical order. */
const EXPECTED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  contract: [
    'allowedRoles',
    'archiveCode',
    'computedMinor',
    'contractNo',
    'currencyCode',
    'deletedAt',
    'depositMinor',
    'dynamicFields',
    'endDate',
    'equipmentModel',
    'equipmentName',
    'invoicedMinor',
    'lifecycleTemplateId',
    'locked',
    'nextDueDate',
    'otherCurrencyLines',
    'outstandingMinor',
    'overpaidMinor',
    'ownerId',
    'partyA',
    'partyB',
    'payeeAccount',
    'paymentMethod',
    'paymentStatus',
    'projectName',
    'quantity',
    'receivableMinor',
    'receivedMinor',
    'stageCategory',
    'stageCode',
    'stageName',
    'startDate',
    'status',
    'subjectId',
    'totalMinor',
    'type',
    'uninvoicedMinor',
    'unitPrice',
    'unlinkedInvoicedMinor',
  ],
  contract_type: ['category', 'code', 'defaultRules', 'enabled', 'fieldSchema', 'name', 'order'],
  dynamic_field: [
    'archived',
    'code',
    'editableRoles',
    'name',
    'options',
    'order',
    'required',
    'settings',
    'type',
    'typeCodes',
    'visibleRoles',
  ],
  fulfillment_task: ['code', 'deletedAt', 'dueDate', 'status', 'title'],
  invoice: [
    'amountMinor',
    'currencyCode',
    'deletedAt',
    'fromLine',
    'invoiceDate',
    'invoiceNo',
    'lineId',
    'status',
    'subjectId',
    'taxRate',
  ],
  lifecycle: ['code', 'name'],
  note: ['label', 'value'],
  payment_line: [
    'amountMinor',
    'bankSerialNo',
    'currencyCode',
    'deletedAt',
    'dueDate',
    'invoiceDate',
    'invoiceMinor',
    'invoiceNo',
    'invoicedMinor',
    'outstandingMinor',
    'period',
    'receiptAccount',
    'receivedDate',
    'receivedMinor',
    'reconciliationStatus',
    'uninvoicedMinor',
  ],
  saved_view: ['cardFields', 'filters', 'groupBy', 'mode', 'name', 'ownerId', 'scope', 'sortKey', 'visibleFields'],
  term: ['kind', 'note', 'title'],
  workflow_event: ['fromStageCode', 'kind', 'locked', 'note', 'toStageCode', 'transitionCode'],
};

/** Performs one change of every kind of record. */
async function writeEveryEvent({ plane }: TestPlane): Promise<void> {
  const { id, version } = await plane.createContract(
    aContract({
      payeeAccount: '6222021234567890123',
      deposit: 10,
      terms: [{ kind: 'deposit', title: 'Deposit', note: 'Ten percent' }],
      extraNotes: [{ label: 'Gate', value: '4' }],
      payments: [aLine(), aLine({ period: '2026-05', dueDate: '2026-05-31' })],
    }),
  );
  const {
    payments: [line, other],
  } = await plane.getContract({ contractId: id });
  if (!line || !other) throw new Error('expected two lines');
  await plane.recordReceipt({
    paymentId: line.id,
    receivedAmount: 400,
    receiptAccount: '6222021234567890999',
    bankSerialNo: 'S-1',
  });
  await plane.recordInvoiceEvidence({ paymentId: line.id, invoiceAmount: 400, invoiceNo: 'INV-1' });
  await plane.updatePaymentLine({ paymentId: other.id, amount: 1_200 });
  await plane.addTask({ contractId: id, code: 'T-1', title: 'Deliver', dueDate: '2026-04-01' });
  await plane.addInvoice({ contractId: id, invoiceNo: 'INV-2', invoiceAmount: 50, taxRate: 13, status: 'issued' });
  await plane.transitionContract({ contractId: id, transitionCode: 'submit_review', note: 'Ready' });
  await plane.createContractType({ code: 'turnkey', name: 'Turnkey', category: 'lease' });
  await plane.runFieldCommand({ type: 'CreateField', payload: { name: 'Colour', type: 'text' } });
  await plane.createSavedView({
    name: 'Mine',
    mode: 'table',
    scope: 'personal',
    groupBy: 'none',
    filters: {},
    sortKey: 'createdAt',
    visibleFields: [],
    cardFields: [],
  });
  await plane.deleteContract({ contractId: id });
  expect(version).to.equal(1);
}

/** The fields in audit events, by record. */
async function auditedFields({ database, call }: TestPlane): Promise<Record<string, string[]>> {
  const rows = await database.read(call, (tx) =>
    tx.all('SELECT changes FROM audit_log WHERE tenant_id = ?', [call.tenantId]),
  );
  const found: Record<string, string[]> = {};
  for (const { record, fields } of rows.flatMap(
    ({ changes }) => JSON.parse(String(changes)) as { record: string; fields: object }[],
  ))
    found[record] = [...new Set([...(found[record] ?? []), ...Object.keys(fields)])].toSorted();
  return found;
}

describe('the audit trail of contract data', () => {
  forEachPlane(
    (_name, makePlane) => {
      it('stores the established fields of each record', async () => {
        const test = makePlane({ controls: { draft: 'admin', review: 'admin' } });
        await writeEveryEvent(test);
        expect(await auditedFields(test)).to.deep.equal(EXPECTED_FIELDS);
      });
    },
    { only: ['sqlite'] },
  );
});

describe('the list of audit events of contract data', () => {
  forEachPlane((_name, makePlane) => {
    it('uses the names and units of the API, for every action', async () => {
      const test = makePlane({ controls: { draft: 'admin', review: 'admin' } });
      await writeEveryEvent(test);
      const { items, total } = await test.plane.listAudit({ pageSize: 200 });
      const changes = items.flatMap((entry) => entry.changes);
      expect(items).to.have.length(total);
      expect(new Set(changes.map(({ recordKind }) => recordKind))).to.deep.equal(new Set(Object.keys(EXPECTED_FIELDS)));
      const inStorage = /Minor$|^(allowedRoles|stage(Code|Category|Name)|lineId|fromLine|otherCurrencyLines)$/;
      expect(changes.filter(({ field }) => inStorage.test(field))).to.deep.equal([]);
      const epochs = changes.filter(({ before, after }) =>
        [before, after].some((value) => typeof value === 'number' && value > 1e11),
      );
      expect(epochs).to.deep.equal([]);
      expect(changes.filter(({ field }) => field === 'deletedAt').map(({ after }) => after)).to.satisfy(
        (all: string[]) => all.length > 3 && all.every((one) => one === new Date(test.clock.now()).toISOString()),
      );
      const receipt =
        items
          .find(({ action }) => action === 'recordReceipt')
          ?.changes.filter(({ recordKind }) => recordKind === 'payment_line') ?? [];
      expect(receipt.find(({ field }) => field === 'receivedAmount')).to.include({
        before: 0,
        after: 400,
        currencyCode: 'CNY',
      });
      expect(receipt.find(({ field }) => field === 'bankSerialNo'))
        .to.include({ after: 'S-1' })
        .and.not.to.have.property('currencyCode');
    });

    it('includes the custom values that changed', async () => {
      const test = makePlane();
      const [a, b, d] = [await aField(test), await aField(test), await aField(test)];
      const { id } = await test.plane.createContract(
        aContract({ dynamicFields: { [a.id]: 'stays', [b.id]: 'goes', [d.id]: 'moves' } }),
      );
      await test.plane.updateContract({
        contractId: id,
        changes: { dynamicFields: { [b.id]: null, [d.id]: 'moved' } },
      });
      const [change, entry] = (await test.plane.listAudit({ recordId: id })).items.map(({ changes }) =>
        changes.find(({ field }) => field === 'dynamicFields'),
      );
      expect(entry).to.deep.include({ before: null, after: { [a.id]: 'stays', [b.id]: 'goes', [d.id]: 'moves' } });
      expect(change).to.deep.include({ before: { [b.id]: 'goes', [d.id]: 'moves' }, after: { [d.id]: 'moved' } });
    });

    it('uses the currency of the event, or of the record if the event has none', async () => {
      const test = makePlane();
      const {
        id,
        payments: [line],
      } = await test.plane.createContract(aContract({ payments: [aLine({ currencyCode: 'JPY', amount: 700 })] }));
      await test.plane.recordReceipt({ paymentId: line?.id ?? '', receivedAmount: 70 });
      await test.plane.chainAudit({});
      const shown = async () =>
        (await test.plane.listAudit({ recordId: id })).items
          .flatMap(({ changes }) => changes)
          .filter(({ currencyCode }) => currencyCode);
      const now = await shown();
      expect(
        now.find(({ recordKind, field }) => recordKind === 'payment_line' && field === 'receivedAmount'),
      ).to.include({ before: 0, after: 70, currencyCode: 'JPY' });
      // The format of events before they included a currency.
      await test.database.write(test.call, async (tx) => {
        for (const row of await tx.all('SELECT id, changes FROM audit_log WHERE tenant_id = ?', [test.call.tenantId])) {
          const changes = (JSON.parse(String(row['changes'])) as { currency?: unknown }[]).map(
            ({ currency: _none, ...rest }) => rest,
          );
          await tx.run('UPDATE audit_log SET changes = ? WHERE tenant_id = ? AND id = ?', [
            JSON.stringify(changes),
            test.call.tenantId,
            row['id'] ?? null,
          ]);
        }
      });
      expect(await shown()).to.deep.equal(now);
      const history = (await test.plane.listHistory({ contractId: id })).items.flatMap(({ changes }) => changes);
      expect(history.find(({ record, field }) => record === 'payment_line' && field === 'receivedAmount')).to.include({
        before: 0,
        after: 70,
      });
    });
  });
});
