import type { StageInput, TransitionConfigInput } from '../../data-plane-agent/plane/contract/records/lifecycle.js';
import type { DynamicField } from '../../data-plane-agent/plane/contract/records/fields.js';

/**
 * The lifecycle of turnkey plants: the price is reviewed, large contracts go to the board, and the handover requires
 * finished tasks.
 */
export const TURNKEY_TEMPLATE = {
  code: 'turnkey',
  name: '交钥匙项目',
  description:
    'Plants delivered ready to run. What costs much is decided by the board; delivery ends when its tasks are done.',
} as const;

/** The amount, in CNY, from which the board decides. */
export const BOARD_FROM = 400_000;

/** The stages by their codes; each belongs to one of the eight that all contracts have. */
export const TURNKEY_STAGES = [
  { code: 'draft', name: '起草' },
  { code: 'feasibility', name: '可行性评审', category: 'review' },
  { code: 'board', name: '董事会审批', category: 'review', allowedRoleCodes: ['owner', 'admin', 'manager'] },
  { code: 'approved', name: '已批准', locksCoreFields: true },
  { code: 'signed', name: '已签署', locksCoreFields: true },
  {
    code: 'delivery',
    name: '交付中',
    category: 'active',
    locksCoreFields: true,
    completionRules: { requireTasksDone: true },
  },
  { code: 'warranty', name: '质保期', category: 'active', locksCoreFields: true },
  { code: 'closed', name: '已关闭', category: 'completed', locksCoreFields: true },
  { code: 'archived', name: '已归档', locksCoreFields: true, isTerminal: true },
] as const satisfies readonly StageInput[];
export type TurnkeyStage = (typeof TURNKEY_STAGES)[number]['code'];

/** The task that the transition to delivery creates. */
export const FACTORY_TEST = { code: 'factory_test', title: '出厂预验收', kind: 'acceptance', dueInDays: 30 } as const;

interface Named {
  /** A custom field that must have a value before a contract is submitted. */
  readonly orderNo: Pick<DynamicField, 'id'>;
  /** The channel that is notified when a contract goes to the board. */
  readonly channelId: string;
}

/** The moves from stage to stage. The last one is outdated and disabled. */
export const turnkeyTransitions = ({ orderNo, channelId }: Named) =>
  [
    {
      code: 'submit',
      name: '提交评审',
      fromStageCode: 'draft',
      toStageCode: 'feasibility',
      conditions: { requireFields: ['payments', 'terms', `dynamicFields.${orderNo.id}`] },
    },
    {
      code: 'send_back',
      name: '退回',
      fromStageCode: 'feasibility',
      toStageCode: 'draft',
      requiredControl: 'approve',
      conditions: { requireNote: true },
    },
    {
      code: 'approve',
      name: '批准',
      fromStageCode: 'feasibility',
      toStageCode: 'approved',
      requiredControl: 'approve',
      conditions: { maxAmount: BOARD_FROM, forbidSelfApproval: true },
    },
    {
      code: 'to_board',
      name: '报董事会',
      fromStageCode: 'feasibility',
      toStageCode: 'board',
      requiredControl: 'approve',
      conditions: { minAmount: BOARD_FROM },
      effects: { setLocked: true, notifyChannelId: channelId },
    },
    {
      code: 'board_approve',
      name: '董事会批准',
      fromStageCode: 'board',
      toStageCode: 'approved',
      requiredControl: 'admin',
      conditions: { forbidSelfApproval: true },
    },
    {
      code: 'board_decline',
      name: '董事会否决',
      fromStageCode: 'board',
      toStageCode: 'draft',
      requiredControl: 'admin',
      conditions: { requireNote: true },
    },
    {
      code: 'sign',
      name: '签署',
      fromStageCode: 'approved',
      toStageCode: 'signed',
      requiredControl: 'sign',
      effects: { setFieldToday: ['signDate'] },
    },
    {
      code: 'start_delivery',
      name: '开始交付',
      fromStageCode: 'signed',
      toStageCode: 'delivery',
      effects: { setStatus: 'in_progress', createTask: FACTORY_TEST },
    },
    { code: 'hand_over', name: '移交', fromStageCode: 'delivery', toStageCode: 'warranty', requiredControl: 'approve' },
    {
      code: 'close',
      name: '关闭',
      fromStageCode: 'warranty',
      toStageCode: 'closed',
      requiredControl: 'approve',
      conditions: { requireAllPaid: true },
      effects: { setStatus: 'completed' },
    },
    {
      code: 'reopen',
      name: '重新打开',
      fromStageCode: 'closed',
      toStageCode: 'warranty',
      requiredControl: 'admin',
      effects: { setStatus: 'in_progress' },
    },
    { code: 'archive', name: '归档', fromStageCode: 'closed', toStageCode: 'archived', requiredControl: 'approve' },
    {
      code: 'fast_track',
      name: '直接签署（停用）',
      fromStageCode: 'draft',
      toStageCode: 'signed',
      requiredControl: 'admin',
      conditions: { requireFileKinds: ['contract_original'] },
      enabled: false,
    },
  ] satisfies TransitionConfigInput[];
