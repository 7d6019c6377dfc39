import { expect } from 'chai';
import { CONTRACT_SORTS, type ContractSummary } from '../../../data-plane-agent/plane/contract/records/contracts.js';
import type { ExtractionRun } from '../../../data-plane-agent/plane/contract/records/extraction.js';
import type { CollectionPage } from '../../../data-plane-agent/plane/contract/records/collections.js';
import { HISTORY_RECORDS, type HistoryEntry } from '../../../data-plane-agent/plane/contract/records/history.js';
import type { ImportReport } from '../../../data-plane-agent/plane/contract/records/imports.js';
import type { WorkflowEvent } from '../../../data-plane-agent/plane/contract/records/workflow.js';
import {
  FULFILLMENT_STATUSES,
  INVOICE_STATUSES,
  PAYMENT_STATUSES,
  TASK_STATUSES,
  TERM_KINDS,
  VALIDITIES,
  WORKFLOW_EVENT_KINDS,
  WORKFLOW_STAGES,
} from '../../../data-plane-agent/plane/contract/vocabulary.js';
import { all, audit, audited, type DemoData, each, got, has, ofEach, page, some } from './ask.js';

export const CONTRACT_FEATURES: Readonly<Record<string, (demo: DemoData) => Promise<void> | void>> = {
  '4.3 contracts are found in every script, whatever the case': ({ owner }) =>
    each(['苏州', '東海', 'LOMBARDA', 'hy-s-'], (q) => some(owner, '/contracts', { q })),
  '4.3 every filter of the list finds some': ({ owner, contracts }) => {
    const [one] = contracts;
    const filters = [
      ...WORKFLOW_STAGES.map((workflow) => ({ workflow })),
      ...PAYMENT_STATUSES.map((payment) => ({ payment })),
      { type: 'sale' },
      { type: 'lease' },
      { typeCode: 'turnkey' },
      { typeCode: 'hire_purchase' },
      { status: 'in_progress' },
      { status: 'completed' },
      { statusCode: 'awaiting_deposit' },
      { lifecycleStageCode: 'delivery' },
      { overdue: true },
      { dueSoon: true },
      { ownerId: one?.ownerId ?? '' },
      { subjectId: one?.subjectId ?? '' },
    ];
    return each(filters, (filter) => some(owner, '/contracts', filter));
  },
  '4.3 every order of the list': ({ owner }) =>
    each(CONTRACT_SORTS, (sort) => some(owner, '/contracts', { sort, order: 'desc', pageSize: 1 })),
  '4.3 what is derived of a contract takes each of its values': ({ contracts }) => {
    has(contracts, ({ validity }) => validity, VALIDITIES);
    has(contracts, ({ fulfillmentStatus }) => fulfillmentStatus, FULFILLMENT_STATUSES);
    has(contracts, ({ paymentStatus }) => paymentStatus, PAYMENT_STATUSES);
    has(contracts, ({ locked }) => locked, [true, false]);
    has(contracts, ({ currencyCode }) => currencyCode, ['CNY', 'EUR', 'JPY']);
    for (const of of [
      'amountDifference',
      'overdueAmount',
      'overpaidAmount',
      'invoicedAmount',
      'uninvoicedAmount',
      'daysOverdue',
    ] as const)
      expect(
        contracts.some((contract) => contract[of] !== 0),
        of,
      ).to.equal(true);
  },
  '4.3 terms of every kind, and notes, entered with it and later': ({ contracts }) => {
    has(
      contracts.flatMap(({ terms }) => terms),
      ({ kind }) => kind,
      TERM_KINDS,
    );
    expect(contracts.every(({ notes }) => notes.length > 0)).to.equal(true);
    expect(contracts.some(({ notes }) => notes.length >= 3)).to.equal(true);
  },
  '4.3 fulfillment tasks in every state, late ones among them, and one that a move has made': ({ contracts }) => {
    const tasks = contracts.flatMap(({ fulfillmentTasks }) => fulfillmentTasks);
    has(tasks, ({ status }) => status, TASK_STATUSES);
    has(tasks, ({ acceptanceStatus }) => acceptanceStatus, ['not_required', 'pending', 'passed']);
    expect(
      tasks.some(({ isOverdue }) => isOverdue) &&
        tasks.some(({ code, acceptedBy }) => code === 'factory_test' && acceptedBy !== null),
    ).to.equal(true);
  },
  '4.3 invoice records in every state, with tax, a red letter with what it reverses, one that came with its line': ({
    contracts,
  }) => {
    const invoices = contracts.flatMap((contract) => contract.invoices);
    has(invoices, ({ status }) => status, INVOICE_STATUSES);
    expect(
      invoices.some(
        ({ status, reversesInvoiceId }) =>
          status === 'red_letter' &&
          invoices.some(({ id, reversedByInvoiceId }) => id === reversesInvoiceId && reversedByInvoiceId !== null),
      ),
    ).to.equal(true);
    expect(contracts.some(({ payments }) => payments.some(({ invoiceNo }) => invoiceNo !== null))).to.equal(true);
  },
  '4.3 a plan that was sent anew, a line that was added and removed, terms and notes that were changed: the history tells each':
    async ({ owner, contracts }) => {
      const entries = (
        await ofEach(
          contracts.filter(
            ({ workflowAllowedRoles, notes }) =>
              workflowAllowedRoles.length > 0 || notes.some(({ value }) => value.endsWith('in writing.')),
          ),
          ({ id }) => all<HistoryEntry>(owner, `/contracts/${id}/history`),
        )
      ).flat();
      has(entries, ({ action }) => action, [
        'updateContract',
        'addPaymentLine',
        'deletePaymentLine',
        'updateTerm',
        'deleteTerm',
        'updateNote',
      ]);
      expect(
        entries.some(
          ({ action, changes }) =>
            action === 'updateContract' &&
            changes.some(({ record, field }) => record === 'payment_line' && field === 'dueDate'),
        ),
      ).to.equal(true);
    },
  '4.3 the history names records of every sort': async ({ owner, contracts }) => {
    const collected = await all<CollectionPage['items'][number]>(owner, '/collections');
    const held = collected.filter(({ hold }) => hold !== null);
    expect(held.map(({ hold }) => hold?.kind)).to.have.members(['promise', 'dispute']);
    const various = contracts.filter(
      ({ invoices, fulfillmentTasks, notes }) => invoices.length > 0 && fulfillmentTasks.length > 0 && notes.length > 2,
    );
    const ids = [...various.slice(0, 3).map(({ id }) => id), ...held.map(({ contractId }) => contractId)];
    const entries = (await ofEach(ids, (id) => all<HistoryEntry>(owner, `/contracts/${id}/history`))).flat();
    has(
      entries.flatMap(({ changes }) => changes),
      ({ record }) => record,
      HISTORY_RECORDS,
    );
  },
  '4.3 the trash, filled by one and by many, and a contract that came back from it': async ({ owner, contracts }) => {
    expect((await page<ContractSummary>(owner, '/contracts/trash')).total).to.equal(3);
    await audited(owner, ['deleteContract', 'bulkDeleteContracts', 'restoreContract']);
    const restored = (await audit(owner, 'restoreContract')).map(({ recordId }) => recordId);
    expect(contracts.some(({ id }) => restored.includes(id))).to.equal(true);
  },
  '4.3 an import with a report of each row, and its file of bad rows': async ({ owner }) => {
    const batch = (await audit(owner, 'importContracts')).find(({ recordKind }) => recordKind === 'import_batch');
    const report = await got<ImportReport>(owner, `/contracts/import/batches/${batch?.recordId ?? ''}`);
    expect(report.created).to.be.above(10);
    has(
      report.rows.flatMap(({ errors }) => errors ?? []),
      ({ field }) => field,
      ['ownerEmail', 'line.dueDate', 'archiveCode'],
    );
    const { text } = await owner.get(`/contracts/import/batches/${batch?.recordId ?? ''}/errors.csv`);
    expect(text.trim().split('\r\n')).to.have.length(1 + report.failed);
  },
  '4.3 an export in both profiles, in full with every custom field': async ({ owner, fields }) => {
    const [summary, full] = await Promise.all(
      ['summary', 'full'].map((profile) => owner.get('/contracts/export', { query: { profile, typeCode: 'turnkey' } })),
    );
    expect(summary?.text).to.contain(',turnkey,');
    for (const { code, archived } of fields) expect(full?.text.includes(`cf:${code}`), code).to.equal(!archived);
  },
  '4.3 a paper that was read, reviewed in three ways and applied, and one that waits with a doubt': async ({
    owner,
  }) => {
    const ids = new Set((await audit(owner, 'extractContract')).map(({ recordId }) => recordId ?? ''));
    const runs = await Promise.all([...ids].map((id) => got<ExtractionRun>(owner, `/contracts/extractions/${id}`)));
    has(runs, ({ status }) => status, ['applied', 'needs_review']);
    has(
      runs.filter(({ status }) => status === 'applied').flatMap(({ fields }) => fields),
      ({ reviewStatus }) => reviewStatus,
      ['accepted', 'rejected'],
    );
    expect(
      runs.some(
        ({ status, warnings }) => status === 'needs_review' && warnings.some(({ code }) => code === 'TOTAL_MISMATCH'),
      ),
    ).to.equal(true);
  },
  '4.3 account numbers, which only some may see': async ({ seller, contracts }) => {
    const { items } = await page<ContractSummary>(seller, '/contracts');
    expect(items.length > 0 && items.every(({ payeeAccount }) => payeeAccount?.startsWith('****'))).to.equal(true);
    expect(contracts.every(({ payeeAccount }) => payeeAccount !== null && !payeeAccount.startsWith('*'))).to.equal(
      true,
    );
  },
  '4.4 a trail with events of every kind, by people of several roles, in every source that people have': async ({
    owner,
    contracts,
  }) => {
    const events = (
      await ofEach(contracts, ({ id }) => got<readonly WorkflowEvent[]>(owner, `/contracts/${id}/workflow/events`))
    ).flat();
    has(events, ({ kind }) => kind, WORKFLOW_EVENT_KINDS);
    has(events, ({ actor }) => actor.roleCode, ['owner', 'admin', 'manager', 'sales', 'legal']);
    has(events, ({ source }) => source, ['user', 'import']);
    // A contract was approved by the board and reached its warranty.
    has(events, ({ transitionCode }) => transitionCode, [
      'submit',
      'to_board',
      'board_approve',
      'sign',
      'start_delivery',
      'hand_over',
      'close',
      'archive',
      'approve',
      'return_to_draft',
      'mark_extracted',
      'activate',
      'complete',
    ]);
  },
  '4.4 only some roles may move a contract': ({ contracts }) =>
    void expect(contracts.some(({ workflowAllowedRoles }) => workflowAllowedRoles.length > 0)).to.equal(true),
};
