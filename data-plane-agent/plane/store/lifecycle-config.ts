import type { Transaction } from '../../base/database/database.js';
import type { Clock } from '../../base/clock.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { RESTORABLE_MS } from '../domain/contracts/trash.js';
import {
  stages,
  templates,
  transitions,
  type StageRow,
  type TemplateRow,
  type TransitionRow,
} from '../tables/lifecycle.js';
import { contractTypes, type ContractTypeRow } from '../tables/contract-types.js';
import type { ChangeRecorder, Root } from './change-recorder.js';
import { stagesLock } from './lifecycle.js';

type Stamped = { readonly createdAt: number; readonly updatedAt: number };
export type Draft<R extends Stamped> = Omit<R, keyof Stamped>;

/** Changes of the contract configuration. Call `hold` before each, so that checked conditions stay true. */
export class LifecycleConfigStore {
  private readonly clock: Clock;
  private readonly recorder: ChangeRecorder;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { clock, recorder }: { readonly clock: Clock; readonly recorder: ChangeRecorder },
  ) {
    this.clock = clock;
    this.recorder = recorder;
  }

  /**
   * Locks the tenant's configuration against concurrent changes. The shipped configuration must exist. SQLite has one
   * writer.
   */
  async hold(): Promise<void> {
    if (this.tx.dialect === 'postgres')
      await this.tx.all('SELECT id FROM lifecycle_templates WHERE tenant_id = ? ORDER BY id FOR UPDATE', [
        this.call.tenantId,
      ]);
  }

  /**
   * Waits for transactions that put a contract into a stage, and blocks others, so that the count of contracts in a
   * stage stays correct.
   */
  async holdStages(): Promise<void> {
    if (this.tx.dialect === 'postgres')
      await this.tx.get('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [stagesLock(this.call.tenantId)]);
  }

  async types(): Promise<ContractTypeRow[]> {
    const rows = await this.tx.all(
      `SELECT ${contractTypes.columnNames} FROM contract_types WHERE tenant_id = ? ORDER BY position, id`,
      [this.call.tenantId],
    );
    return rows.map((row) => contractTypes.decode(row));
  }

  async templates(): Promise<TemplateRow[]> {
    const rows = await this.tx.all(
      `SELECT ${templates.columnNames} FROM lifecycle_templates WHERE tenant_id = ? ORDER BY created_at, id`,
      [this.call.tenantId],
    );
    return rows.map((row) => templates.decode(row));
  }

  async stage(id: string): Promise<StageRow | undefined> {
    if (!isId(id)) return undefined;
    const row = await this.tx.get(`SELECT ${stages.columnNames} FROM lifecycle_stages WHERE tenant_id = ? AND id = ?`, [
      this.call.tenantId,
      id,
    ]);
    return row && stages.decode(row);
  }

  async transition(id: string): Promise<TransitionRow | undefined> {
    if (!isId(id)) return undefined;
    const row = await this.tx.get(
      `SELECT ${transitions.columnNames} FROM lifecycle_transitions WHERE tenant_id = ? AND id = ?`,
      [this.call.tenantId, id],
    );
    return row && transitions.decode(row);
  }

  /** How many contracts are in a stage: live ones, and deleted ones that may be restored. */
  async contractsIn({ templateId, code }: Pick<StageRow, 'templateId' | 'code'>): Promise<number> {
    return this.countContracts('lifecycle_template_id = ? AND stage_code = ?', templateId, code);
  }

  /** How many contracts have a type, including deleted ones that may be restored. */
  async contractsOfType(code: string): Promise<number> {
    return this.countContracts('type_code = ?', code);
  }

  /** Updates the stage name stored in contracts. Their versions do not change, since no user has edited them. */
  async renameInContracts({ templateId, code, name }: Pick<StageRow, 'templateId' | 'code' | 'name'>): Promise<void> {
    await this.tx.run(
      'UPDATE contracts SET stage_name = ? WHERE tenant_id = ? AND lifecycle_template_id = ? AND stage_code = ?',
      [name, this.call.tenantId, templateId, code],
    );
  }

  async insertType(draft: Draft<ContractTypeRow>): Promise<ContractTypeRow> {
    const row = this.stamped(draft);
    await contractTypes.insert(this.tx, this.call.tenantId, [row]);
    this.recorder.record({ table: contractTypes, id: row.id, before: null, after: row });
    return row;
  }

  async updateType(before: ContractTypeRow, after: ContractTypeRow): Promise<ContractTypeRow> {
    if (isSame(before, after)) return before;
    const row = this.touched(after);
    await contractTypes.update(this.tx, this.call.tenantId, { id: row.id, before, after: row });
    this.recorder.record({ table: contractTypes, id: row.id, before: before, after: row });
    return row;
  }

  /**
   * Creates a template with its stages and transitions. The previous default template must have been updated before.
   */
  async insertTemplate(
    draft: Draft<TemplateRow>,
    content: { readonly stages: readonly Draft<StageRow>[]; readonly transitions: readonly Draft<TransitionRow>[] },
  ): Promise<{ template: TemplateRow; stages: StageRow[]; transitions: TransitionRow[] }> {
    const template = this.stamped(draft);
    await templates.insert(this.tx, this.call.tenantId, [template]);
    this.recorder.record({ table: templates, id: template.id, before: null, after: template });
    return {
      template,
      stages: await this.insertStages(content.stages),
      transitions: await this.insertTransitions(content.transitions),
    };
  }

  async updateTemplate(before: TemplateRow, after: TemplateRow): Promise<TemplateRow> {
    if (isSame(before, after)) return before;
    const row = this.touched(after);
    await templates.update(this.tx, this.call.tenantId, { id: row.id, before, after: row });
    this.recorder.record({ table: templates, id: row.id, before: before, after: row });
    return row;
  }

  async insertStages(drafts: readonly Draft<StageRow>[]): Promise<StageRow[]> {
    const rows = drafts.map((draft) => this.stamped(draft));
    await stages.insert(this.tx, this.call.tenantId, rows);
    for (const row of rows)
      this.recorder.record({ table: stages, id: row.id, root: ofTemplate(row.templateId), before: null, after: row });
    return rows;
  }

  async updateStage(before: StageRow, after: StageRow): Promise<StageRow> {
    if (isSame(before, after)) return before;
    const row = this.touched(after);
    await stages.update(this.tx, this.call.tenantId, { id: row.id, before, after: row });
    this.recorder.record({ table: stages, id: row.id, root: ofTemplate(row.templateId), before: before, after: row });
    return row;
  }

  async insertTransitions(drafts: readonly Draft<TransitionRow>[]): Promise<TransitionRow[]> {
    const rows = drafts.map((draft) => this.stamped(draft));
    await transitions.insert(this.tx, this.call.tenantId, rows);
    for (const row of rows)
      this.recorder.record({
        table: transitions,
        id: row.id,
        root: ofTemplate(row.templateId),
        before: null,
        after: row,
      });
    return rows;
  }

  async updateTransition(before: TransitionRow, after: TransitionRow): Promise<TransitionRow> {
    if (isSame(before, after)) return before;
    const row = this.touched(after);
    await transitions.update(this.tx, this.call.tenantId, { id: row.id, before, after: row });
    this.recorder.record({
      table: transitions,
      id: row.id,
      root: ofTemplate(row.templateId),
      before: before,
      after: row,
    });
    return row;
  }

  private async countContracts(condition: string, ...values: string[]): Promise<number> {
    const row = await this.tx.get(
      `SELECT count(*) AS n FROM contracts WHERE tenant_id = ? AND ${condition} AND (deleted_at IS NULL OR deleted_at > ?)`,
      [this.call.tenantId, ...values, this.clock.now() - RESTORABLE_MS],
    );
    return Number(row?.['n']);
  }

  private stamped<D extends object>(draft: D): D & Stamped {
    const now = this.clock.now();
    return { ...draft, createdAt: now, updatedAt: now };
  }

  private touched<R extends Stamped>(row: R): R {
    return { ...row, updatedAt: this.clock.now() };
  }
}

/** Stages and transitions are audited with their template. */
const ofTemplate = (id: string): Root => ({ kind: 'lifecycle', id });

const isSame = (before: object, after: object): boolean => JSON.stringify(before) === JSON.stringify(after);
