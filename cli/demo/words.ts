import type { Language } from './wares.js';

type Some<T> = readonly [T, ...T[]];

/** The fulfillment tasks of a contract, in their order. */
export const TASK_KINDS = ['delivery', 'installation', 'training', 'acceptance', 'return'] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** Notes of the demo's members, in the three languages of its companies. */
export interface Words {
  /** Notes of the moves from stage to stage, by transition. */
  readonly moves: Readonly<
    Record<
      | 'mark_extracted'
      | 'submit_review'
      | 'return_to_draft'
      | 'resubmit'
      | 'approve'
      | 'sign'
      | 'activate'
      | 'complete'
      | 'archive',
      Some<string>
    >
  >;
  readonly refused: string;
  readonly lock: string;
  readonly unlock: string;
  readonly tasks: Readonly<Record<TaskKind, string>>;
  /** A note that is added later. */
  readonly counsel: Readonly<{ label: string; values: Some<string> }>;
  readonly reminded: Readonly<{ label: string; values: Some<string> }>;
}

export const WORDS: Readonly<Record<Language, Words>> = {
  zh: {
    moves: {
      mark_extracted: ['扫描件已录入，请核对。', '关键条款已从原件摘录。'],
      submit_review: [
        '价格和付款节点已与客户确认，请审。',
        '按标准模板起草，无特殊条款。',
        '客户要求本周内回签，请优先审核。',
      ],
      return_to_draft: ['第七条违约金比例与模板不符，请与客户重新确认。', '缺交货验收附件，请补充。'],
      resubmit: ['已按意见修改，请复审。', '附件已补齐。'],
      approve: ['条款无异议。', '同意，注意质保金比例。', '同意，价格在授权范围内。'],
      sign: ['双方已用印，原件归档。', '客户已回签。'],
      activate: ['预付款计划已生效。', '已通知交付与财务。'],
      complete: ['货款已全部结清，质保期内。', '租期届满，设备已退还。'],
      archive: ['资料齐全，归档。', '原件已移交档案室。'],
    },
    refused: '客户催得急，想先直接批准。',
    lock: '法务核对责任限额条款期间，暂不得修改。',
    unlock: '核对完毕，可继续修改。',
    tasks: {
      delivery: '设备交货',
      installation: '安装调试',
      training: '操作人员培训',
      acceptance: '客户验收',
      return: '设备退还检查',
    },
    counsel: { label: '法务意见', values: ['责任上限改为合同总额，客户已同意。', '争议解决地为苏州仲裁委员会。'] },
    reminded: { label: '催款记录', values: ['已电话联系客户财务，承诺下周付款。', '客户称发票未收到，已重新寄送。'] },
  },
  en: {
    moves: {
      mark_extracted: ['Read from the scan; please compare.', 'Terms taken over from the signed paper.'],
      submit_review: [
        'Price and milestones agreed with the customer, please review.',
        'Standard terms, nothing unusual.',
        'Customer wants it back this week.',
      ],
      return_to_draft: [
        'Clause 7 departs from our late-payment terms; please take it up with the customer.',
        'Annex on acceptance is missing.',
      ],
      resubmit: ['Changed as asked.', 'Annex is in now.'],
      approve: ['No objections.', 'Approved; mind the retention.', 'Approved, within the price list.'],
      sign: ['Signed by both sides, original in the safe.', 'Countersigned copy came back.'],
      activate: ['Plan is running; delivery and accounts are told.', 'First invoice can go out.'],
      complete: ['All paid; warranty is running.', 'Term ended, equipment is back.'],
      archive: ['File complete.', 'Original handed to the archive.'],
    },
    refused: 'The customer is pressing, so I would like to approve it right away.',
    lock: 'Not to be changed while counsel checks the limit of liability.',
    unlock: 'Checked; it may be changed again.',
    tasks: {
      delivery: 'Deliver the equipment',
      installation: 'Install and commission',
      training: 'Train the operators',
      acceptance: 'Acceptance by the customer',
      return: 'Inspect on return',
    },
    counsel: {
      label: 'Legal opinion',
      values: ['Liability capped at the contract value; agreed with the customer.', 'Dutch law, Rotterdam courts.'],
    },
    reminded: {
      label: 'Reminder',
      values: [
        "Spoke to accounts payable: payment is in next week's run.",
        'Customer says the invoice never came; sent again.',
      ],
    },
  },
  ja: {
    moves: {
      mark_extracted: ['スキャンから読み取り済み。照合をお願いします。', '原本から主要条項を転記。'],
      submit_review: [
        '金額と支払条件は顧客と合意済み。審査をお願いします。',
        '標準約款のとおり。',
        '今週中の返送を希望されています。',
      ],
      return_to_draft: [
        '遅延損害金の条項が約款と異なります。再確認してください。',
        '検収書の様式が添付されていません。',
      ],
      resubmit: ['ご指摘のとおり修正しました。', '添付を追加しました。'],
      approve: ['異議なし。', '承認。留保金の率に注意。', '承認。価格表の範囲内。'],
      sign: ['双方押印済み。原本を保管。', '返送された契約書を受領。'],
      activate: ['支払計画を開始。経理へ連絡済み。', '納入担当へ連絡済み。'],
      complete: ['全額入金済み。保証期間中。', '満了。機械は返却済み。'],
      archive: ['書類一式を確認。', '原本を書庫へ移管。'],
    },
    refused: '顧客が急いでいるため、先に承認したい。',
    lock: '責任制限条項の確認中は変更しないこと。',
    unlock: '確認済み。変更可。',
    tasks: {
      delivery: '機械の納入',
      installation: '据付・試運転',
      training: '操作教育',
      acceptance: '検収',
      return: '返却検査',
    },
    counsel: { label: '法務意見', values: ['責任の上限を契約総額とし、顧客も同意。', '管轄は名古屋地方裁判所。'] },
    reminded: { label: '督促', values: ['経理へ電話。来週支払いとのこと。', '請求書が届いていないとのことで再送。'] },
  },
};
