import { composeNotices, type Words } from './compose.js';
import type { ReminderLine } from './notice.js';
import { line } from './wording.js';

const due = ({ daysOverdue }: ReminderLine): string =>
  daysOverdue > 0 ? `已逾期 ${daysOverdue} 天` : daysOverdue === 0 ? '今日到期' : `${-daysOverdue} 天后到期`;

const WORDS: Words = {
  marks: { colon: '：', dot: ' · ' },
  more: (count) => `……另有 ${count} 笔`,
  openContract: '查看合同',
  labels: {
    amount: '应收',
    company: '我方主体',
    contract: '合同',
    customer: '客户',
    due: '到期日',
    file: '文件',
    found: '发现',
    note: '备注',
    outstanding: '未收',
    owner: '负责人',
    partyB: '乙方',
    payment: '款项',
    project: '项目',
    received: '已收',
    time: '时间',
  },
  dueDate: (payment) => `${payment.dueDate}（${due(payment)}）`,
  tone: {
    pre_due: { opening: '有一笔款项即将到期。', closing: '建议提前与客户确认付款安排，避免延误。' },
    due_day: { opening: '有一笔款项今日到期。', closing: '请核对是否到账，并登记收款。' },
    overdue_1: { opening: '有一笔款项已逾期。', closing: '请与客户确认付款时间；如客户承诺付款日期，请登记承诺。' },
    escalated: {
      opening: '有一笔款项仍未收回，现同时通知上级负责人。',
      closing: '请与客户约定付款日期，或登记暂缓催收的原因。',
    },
    final: { opening: '这是该笔长期逾期款项的最后一次自动提醒。', closing: '请决定后续处理方式，系统不再自动提醒。' },
    manual: { opening: '提醒您跟进一笔未收款项。', closing: '请与客户跟进，并登记收款。' },
  },
  reminder: (payment, outstanding) => [
    ...(payment.step === 'final' ? ['最后提醒，'] : []),
    ...line`${due(payment)}：${payment.contractNo}，${payment.partyA}，未收 ${outstanding}`,
  ],
  digest: {
    subject: (count, totals) => line`收款提醒：${count} 笔款项，未收 ${totals.join('；')}`,
    opening: () => '以下款项需要跟进。',
    due: (payment) => line`到期日 ${payment.dueDate}，${due(payment)}`,
    total: (total) => line`未收合计：${total}`,
    closing: '请逐一与客户跟进，并登记收款。',
  },
  moved: {
    subject: ({ contractNo, toStage }) => line`合同 ${contractNo} 已进入“${toStage}”`,
    opening: ({ actorName, fromStage, toStage }) => line`${actorName} 将合同从“${fromStage}”流转至“${toStage}”。`,
  },
  infected: {
    subject: (fileName) => line`文件 ${fileName} 中发现恶意软件`,
    opening: '扫描程序在上传的文件中发现恶意软件，该文件无法下载。',
    closing: '请向提供方索取无毒文件，并检查文件来源设备。',
  },
  test: {
    subject: ({ tenantName }) => line`${tenantName} 的测试消息`,
    opening: ({ tenantName, channelName }) => line`这是 ${tenantName} 的通知渠道“${channelName}”的测试消息。`,
    closing: '无需处理。',
  },
};

export const simplifiedChinese = composeNotices(WORDS);
