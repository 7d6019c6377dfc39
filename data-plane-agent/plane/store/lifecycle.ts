import type { Transaction } from '../../base/database/database.js';
import type { Clock } from '../../base/clock.js';
import { newId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { SHIPPED_TYPES, STANDARD_TEMPLATE } from '../domain/lifecycle.js';
import { contractTypes, stages, templates, transitions, workflowEvents, type ContractTypeRow, type StageRow, type TemplateRow, type WorkflowEventRow } from '../domain/rows.js';
import type { Journal } from './journal.js';

/** Contract types, lifecycle templates with their stages and transitions, and the event trail of contracts. */
export class LifecycleStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly clock: Clock,
    private readonly journal: Journal,
  ) {}

  /** Gives a tenant the shipped types and the standard template at its first use. Safe to call by several at once. */
  async ensureShipped(): Promise<void> {
    const { tenantId } = this.call;
    if (await this.tx.get('SELECT id FROM lifecycle_templates WHERE tenant_id = ? LIMIT 1', [tenantId])) return;
    const now = this.clock.now();
    const stamps = { createdAt: now, updatedAt: now };
    const template: TemplateRow = { id: newId(), code: STANDARD_TEMPLATE.code, name: STANDARD_TEMPLATE.name, description: null, isDefault: true, ...stamps };
    // Whoever comes second waits here for the first to commit, and then has nothing left to do.
    if ((await templates.insert(this.tx, tenantId, [template], { skipConflicts: true })) === 0) return;
    await stages.insert(this.tx, tenantId, STANDARD_TEMPLATE.stages.map((stage) => ({ ...stage, id: newId(), templateId: template.id, completionRules: {}, allowedRoleCodes: [], ...stamps })));
    await transitions.insert(
      this.tx,
      tenantId,
      STANDARD_TEMPLATE.transitions.map((transition, i) => ({ ...transition, id: newId(), templateId: template.id, conditions: {}, effects: { ...transition.effects }, position: (i + 1) * 10, enabled: true, ...stamps })),
    );
    await contractTypes.insert(
      this.tx,
      tenantId,
      SHIPPED_TYPES.map((type, i) => ({ ...type, id: newId(), description: null, enabled: true, position: (i + 1) * 10, fieldSchema: {}, defaultRules: {}, defaultTemplateId: template.id, ...stamps })),
    );
    this.journal.changed({ record: 'lifecycle', id: template.id, before: null, after: { code: template.code, name: template.name } });
  }

  async type(code: string): Promise<ContractTypeRow | undefined> {
    const row = await this.tx.get(`SELECT ${contractTypes.columnNames} FROM contract_types WHERE tenant_id = ? AND code = ?`, [this.call.tenantId, code]);
    return row && contractTypes.decode(row);
  }

  async template(id: string): Promise<TemplateRow | undefined> {
    const row = await this.tx.get(`SELECT ${templates.columnNames} FROM lifecycle_templates WHERE tenant_id = ? AND id = ?`, [this.call.tenantId, id]);
    return row && templates.decode(row);
  }

  async defaultTemplate(): Promise<TemplateRow> {
    const row = await this.tx.get(`SELECT ${templates.columnNames} FROM lifecycle_templates WHERE tenant_id = ? AND is_default = 1 ORDER BY id LIMIT 1`, [this.call.tenantId]);
    if (!row) throw new Error('the tenant has no default lifecycle template');
    return templates.decode(row);
  }

  /** The stages of a template in their order. */
  async stages(templateId: string): Promise<StageRow[]> {
    const rows = await this.tx.all(`SELECT ${stages.columnNames} FROM lifecycle_stages WHERE tenant_id = ? AND template_id = ? ORDER BY position, id`, [this.call.tenantId, templateId]);
    return rows.map((row) => stages.decode(row));
  }

  /** Adds to a contract's event trail, which is never changed afterwards. */
  async record(event: Omit<WorkflowEventRow, 'id' | 'actorId' | 'actorName' | 'actorRole' | 'source' | 'createdAt'>): Promise<void> {
    const { actor } = this.call;
    const source = actor.kind === 'user' ? 'user' : 'system';
    await workflowEvents.insert(this.tx, this.call.tenantId, [{ ...event, id: newId(), actorId: actor.id, actorName: actor.name, actorRole: actor.roleCode, source, createdAt: this.clock.now() }]);
  }
}
