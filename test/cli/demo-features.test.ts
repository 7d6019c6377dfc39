import { expect } from 'chai';
import type { Catalog } from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import type {
  AnalyticsCashflow,
  AnalyticsDistribution,
  AnalyticsSummary,
} from '../../data-plane-agent/plane/contract/records/analytics.js';
import type { AuditEntry } from '../../data-plane-agent/base/audit/records.js';
import {
  CONTRACT_SORTS,
  type ContractDetail,
  type ContractSummary,
} from '../../data-plane-agent/plane/contract/records/contracts.js';
import { Conditions, Effects } from '../../data-plane-agent/plane/contract/records/conditions.js';
import type { ExtractionRun } from '../../data-plane-agent/plane/contract/records/extraction.js';
import { FIELD_TYPES, type DynamicField } from '../../data-plane-agent/plane/contract/records/fields.js';
import type { Download, FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { HISTORY_RECORDS, type HistoryEntry } from '../../data-plane-agent/plane/contract/records/history.js';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import type { PaymentLine, PaymentStats, Receipt } from '../../data-plane-agent/plane/contract/records/lines.js';
import { VIEW_MODES, VIEW_SCOPES, type SavedView } from '../../data-plane-agent/plane/contract/records/views.js';
import type { WorkflowEvent } from '../../data-plane-agent/plane/contract/records/workflow.js';
import {
  FULFILLMENT_STATUSES,
  INVOICE_STATUSES,
  PAYMENT_STATUSES,
  PAYMENT_TABS,
  RECONCILIATION_STATUSES,
  TASK_STATUSES,
  TERM_KINDS,
  VALIDITIES,
  WORKFLOW_EVENT_KINDS,
  WORKFLOW_STAGES,
} from '../../data-plane-agent/plane/contract/vocabulary.js';
import { installations } from '../support/cli.js';
import { client, type Client } from '../support/http.js';
import { reachable } from '../support/uploads.js';

interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** The whole book as the demo's people are answered. */
interface Book {
  readonly owner: Client;
  /** A seller, who sees no account numbers and no credit limits. */
  readonly seller: Client;
  readonly contracts: readonly ContractDetail[];
  readonly fields: readonly DynamicField[];
  readonly catalog: Catalog;
}

/** What the service can do, each with a question that the demo answers with an example of it. */
const FEATURES: Readonly<Record<string, (book: Book) => Promise<void> | void>> = {
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
        await Promise.all(
          contracts
            .filter(
              ({ workflowAllowedRoles, notes }) =>
                workflowAllowedRoles.length > 0 || notes.some(({ value }) => value.endsWith('in writing.')),
            )
            .map(({ id }) => all<HistoryEntry>(owner, `/contracts/${id}/history`)),
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
    const entries = (
      await Promise.all(
        contracts
          .filter(
            ({ invoices, fulfillmentTasks, notes }) =>
              invoices.length > 0 && fulfillmentTasks.length > 0 && notes.length > 2,
          )
          .slice(0, 3)
          .map(({ id }) => all<HistoryEntry>(owner, `/contracts/${id}/history`)),
      )
    ).flat();
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
      await Promise.all(
        contracts.map(({ id }) => got<readonly WorkflowEvent[]>(owner, `/contracts/${id}/workflow/events`)),
      )
    ).flat();
    has(events, ({ kind }) => kind, WORKFLOW_EVENT_KINDS);
    has(events, ({ actor }) => actor.roleCode, ['owner', 'admin', 'manager', 'sales', 'legal']);
    has(events, ({ source }) => source, ['user', 'import']);
    // A contract went before the board, and all the way to its warranty.
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
  '4.5 every tab of the receivables': ({ owner }) => each(PAYMENT_TABS, (tab) => some(owner, '/payments', { tab })),
  '4.5 lines that were removed, for audit': async ({ owner }) => {
    const [live, every] = await Promise.all(
      [{}, { includeDeleted: true }].map((query) => page<PaymentLine>(owner, '/payments', { tab: 'all', ...query })),
    );
    expect(every?.total).to.be.above(live?.total ?? 0);
  },
  '4.5 reconciliation in every state, and why': ({ contracts }) => {
    const lines = contracts.flatMap(({ payments }) => payments);
    has(lines, ({ reconciliationStatus }) => reconciliationStatus, RECONCILIATION_STATUSES);
    expect(lines.some(({ reconciliationNote, proof }) => reconciliationNote !== null && proof === null)).to.equal(true);
  },
  '4.5 receipts in parts, and one that was corrected': async ({ owner, contracts }) => {
    const noted = contracts
      .flatMap(({ payments }) => payments)
      .filter(
        ({ reconciliationStatus, reconciliationNote }) =>
          reconciliationStatus === 'matched' && reconciliationNote !== null,
      );
    const receipts = (
      await Promise.all(noted.slice(0, 5).map(({ id }) => all<Receipt>(owner, `/payments/${id}/receipts`)))
    ).flat();
    expect(receipts.some(({ delta }) => delta < 0)).to.equal(true);
  },
  '4.5 figures in three currencies, all of them alive': async ({ owner }) => {
    const { byCurrency, counts } = await got<PaymentStats>(owner, '/payments/stats');
    expect(byCurrency.map(({ currencyCode }) => currencyCode)).to.have.members(['CNY', 'EUR', 'JPY']);
    expect(Object.values(counts).every((count) => count > 0)).to.equal(true);
  },
  '4.9 views of every mode, for the team and for one alone, by custom fields too': async ({
    owner,
    seller,
    fields,
  }) => {
    const views = await got<readonly SavedView[]>(owner, '/saved-views/contracts');
    has(views, ({ mode }) => mode, VIEW_MODES);
    has(views, ({ scope }) => scope, VIEW_SCOPES);
    expect(
      views.some(({ groupBy }) => fields.some(({ id }) => id === groupBy)) &&
        views.every(({ warnings }) => warnings.length === 0),
    ).to.equal(true);
    const theirs = await got<readonly SavedView[]>(seller, '/saved-views/contracts');
    expect(
      theirs.filter(({ scope }) => scope === 'personal').some(({ id }) => views.some((view) => view.id === id)),
    ).to.equal(false);
    expect(
      theirs.some(({ scope }) => scope === 'personal') && theirs.some(({ warnings }) => warnings.length > 0),
      'a column that not everybody sees',
    ).to.equal(true);
    for (const { filters } of [...views, ...theirs])
      await some(owner, '/contracts', filters as Readonly<Record<string, string | boolean>>); // those of the demo have no lists
  },
  '4.3 a file that several contracts have as theirs, and a run that read one': async ({ owner, contracts }) => {
    const named = contracts.flatMap(({ contractAttachment }) => contractAttachment ?? []);
    expect(named.length - new Set(named).size).to.be.at.least(1);
    const runs = (
      await got<{ items: { recordId: string | null }[] }>(
        owner,
        '/audit?action=extractContract&source=data&pageSize=200',
      )
    ).items;
    const read = await Promise.all(
      runs.map(({ recordId }) => got<ExtractionRun>(owner, `/contracts/extractions/${recordId ?? ''}`)),
    );
    expect(read.map(({ source, status }) => [source.kind, status])).to.deep.include(['file', 'needs_review']);
  },
  '4.8 originals, invoices and receipts as evidence, each of which can be downloaded': async ({ owner, contracts }) => {
    const lines = contracts.flatMap(({ payments }) => payments);
    const evidence = [
      contracts.find(({ contractAttachment }) => contractAttachment !== null)?.contractAttachment,
      lines.find(({ invoiceAttachment }) => invoiceAttachment !== null)?.invoiceAttachment,
      lines.find(({ proof }) => proof !== null)?.proof,
    ];
    const files = await Promise.all(evidence.map((id) => got<FileRecord>(owner, `/files/${id ?? ''}`)));
    expect(files.map(({ kind }) => kind)).to.deep.equal(['contract_original', 'invoice', 'receipt']);
    for (const { id } of files) {
      const bytes = await fetch(reachable((await got<Download>(owner, `/files/${id}/download`)).url, owner));
      expect((await bytes.text()).slice(0, 5)).to.equal('%PDF-');
    }
  },
  '4.10 a summary with every age, a cash flow with every month, a distribution with every stage': async ({
    owner,
    contracts,
  }) => {
    const [summary, cashflow, distribution] = await Promise.all([
      got<AnalyticsSummary>(owner, '/analytics/summary'),
      got<AnalyticsCashflow>(owner, '/analytics/cashflow'),
      got<AnalyticsDistribution>(owner, '/analytics/distribution'),
    ]);
    for (const { byCurrency } of [summary, cashflow, distribution]) expect(byCurrency).to.have.length(3);
    expect(summary.aging.filter(({ amount }) => amount > 0).length).to.be.at.least(4);
    expect(distribution.byStage.map(({ key }) => key)).to.include.members([...WORKFLOW_STAGES]);
    expect(
      (await got<AnalyticsSummary>(owner, `/analytics/summary?subjectId=${contracts[0]?.subjectId ?? ''}`)).subjectId,
    ).to.equal(contracts[0]?.subjectId);
  },
  '4.11 contract types of its own with rules of theirs, one of them disabled while contracts have it': ({
    catalog: { types },
    contracts,
  }) => {
    has(types, ({ code }) => code, ['sale', 'lease', 'turnkey', 'hire_purchase', 'stock_sale']);
    has(
      contracts,
      ({ typeCode }) => typeCode,
      types.map(({ code }) => code).filter((code) => code !== 'sale' && code !== 'lease'),
    );
    expect(types.filter(({ enabled }) => !enabled).map(({ code }) => code)).to.deep.equal(['stock_sale']);
    expect(
      types.some(
        ({ defaultRules, fieldSchema, defaultLifecycleTemplateId }) =>
          defaultRules['remindFromStage'] && Object.keys(fieldSchema).length > 0 && defaultLifecycleTemplateId,
      ),
    ).to.equal(true);
  },
  '4.11 a lifecycle of its own, with contracts at its stages': ({ catalog: { templates }, contracts }) => {
    const own = templates.find(({ isDefault }) => !isDefault);
    const at = new Set(
      contracts
        .filter(({ lifecycleTemplateId }) => lifecycleTemplateId === own?.id)
        .map(({ lifecycleStageCode }) => lifecycleStageCode),
    );
    expect([...at]).to.include.members(['board', 'signed', 'delivery', 'warranty', 'closed', 'archived']);
    const stages = own?.stages ?? [];
    expect(
      stages.some(({ code, category }) => code !== category) &&
        stages.some(({ isTerminal }) => isTerminal) &&
        stages.some(({ locksCoreFields }) => locksCoreFields) &&
        stages.some(({ allowedRoleCodes }) => allowedRoleCodes.length > 0),
    ).to.equal(true);
    has(own?.transitions ?? [], ({ requiredControl }) => requiredControl, ['edit', 'approve', 'sign', 'admin']);
    has(own?.transitions ?? [], ({ enabled }) => enabled, [true, false]);
  },
  '4.11 every condition and every effect': ({ catalog: { templates } }) => {
    const [stages, transitions] = [
      templates.flatMap((template) => template.stages),
      templates.flatMap((template) => template.transitions),
    ];
    expect([
      ...transitions.flatMap(({ conditions }) => Object.keys(conditions)),
      ...stages.flatMap(({ completionRules }) => Object.keys(completionRules)),
    ]).to.include.members(Object.keys(Conditions.properties));
    expect(transitions.flatMap(({ effects }) => Object.keys(effects))).to.include.members(
      Object.keys(Effects.properties),
    );
  },
  '4.12 fields of all fifteen types, each with values': ({ fields, contracts }) => {
    has(fields, ({ type }) => type, FIELD_TYPES);
    for (const { id, code, archived } of fields)
      expect(
        contracts.some(({ dynamicFields }) => dynamicFields[id] !== undefined),
        code,
      ).to.equal(!archived);
  },
  '4.12 fields that are required, have a default, bounds, a unit, contract types, sections': ({ fields }) => {
    const live = fields.filter(({ archived }) => !archived);
    for (const [what, is] of Object.entries<(field: DynamicField) => boolean>({
      required: ({ required }) => required,
      default: ({ defaultValue }) => defaultValue !== null,
      bounds: ({ settings: { min, max } }) => min !== null && max !== null,
      unit: ({ settings }) => settings.unit !== null,
      precision: ({ settings }) => settings.precision !== null,
      currency: ({ settings }) => settings.currencyCode !== null,
      length: ({ settings }) => settings.maxLength !== null,
      types: ({ typeCodes }) => typeCodes.length > 0,
      section: ({ section }) => section !== null,
      description: ({ description }) => description !== null,
      color: ({ options }) => options.some(({ color }) => color !== null),
    }))
      expect(live.some(is), what).to.equal(true);
  },
  '4.12 fields that only some see, and that only some write': async ({ fields, seller, contracts }) => {
    const hidden = fields.find(({ visibleRoles }) => visibleRoles.length > 0);
    expect(hidden && contracts.some(({ dynamicFields }) => dynamicFields[hidden.id] !== undefined)).to.equal(true);
    expect(
      fields.some(({ visibleRoles, editableRoles }) => visibleRoles.length === 0 && editableRoles.length > 0),
    ).to.equal(true);
    expect(
      (await got<readonly DynamicField[]>(seller, '/dynamic-fields')).some(({ id }) => id === hidden?.id),
    ).to.equal(false);
  },
  '4.12 what the commands leave: another name, another type, an option that values keep, a copy with values, another place, the archive':
    ({ fields, contracts }) => {
      const field = (code: string) => fields.find((one) => one.code === code);
      expect(field('order_no')?.name).to.equal("Customer's order number");
      expect(field('lead_time')?.type).to.equal('number');
      const certificates = field('certificates');
      const gone = certificates?.options.find(({ archived }) => archived);
      expect(
        gone && contracts.some(({ dynamicFields }) => [dynamicFields[certificates?.id ?? '']].flat().includes(gone.id)),
      ).to.equal(true);
      const [original, copy] = [field('invoice_email'), fields.find(({ name }) => name === 'Statements to')];
      expect(
        contracts
          .filter(({ dynamicFields }) => dynamicFields[original?.id ?? ''] !== undefined)
          .every(({ dynamicFields }) => dynamicFields[copy?.id ?? ''] === dynamicFields[original?.id ?? '']),
      ).to.equal(true);
      expect(field('site_phone')?.section).to.equal('Site');
      expect(fields.filter(({ archived }) => archived).map(({ code }) => code)).to.deep.equal(['sales_region']);
    },
};

describe('the demo', function () {
  this.timeout(120_000);
  const install = installations();

  it('shows every feature of the contract book', async () => {
    const { start } = await install();
    const running = start(['demo', '--json'], { env: { PORT: '0' } });
    const { url, signIn } = JSON.parse(await running.printed('\n}\n')) as {
      url: string;
      signIn: { tenantSlug: string; password: string };
    };
    const signedIn = async (local: string) =>
      client(
        url,
        (
          await client(url).post<{ accessToken: string }>('/auth/login', {
            ...signIn,
            email: `${local}@huayue.example`,
          })
        ).body.accessToken,
      );
    const [owner, seller] = [await signedIn('lin.hui'), await signedIn('zhang.wei')];
    const ids = (await all<ContractSummary>(owner, '/contracts')).map(({ id }) => id);
    const contracts: ContractDetail[] = [];
    for (let i = 0; i < ids.length; i += AT_ONCE)
      contracts.push(
        ...(await Promise.all(ids.slice(i, i + AT_ONCE).map((id) => got<ContractDetail>(owner, `/contracts/${id}`)))),
      );
    const book: Book = {
      owner,
      seller,
      contracts,
      fields: await got(owner, '/dynamic-fields'),
      catalog: await got(owner, '/contract-config/catalog'),
    };
    const missing: string[] = [];
    for (const [feature, question] of Object.entries(FEATURES)) {
      try {
        await question(book);
      } catch (error) {
        missing.push(`${feature}: ${String(error)}`);
      }
    }
    expect(missing).to.deep.equal([]);
    running.kill('SIGTERM');
    expect(await running.ended).to.deep.include({ code: 0 });
  });
});

const AT_ONCE = 20;

async function got<T>(who: Client, path: string): Promise<T> {
  const { status, body, text } = await who.get<T>(path);
  expect(status, `${path}: ${text.slice(0, 300)}`).to.equal(200);
  return body;
}

async function page<T>(
  who: Client,
  path: string,
  query: Readonly<Record<string, string | number | boolean>> = {},
): Promise<Page<T>> {
  const { status, body, text } = await who.get<Page<T>>(path, { query: { pageSize: 200, ...query } });
  expect(status, `${path}: ${text.slice(0, 300)}`).to.equal(200);
  return body;
}

async function all<T>(who: Client, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let number = 1, total = 1; items.length < total; number++) {
    const answer = await page<T>(who, path, { page: number });
    if (answer.items.length === 0) break;
    items.push(...answer.items);
    total = answer.total;
  }
  return items;
}

async function some(
  who: Client,
  path: string,
  query: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  expect((await page(who, path, { pageSize: 1, ...query })).total, JSON.stringify(query)).to.be.above(0);
}

async function each<T>(items: readonly T[], question: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await question(item);
}

const audit = async (who: Client, action: string): Promise<readonly AuditEntry[]> =>
  (await page<AuditEntry>(who, '/audit', { source: 'data', action })).items;

async function audited(who: Client, actions: readonly string[]): Promise<void> {
  for (const action of actions) expect((await audit(who, action)).length, action).to.be.above(0);
}

/** Whether every one of the values comes up. */
function has<T, V>(items: readonly T[], valueOf: (item: T) => V, values: readonly V[]): void {
  expect([...new Set(items.map(valueOf))]).to.include.members([...values]);
}
