import { iso } from '../../../data-plane-agent/base/instants.js';
import { amountText, totalsOf } from './amounts.js';
import { isDigest, type NoticeOf, type ReminderLine, type ReminderStep } from './notice.js';
import { gravest, line, NOTHING, urgencyOf, type Line, type NoticeText, type NoticeWording } from './wording.js';

const marks = { colon: '：', dot: ' · ' };
const more = (count: number): string => `……另有 ${count} 笔`;
const OPEN = '查看合同';

/** When a payment is or was due. */
const due = ({ daysOverdue }: ReminderLine): string =>
  daysOverdue > 0 ? `已逾期 ${daysOverdue} 天` : daysOverdue === 0 ? '今日到期' : `${-daysOverdue} 天后到期`;

/** The tone of each step, for the member who looks after the payment. */
const TONE: Readonly<Record<ReminderStep, { readonly opening: string; readonly closing: string }>> = {
  pre_due: { opening: '有一笔款项即将到期。', closing: '建议提前与客户确认付款安排，避免延误。' },
  due_day: { opening: '有一笔款项今日到期。', closing: '请核对是否到账，并登记收款。' },
  overdue_1: { opening: '有一笔款项已逾期。', closing: '请与客户确认付款时间；如客户承诺付款日期，请登记承诺。' },
  escalated: {
    opening: '有一笔款项仍未收回，现同时通知上级负责人。',
    closing: '请与客户约定付款日期，或登记暂缓催收的原因。',
  },
  final: { opening: '这是该笔长期逾期款项的最后一次自动提醒。', closing: '请决定后续处理方式，系统不再自动提醒。' },
  manual: { opening: '提醒您跟进一笔未收款项。', closing: '请与客户跟进，并登记收款。' },
};

function digest({ lines }: NoticeOf<'reminder'>): NoticeText {
  const step = gravest(lines.map((each) => each.step));
  const totals = totalsOf(lines);
  return {
    ...NOTHING,
    marks,
    more,
    subject: line`收款提醒：${lines.length} 笔款项，未收 ${totals.join('；')}`,
    opening: [['以下款项需要跟进。']],
    entries: lines.map((each) => ({
      title: { value: each.contractNo },
      rest: [
        ...line`${each.partyA} · ${each.period} · ${amountText(each.outstandingAmount, each.currencyCode)} · `,
        ...line`到期日 ${each.dueDate}，${due(each)}`,
      ],
      link: each.link,
    })),
    totals: totals.map((total): Line => line`未收合计：${total}`),
    closing: [[lines.length === 1 ? TONE[step].closing : '请逐一与客户跟进，并登记收款。']],
    urgency: urgencyOf(step),
  };
}

export const simplifiedChinese: NoticeWording = {
  reminder: (notice) => {
    const [only] = notice.lines;
    if (!only || isDigest(notice)) return digest(notice);
    const { currencyCode: currency, step } = only;
    const outstanding = amountText(only.outstandingAmount, currency);
    return {
      ...NOTHING,
      marks,
      more,
      subject: [
        ...(step === 'final' ? ['最后提醒，'] : []),
        ...line`${due(only)}：${only.contractNo}，${only.partyA}，未收 ${outstanding}`,
      ],
      opening: [[TONE[step].opening]],
      facts: [
        { label: '合同', value: { value: only.contractNo } },
        { label: '项目', value: { value: only.projectName } },
        { label: '客户', value: { value: only.partyA } },
        { label: '我方主体', value: { value: only.subjectName } },
        ...(only.partyB === only.subjectName ? [] : [{ label: '乙方', value: { value: only.partyB } }]),
        { label: '款项', value: { value: only.period } },
        { label: '到期日', value: { value: `${only.dueDate}（${due(only)}）` } },
        { label: '应收', value: { value: amountText(only.amount, currency) } },
        { label: '已收', value: { value: amountText(only.receivedAmount, currency) } },
        { label: '未收', value: { value: outstanding } },
        ...(only.ownerName === null ? [] : [{ label: '负责人', value: { value: only.ownerName } }]),
      ],
      closing: [[TONE[step].closing]],
      link: only.link === null ? null : { label: OPEN, url: only.link },
      urgency: urgencyOf(step),
    };
  },
  'workflow.moved': ({ contractNo, projectName, fromStage, toStage, actorName, note, at, link }) => ({
    ...NOTHING,
    marks,
    more,
    subject: line`合同 ${contractNo} 已进入“${toStage}”`,
    opening: [line`${actorName} 将合同从“${fromStage}”流转至“${toStage}”。`],
    facts: [
      { label: '合同', value: { value: contractNo } },
      { label: '项目', value: { value: projectName } },
      { label: '时间', value: { value: iso(at) } },
      ...(note === null || note === '' ? [] : [{ label: '备注', value: { value: note, isLong: true } }]),
    ],
    link: link === null ? null : { label: OPEN, url: link },
    urgency: 'info',
  }),
  'file.infected': ({ fileName, contractNo, signature, at, link }) => ({
    ...NOTHING,
    marks,
    more,
    subject: line`文件 ${fileName} 中发现恶意软件`,
    opening: [['扫描程序在上传的文件中发现恶意软件，该文件无法下载。']],
    facts: [
      { label: '文件', value: { value: fileName } },
      ...(contractNo === null ? [] : [{ label: '合同', value: { value: contractNo } }]),
      { label: '发现', value: { value: signature } },
      { label: '时间', value: { value: iso(at) } },
    ],
    closing: [['请向提供方索取无毒文件，并检查文件来源设备。']],
    link: link === null ? null : { label: OPEN, url: link },
    urgency: 'urgent',
  }),
  'channel.test': ({ tenantName, channelName, at }) => ({
    ...NOTHING,
    marks,
    more,
    subject: line`${tenantName} 的测试消息`,
    opening: [line`这是 ${tenantName} 的通知渠道“${channelName}”的测试消息。`],
    facts: [{ label: '时间', value: { value: iso(at) } }],
    closing: [['无需处理。']],
    urgency: 'info',
  }),
};
