import type { AgingBucket } from '../../contract/records/analytics.js';
import type { ContractStatus, ContractType, PaymentStatus, WorkflowStage } from '../../contract/vocabulary.js';

type Labels = Readonly<
  Record<ContractType | ContractStatus | WorkflowStage | PaymentStatus | AgingBucket | 'other', string>
>;

const EN: Labels = {
  sale: 'Sale',
  lease: 'Lease',
  in_progress: 'In progress',
  completed: 'Completed',
  draft: 'Draft',
  extracted: 'Extracted',
  review: 'Review',
  approved: 'Approved',
  signed: 'Signed',
  active: 'Active',
  archived: 'Archived',
  unpaid: 'Unpaid',
  partial: 'Partly paid',
  paid: 'Paid',
  not_due: 'Not due',
  d1_30: '1–30 days',
  d31_60: '31–60 days',
  d61_90: '61–90 days',
  d90_plus: 'Over 90 days',
  other: 'Other',
};

const ZH: Labels = {
  sale: '销售',
  lease: '租赁',
  in_progress: '进行中',
  completed: '已完成',
  draft: '草稿',
  extracted: '已提取',
  review: '审核中',
  approved: '已批准',
  signed: '已签署',
  active: '履行中',
  archived: '已归档',
  unpaid: '未付款',
  partial: '部分付款',
  paid: '已付清',
  not_due: '未到期',
  d1_30: '逾期1–30天',
  d31_60: '逾期31–60天',
  d61_90: '逾期61–90天',
  d90_plus: '逾期90天以上',
  other: '其他',
};

/** Display labels by key, in the tenant's language. */
export const labelsIn = (language: string): Labels => (language.toLowerCase().startsWith('zh') ? ZH : EN);
