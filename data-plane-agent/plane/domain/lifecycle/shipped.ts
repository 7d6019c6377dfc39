import { createHash } from 'node:crypto';
import { WORKFLOW_STAGES, type Control, type WorkflowStage } from '../../contract/vocabulary.js';
import type { Effects } from '../../contract/records/conditions.js';
import type { StageRow, TemplateRow, TransitionRow } from '../../tables/lifecycle.js';
import type { ContractTypeRow } from '../../tables/contract-types.js';

export interface Shipped {
  readonly template: TemplateRow;
  readonly stages: StageRow[];
  readonly transitions: TransitionRow[];
  readonly types: ContractTypeRow[];
}

/**
 * The default configuration of every tenant. Ids and times are derived from the tenant id, so the configuration can be
 * read before it is written, and is the same afterwards. Each workflow state has an action, a control and a lock.
 */
export function shipped(tenantId: string): Shipped {
  const at = madeAt(tenantId);
  const stamps = { createdAt: at, updatedAt: at };
  const id = (name: string) => derivedId(tenantId, name);
  const templateId = id('template');
  return {
    template: { id: templateId, code: 'standard', name: 'Standard', description: null, isDefault: true, ...stamps },
    stages: WORKFLOW_STAGES.map((code, i) => ({
      id: id(`stage ${code}`),
      templateId,
      code,
      name: code.charAt(0).toUpperCase() + code.slice(1),
      category: code,
      position: (i + 1) * 10,
      isTerminal: code === 'archived',
      locksCoreFields: LOCKING.includes(code),
      completionRules: {},
      allowedRoleCodes: [],
      ...stamps,
    })),
    transitions: TRANSITIONS.map(({ effects = {}, ...transition }, i) => ({
      ...transition,
      id: id(`transition ${transition.code}`),
      templateId,
      conditions: {},
      effects: { ...effects },
      position: (i + 1) * 10,
      enabled: true,
      ...stamps,
    })),
    types: TYPES.map((type, i) => ({
      ...type,
      id: id(`type ${type.code}`),
      description: null,
      enabled: true,
      position: (i + 1) * 10,
      fieldSchema: {},
      defaultRules: {},
      defaultTemplateId: templateId,
      ...stamps,
    })),
  };
}

const LOCKING: readonly WorkflowStage[] = ['approved', 'signed', 'active', 'completed', 'archived'];

const TRANSITIONS: readonly {
  code: string;
  name: string;
  fromStageCode: WorkflowStage;
  toStageCode: WorkflowStage;
  requiredControl: Control;
  effects?: Effects;
}[] = [
  {
    code: 'mark_extracted',
    name: 'Mark extracted',
    fromStageCode: 'draft',
    toStageCode: 'extracted',
    requiredControl: 'edit',
  },
  {
    code: 'submit_review',
    name: 'Submit for review',
    fromStageCode: 'draft',
    toStageCode: 'review',
    requiredControl: 'edit',
  },
  {
    code: 'submit_extracted',
    name: 'Submit for review',
    fromStageCode: 'extracted',
    toStageCode: 'review',
    requiredControl: 'edit',
  },
  {
    code: 'return_to_draft',
    name: 'Return to draft',
    fromStageCode: 'review',
    toStageCode: 'draft',
    requiredControl: 'approve',
  },
  { code: 'approve', name: 'Approve', fromStageCode: 'review', toStageCode: 'approved', requiredControl: 'approve' },
  { code: 'revise', name: 'Revise', fromStageCode: 'approved', toStageCode: 'review', requiredControl: 'approve' },
  {
    code: 'sign',
    name: 'Sign',
    fromStageCode: 'approved',
    toStageCode: 'signed',
    requiredControl: 'sign',
    effects: { setFieldToday: ['signDate'] },
  },
  {
    code: 'activate',
    name: 'Activate',
    fromStageCode: 'signed',
    toStageCode: 'active',
    requiredControl: 'edit',
    effects: { setStatus: 'in_progress' },
  },
  {
    code: 'complete',
    name: 'Complete',
    fromStageCode: 'active',
    toStageCode: 'completed',
    requiredControl: 'approve',
    effects: { setStatus: 'completed' },
  },
  {
    code: 'reopen',
    name: 'Reopen',
    fromStageCode: 'completed',
    toStageCode: 'active',
    requiredControl: 'admin',
    effects: { setStatus: 'in_progress' },
  },
  { code: 'archive', name: 'Archive', fromStageCode: 'completed', toStageCode: 'archived', requiredControl: 'approve' },
  { code: 'terminate', name: 'Terminate', fromStageCode: 'active', toStageCode: 'archived', requiredControl: 'admin' },
  { code: 'restore', name: 'Restore', fromStageCode: 'archived', toStageCode: 'completed', requiredControl: 'admin' },
];

const TYPES = [
  { code: 'sale', name: 'Sale', category: 'sale' },
  { code: 'lease', name: 'Lease', category: 'lease' },
] as const;

/** A deterministic UUIDv7 with the timestamp of the tenant's id. */
function derivedId(tenantId: string, name: string): string {
  const hash = createHash('sha256').update(`${tenantId} ${name}`).digest('hex');
  const variant = '89ab'[parseInt(hash.charAt(3), 16) % 4] ?? '8';
  return `${tenantId.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

/** The timestamp of a UUIDv7, in epoch milliseconds. */
const madeAt = (id: string): number => parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
