import { expect } from 'chai';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import type { Row } from '../../data-plane-agent/base/database/database.js';
import { parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { PaymentStats } from '../../data-plane-agent/plane/contract/records/lines.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { fakeClock } from '../support/clock.js';
import { failureOf } from '../support/failures.js';
import {
  LANDED,
  LANDED_STEPS,
  landedContract,
  openLandedTenants,
  type LandedDatabase,
} from '../support/landed-schema.js';
import { aCall, type TestPlane } from '../support/plane.js';
import { needsPostgres } from '../support/postgres.js';
import { rebuildRollups, rollupsOf } from '../support/rollups.js';

const { one, two, trashed, four, five, harbour, quay } = LANDED.named;
const IN_CNY = { subjectId: null, displayCurrency: 'CNY' };
const CASES = [LANDED_STEPS, 10].flatMap((steps) => (['sqlite', 'postgres'] as const).map((kind) => ({ steps, kind })));

for (const { steps, kind } of CASES) {
  describe(`a ${kind} database of the first ${steps} migrations with two organisations`, () => {
    if (kind === 'postgres') needsPostgres();
    let landed: LandedDatabase;
    let upgraded: TestPlane;
    let other: TestPlane;
    let linesBefore: Row[];
    before('is brought up to date', async () => {
      landed = await openLandedTenants(kind);
      await migrate(landed.database, TENANT_MIGRATIONS.slice(0, steps));
      linesBefore = await rowsOf('payment_lines', 'before');
      expect(await migrate(landed.database, TENANT_MIGRATIONS)).to.deep.equal(
        TENANT_MIGRATIONS.slice(steps).map(({ id }) => id),
      );
      [upgraded, other] = [callerOf(harbour), callerOf(quay)];
    });
    after(() => landed?.close());

    const callerOf = ({ tenantId, ownerId }: typeof harbour): TestPlane => {
      const clock = fakeClock(LANDED.at + 60_000);
      const data = createLocalDataPlane({
        operations: OPERATIONS,
        database: landed.database,
        clock,
        keyRing: parseKeyRing(LANDED.secretKeys),
      });
      const call: Call = {
        ...aCall(),
        tenantId,
        actor: { kind: 'user', id: ownerId, name: 'Olive Owner', roleCode: 'owner', ip: null },
        controls: { draft: 'admin' },
      };
      const as = (changes: Partial<Call>) => bind(data, { ...call, ...changes }, { operations: OPERATIONS });
      return { data, clock, database: landed.database, call, as, plane: as({}) };
    };
    /** `when` separates statements that are prepared under different schemas. */
    const rowsOf = async (table: string, when = 'after'): Promise<Row[]> => {
      const rows = [];
      for (const { tenantId } of [harbour, quay])
        rows.push(
          ...(await landed.database.read({ tenantId }, (tx) =>
            tx.all(`SELECT * FROM ${table} AS ${when}_it WHERE tenant_id = ? ORDER BY id`, [tenantId]),
          )),
        );
      return rows;
    };
    const lineOf = async (contractId: string, period: string) =>
      (await upgraded.plane.getContract({ contractId })).payments.find((line) => line.period === period) ??
      expect.fail(`no line ${period}`);

    it('gets a record for each line with an invoice number, and a new number for each duplicate', async () => {
      const periods = new Map(linesBefore.map((row) => [row['id'], row]));
      const records = (await rowsOf('invoices')).map((row) => {
        const line = periods.get(row['line_id'] ?? null);
        expect(row).to.include({
          status: 'issued',
          from_line: 1,
          receipt_id: null,
          note: null,
          created_by: null,
          currency_code: line?.['currency_code'],
          contract_id: line?.['contract_id'],
        });
        expect([row['created_at'], row['updated_at'], row['deleted_at']]).to.deep.equal([
          line?.['updated_at'],
          line?.['updated_at'],
          line?.['deleted_at'],
        ]);
        return [
          line?.['period'],
          row['invoice_no'],
          row['invoice_key'],
          row['amount_minor'],
          row['invoice_date'],
          row['tax_rate'],
        ];
      });
      expect(records).to.have.deep.members([
        ['2026-01', 'INV-A-1', 'inv-a-1', 400_000, '2026-01-20', '13'],
        ['2026-02', 'RÉF-Ä2', 'réf-ä2', 250_000, '2026-02-28', '13'],
        ['shared', 'inv-a-1-2', 'inv-a-1-2', 50_000, '2026-02-25', null],
        ['yen', 'JP-1', 'jp-1', 70_000, '2026-03-01', null],
        ['no amount', 'NUM-ONLY', 'num-only', 0, '2026-07-01', null],
        ['again', 'INV-A-1-3', 'inv-a-1-3', 70_000, '2026-03-02', null],
        ['rent', 'INV-A-1', 'inv-a-1', 120_000, '2026-03-05', null],
        ['all', 'INV-A-1', 'inv-a-1', 999_999, '2026-03-03', null],
        ['first', 'INV-A-1-4', 'inv-a-1-4', 10_000, '2026-02-01', null],
        ['second', 'T-1', 't-1', 10_000, '2026-02-02', null],
        ['third', 't-1-2', 't-1-2', 6_000, '2026-04-01', null],
      ]);
    });

    it("keeps old events in today's format, each amount in the currency of its record, and a valid chain", async () => {
      const reported = async ({ plane }: TestPlane) =>
        (await plane.listAudit({ pageSize: 200 })).items.flatMap(({ action, changes }) =>
          changes.map((change) => ({ action, ...change })),
        );
      const amounts = async (test: TestPlane, of: string) =>
        (await reported(test))
          .filter(({ action, field, recordKind }) => `${action} ${recordKind} ${field}` === of)
          .map(({ before, after, currencyCode }) => [before, after, currencyCode]);
      expect(await amounts(upgraded, 'createContract payment_line amount')).to.deep.include.members([
        [null, 3_000, 'CNY'],
        [null, 70_000, 'JPY'],
      ]);
      expect(await amounts(upgraded, 'recordReceipt payment_line receivedAmount')).to.deep.equal([[0, 1_000, 'CNY']]);
      expect(await amounts(other, 'recordReceipt payment_line receivedAmount')).to.deep.equal([[0, 10, 'EUR']]);
      for (const test of [upgraded, other]) {
        const storage = (await reported(test)).filter(
          ({ field, before, after }) =>
            field.endsWith('Minor') || [before, after].some((value) => typeof value === 'number' && value > 1e11),
        );
        expect(storage).to.deep.equal([]);
        expect((await test.plane.checkAudit({ from: null })).faults).to.deep.equal([]);
      }
    });

    it('keeps lines, contracts and versions, except the marker of an invoice record', async () => {
      const given = new Set((await rowsOf('invoices')).map((row) => row['line_id']));
      expect(given.size).to.equal(11);
      const lines = await rowsOf('payment_lines');
      expect(lines).to.have.length(linesBefore.length);
      linesBefore.forEach((row, i) => {
        const hasRecord = given.has(row['id'] ?? null);
        expect(lines[i]).to.include({
          ...row,
          invoice_records: hasRecord ? 1 : 0,
          invoices_standing: hasRecord ? 1 : 0,
          ...(hasRecord ? { invoice_date: row['invoice_date'] ?? row['due_date'] } : {}),
        });
      });
      const kept = new Map((await rowsOf('contracts')).map((row) => [row['id'], row]));
      for (const row of LANDED.tenant['contracts'] ?? []) expect(kept.get(row['id'] ?? null)).to.include(row);
    });

    it('is upgraded once: an interrupted run continues where it stopped', async () => {
      const step = TENANT_MIGRATIONS.find(({ id }) => id === '0011-invoices-of-lines');
      const before = await rowsOf('invoices');
      await landed.database.exclusive(async (connection) => step?.fill?.(connection));
      expect(await rowsOf('invoices')).to.deep.equal(before);
    });

    it('has rollups that equal a rebuild', async () => {
      const kept = [await rollupsOf(upgraded), await rollupsOf(other)];
      expect(kept.flatMap((tables) => Object.values(tables)).map((rows) => rows.length)).to.not.include(0);
      await rebuildRollups(upgraded);
      expect([await rollupsOf(upgraded), await rollupsOf(other)]).to.deep.equal(kept);
    });

    it('returns contracts, statistics and tabs as the earlier version did', async () => {
      for (const [{ plane }, { tenantId }, ids, slug] of [
        [upgraded, harbour, [one, two, four], 'harbour'],
        [other, quay, [five], 'quay'],
      ] as const) {
        for (const contractId of ids) {
          const was = landedContract(contractId);
          const is = await plane.getContract({ contractId });
          // Free values under names without a field are omitted, and invoiced amounts have a date.
          const { payments, dynamicFields: _free, ...expected } = unnamed(was);
          expect(is).to.deep.include(expected);
          expect(is.dynamicFields).to.deep.equal({});
          for (const [i, line] of payments.entries())
            expect(is.payments[i]).to.deep.include({
              ...line,
              invoiceDate: line.invoiceNo === null ? line.invoiceDate : (line.invoiceDate ?? line.dueDate),
            });
          expect(is.invoices.map(({ receivablePlanId }) => receivablePlanId)).to.have.members(
            is.payments.filter(({ invoiceNo }) => invoiceNo !== null).map(({ id }) => id),
          );
        }
        expect(await plane.getPaymentStats({})).to.deep.include(LANDED.answers[`stats ${slug}`] as PaymentStats);
        for (const tab of ['due', 'overdue', 'reconcile', 'invoice', 'all'] as const) {
          expect(
            (await plane.listPayments({ tab })).items.map(({ id }) => id),
            `${tab} of ${tenantId}`,
          ).to.deep.equal(LANDED.answers[`${tab} ${slug}`]);
        }
      }
    });

    it('is searched, summed and reported per month', async () => {
      for (const q of ['strasse 1', 'STRAßE 1', 'STRASSE 1'])
        expect(
          (await upgraded.plane.listContracts({ q })).items.map(({ id }) => id),
          q,
        ).to.deep.equal([one]);
      expect(await upgraded.plane.getAnalyticsSummary(IN_CNY)).to.include({
        contractCount: 3,
        invoicedAmount: 4_000 + 2_500 + 500 + 300 + 700 + 1_200,
        receivedAmount: 5_000,
      });
      const { series } = await upgraded.plane.getAnalyticsCashflow(IN_CNY);
      const invoiced = Object.fromEntries(
        series
          .filter(({ invoicedAmount }) => invoicedAmount !== 0)
          .map(({ period, invoicedAmount }) => [period, invoicedAmount]),
      );
      expect(invoiced).to.deep.equal({ '2026-01': 4_000, '2026-02': 3_000, '2026-03': 1_900, '2026-06': 300 });
    });

    it("keeps its audit: the chain is valid, and lists a contract's history", async () => {
      expect(await upgraded.plane.checkAudit({ from: null })).to.deep.include({ done: true, faults: [] });
      const { items } = await upgraded.plane.listHistory({ contractId: one });
      expect(items.map(({ action }) => action)).to.deep.equal([
        'recordReceipt',
        'recordInvoiceEvidence',
        'createContract',
      ]);
      expect(items[1]?.changes).to.deep.include({
        record: 'payment_line',
        recordId: (await lineOf(one, '2026-02')).id,
        recordName: '2026-02',
        field: 'invoiceAmount',
        before: null,
        after: 2_500,
      });
      await upgraded
        .as({ actor: { kind: 'system', id: null, name: 'schedule', roleCode: null, ip: null } })
        .chainAudit({});
      expect(await upgraded.plane.checkAudit({ from: null })).to.deep.include({ done: true, faults: [], waiting: 0 });
    });

    it('repeats the stored answer of an earlier write under its key', async () => {
      const [kept] = LANDED.tenant['idempotency_records'] ?? [];
      const again = upgraded.as({
        idempotency: { key: String(kept?.['key']), requestHash: String(kept?.['request_hash']) },
      });
      expect((await again.createContract(anyContract())).id).to.equal(one);
    });

    it('counts invoiced amounts, whichever record refers to the line', async () => {
      const { id } = await lineOf(one, '2026-02');
      await upgraded.plane.addInvoice({
        contractId: one,
        receivablePlanId: id,
        invoiceNo: 'REST',
        invoiceAmount: 500,
        status: 'issued',
      });
      expect(await lineOf(one, '2026-02')).to.include({
        invoicedAmount: 3_000,
        uninvoicedAmount: 0,
        invoiceNo: 'RÉF-Ä2',
      });
      await upgraded.plane.recordInvoiceEvidence({ paymentId: id, invoiceNo: 'RÉF-Ä3' });
      const { invoices } = await upgraded.plane.getContract({ contractId: one });
      expect(
        invoices
          .filter(({ receivablePlanId }) => receivablePlanId === id)
          .map(({ invoiceNo, invoiceAmount }) => [invoiceNo, invoiceAmount]),
      ).to.have.deep.members([
        ['RÉF-Ä3', 2_500],
        ['REST', 500],
      ]);
      const shared = await lineOf(two, 'shared');
      expect(
        await failureOf(upgraded.plane.recordInvoiceEvidence({ paymentId: shared.id, invoiceAmount: 400 })),
      ).to.deep.equal({ code: 'DUPLICATE_CODE', details: { field: 'invoiceNo', value: 'inv-a-1' } });
      expect(
        await upgraded.plane.recordInvoiceEvidence({
          paymentId: shared.id,
          invoiceAmount: 400,
          invoiceNo: 'inv-a-1-2',
        }),
      ).to.include({ invoiceAmount: 400, invoicedAmount: 400 });
    });

    it('accepts a receipt, a move and an export', async () => {
      const { id } = await lineOf(two, 'again');
      expect(await upgraded.plane.recordReceipt({ paymentId: id, receivedAmount: 600 })).to.include({
        paymentStatus: 'paid',
        receivedAmount: 600,
      });
      expect(await upgraded.plane.transitionContract({ contractId: two, transitionCode: 'submit_review' })).to.include({
        workflowStage: 'review',
      });
      expect(
        (await upgraded.plane.listWorkflowEvents({ contractId: two })).map(({ kind: event }) => event),
      ).to.have.members(['stage_changed', 'created']);
      const { columns } = await upgraded.plane.planContractExport({ profile: 'full', filter: {} });
      const { contracts } = await upgraded.plane.exportContracts({
        profile: 'full',
        filter: {},
        fieldIds: [],
        ids: null,
        after: null,
      });
      expect(columns).to.not.be.empty;
      expect(contracts.map(({ lines }) => lines.length)).to.have.members([3, 5, 1]);
    });

    it('restores contracts from the trash with their invoices', async () => {
      expect((await upgraded.plane.listTrash({})).items.map(({ id }) => id)).to.deep.equal([trashed]);
      const { payments, invoices } = await upgraded.plane.restoreContract({ contractId: trashed });
      expect(payments.map(({ period, invoicedAmount }) => [period, invoicedAmount])).to.deep.equal([
        ['first', 100],
        ['second', 100],
        ['third', 60],
      ]);
      expect(invoices.map(({ invoiceNo }) => invoiceNo)).to.have.members(['INV-A-1-4', 'T-1', 't-1-2']);
      expect((await upgraded.plane.listContracts({ q: 'straße 3' })).items.map(({ id }) => id)).to.deep.equal([
        trashed,
      ]);
    });

    it('has rollups that still equal a rebuild after these changes', async () => {
      const kept = await rollupsOf(upgraded);
      await rebuildRollups(upgraded);
      expect(await rollupsOf(upgraded)).to.deep.equal(kept);
    });
  });
}

/** Fields that the server adds to an answer do not come from the plane. */
function unnamed(answer: ContractDetail): ContractDetail {
  const {
    subjectName: _subject,
    ownerName: _owner,
    ownerSuperiorName: _superior,
    ...rest
  } = answer as ContractDetail & Record<'subjectName' | 'ownerName' | 'ownerSuperiorName', unknown>;
  return rest;
}

const anyContract = () => ({
  archiveCode: 'X',
  contractNo: 'X',
  projectName: 'X',
  subjectId: harbour.subjectId,
  partyA: 'X',
  partyB: 'X',
  equipmentName: 'X',
  equipmentModel: 'X',
  quantity: 1,
  unitPrice: 1,
  paymentMethod: 'X',
  startDate: '2026-01-01',
  endDate: '2026-01-02',
  ownerId: harbour.ownerId,
});
