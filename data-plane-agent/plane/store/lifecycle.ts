import type { Row, Transaction, Value } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import { shipped } from '../domain/lifecycle/shipped.js';
import type { Lifecycle } from '../domain/lifecycle/moves.js';
import {
  stages,
  templates,
  transitions,
  type StageRow,
  type TemplateRow,
  type TransitionRow,
} from '../tables/lifecycle.js';
import { contractTypes, type ContractTypeRow } from '../tables/contract-types.js';
import type { ChangeRecorder } from './change-recorder.js';

/** A tenant's whole contract configuration; each list is in its order. */
export interface ContractConfig {
  readonly types: readonly ContractTypeRow[];
  readonly templates: readonly TemplateRow[];
  readonly stages: readonly StageRow[];
  readonly transitions: readonly TransitionRow[];
}

/** Reads contract types, and lifecycle templates with their stages and transitions. */
export class LifecycleStore {
  private isHeld = false;
  private isShipped = false;
  /** Cached while the stages are locked: an operation that creates many contracts reads them once. */
  private readonly held: {
    defaultTemplate?: TemplateRow;
    defaultStages?: StageRow[];
    readonly stages: Map<string, StageRow[]>;
  } = { stages: new Map() };

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly recorder: ChangeRecorder,
  ) {}

  /** Writes the default configuration at the tenant's first write. Safe to call concurrently. */
  async ensureShipped(): Promise<void> {
    const { tenantId } = this.call;
    if (this.isShipped) return;
    const found = await this.tx.steady('SELECT id FROM lifecycle_templates WHERE tenant_id = ? LIMIT 1', [tenantId]);
    this.isShipped = found.length > 0;
    if (this.isShipped) return;
    this.tx.mustBeAlone();
    const start = shipped(tenantId);
    // A concurrent caller waits here for the first to commit, and then has nothing left to do.
    if ((await templates.insertNew(this.tx, tenantId, [start.template])) === 0) return;
    await stages.insert(this.tx, tenantId, start.stages);
    await transitions.insert(this.tx, tenantId, start.transitions);
    await contractTypes.insert(this.tx, tenantId, start.types);
    this.recorder.record({
      table: templates,
      id: start.template.id,
      before: null,
      after: { code: start.template.code, name: start.template.name },
    });
  }

  /**
   * Locks the tenant's stages until the transaction ends. Call it before reading the stage into which a contract is
   * put, so that the code or name of that stage cannot change meanwhile. Several transactions share the lock; changes
   * of stages wait for them, and they for changes. SQLite has one writer. Call it outside of savepoints that may be rolled
   * back, since a lock taken within one ends with it.
   */
  async hold(): Promise<void> {
    if (this.isHeld) return;
    if (this.tx.dialect === 'postgres')
      await this.tx.hold('SELECT pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [
        stagesLock(this.call.tenantId),
      ]);
    this.isHeld = true;
  }

  async type(code: string): Promise<ContractTypeRow | undefined> {
    const row = await this.tx.get(
      `SELECT ${contractTypes.columnNames} FROM contract_types WHERE tenant_id = ? AND code = ?`,
      [this.call.tenantId, code],
    );
    return row && contractTypes.decode(row);
  }

  async defaultTemplate(): Promise<TemplateRow> {
    if (this.held.defaultTemplate) return this.held.defaultTemplate;
    const row = await this.tx.get(
      `SELECT ${templates.columnNames} FROM lifecycle_templates WHERE tenant_id = ? AND is_default = 1 ORDER BY id LIMIT 1`,
      [this.call.tenantId],
    );
    if (!row) throw new Error('the tenant has no default lifecycle template');
    const template = templates.decode(row);
    if (this.isHeld) this.held.defaultTemplate = template;
    return template;
  }

  /** The stages of a template in their order. */
  async stages(templateId: string): Promise<StageRow[]> {
    const before = this.held.stages.get(templateId);
    if (before) return before;
    const rows = await this.read(
      `SELECT ${stages.columnNames} FROM lifecycle_stages WHERE tenant_id = ? AND template_id = ?`,
      [this.call.tenantId, templateId],
    );
    const found = inOrder(rows);
    if (this.isHeld) this.held.stages.set(templateId, found);
    return found;
  }

  /** The stages of the default template in their order. */
  async defaultStages(): Promise<StageRow[]> {
    if (this.held.defaultStages) return this.held.defaultStages;
    const { tenantId } = this.call;
    const rows = await this.read(
      `SELECT ${stages.columnNames} FROM lifecycle_stages
       WHERE tenant_id = ? AND template_id = (SELECT id FROM lifecycle_templates WHERE tenant_id = ? AND is_default = 1 ORDER BY id LIMIT 1)`,
      [tenantId, tenantId],
    );
    const found = inOrder(rows);
    if (this.isHeld) this.held.defaultStages = found;
    return found;
  }

  /** What is held does not change until the transaction ends. */
  private read(sql: string, values: readonly Value[]): Promise<readonly Row[]> {
    return this.isHeld ? this.tx.steady(sql, values) : this.tx.all(sql, values);
  }

  /** The transitions of a template in their order. */
  async transitions(templateId: string): Promise<TransitionRow[]> {
    const rows = await this.tx.all(
      `SELECT ${transitions.columnNames} FROM lifecycle_transitions WHERE tenant_id = ? AND template_id = ? ORDER BY position, id`,
      [this.call.tenantId, templateId],
    );
    return rows.map((row) => transitions.decode(row));
  }

  /** The stages and transitions of a template. */
  async of(templateId: string): Promise<Lifecycle> {
    return { stages: await this.stages(templateId), transitions: await this.transitions(templateId) };
  }

  /** The whole configuration; before the tenant's first write, the default one. */
  async all(): Promise<ContractConfig> {
    const { tenantId } = this.call;
    const found = (
      await this.tx.all(
        `SELECT ${templates.columnNames} FROM lifecycle_templates WHERE tenant_id = ? ORDER BY created_at, id`,
        [tenantId],
      )
    ).map((row) => templates.decode(row));
    if (found.length === 0) {
      const { template, ...start } = shipped(tenantId);
      return { ...start, templates: [template] };
    }
    const types = await this.tx.all(
      `SELECT ${contractTypes.columnNames} FROM contract_types WHERE tenant_id = ? ORDER BY position, id`,
      [tenantId],
    );
    const allStages = await this.tx.all(
      `SELECT ${stages.columnNames} FROM lifecycle_stages WHERE tenant_id = ? ORDER BY position, id`,
      [tenantId],
    );
    const allTransitions = await this.tx.all(
      `SELECT ${transitions.columnNames} FROM lifecycle_transitions WHERE tenant_id = ? ORDER BY position, id`,
      [tenantId],
    );
    return {
      types: types.map((row) => contractTypes.decode(row)),
      templates: found,
      stages: allStages.map((row) => stages.decode(row)),
      transitions: allTransitions.map((row) => transitions.decode(row)),
    };
  }
}

/** To sort the few stages of a template takes SQLite as long as to read them. */
const inOrder = (rows: readonly Row[]): StageRow[] =>
  rows
    .map((row) => stages.decode(row))
    .sort((a, b) => (a.position === b.position ? (a.id < b.id ? -1 : 1) : a.position - b.position));

/** The name of the advisory lock on a tenant's stages. */
export const stagesLock = (tenantId: string): string => `stages of ${tenantId}`;
