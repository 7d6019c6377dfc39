import { expect } from 'chai';
import type {
  AnalyticsCashflow,
  AnalyticsDistribution,
  AnalyticsSummary,
} from '../../../data-plane-agent/plane/contract/records/analytics.js';
import { Conditions, Effects } from '../../../data-plane-agent/plane/contract/records/conditions.js';
import type { ExtractionRun } from '../../../data-plane-agent/plane/contract/records/extraction.js';
import { FIELD_TYPES, type DynamicField } from '../../../data-plane-agent/plane/contract/records/fields.js';
import type { Download, FileRecord } from '../../../data-plane-agent/plane/contract/records/files.js';
import type { PaymentLine, PaymentStats, Receipt } from '../../../data-plane-agent/plane/contract/records/lines.js';
import { VIEW_MODES, VIEW_SCOPES, type SavedView } from '../../../data-plane-agent/plane/contract/records/views.js';
import {
  PAYMENT_TABS,
  RECONCILIATION_STATUSES,
  WORKFLOW_STAGES,
} from '../../../data-plane-agent/plane/contract/vocabulary.js';
import { reachable } from '../uploads.js';
import { all, type DemoData, each, got, has, page, some } from './ask.js';

export const MONEY_AND_CONFIGURATION_FEATURES: Readonly<Record<string, (demo: DemoData) => Promise<void> | void>> = {
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
      await some(owner, '/contracts', filters as Readonly<Record<string, string | boolean>>); // the filters of the demo have no lists
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
      const archived = certificates?.options.find((option) => option.archived);
      expect(
        archived &&
          contracts.some(({ dynamicFields }) => [dynamicFields[certificates?.id ?? '']].flat().includes(archived.id)),
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
