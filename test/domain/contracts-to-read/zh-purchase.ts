/**
 * A purchase in which the buyer is party A: running text names the parties, amounts are in units of ten thousand, and
 * the labels are letter-spaced.
 */
export const ZH_PURCHASE = {
  text: `设 备 采 购 合 同

合 同 编 号：CG20260408
甲　　方（买方）：重庆长江港务集团有限公司
乙　　方（卖方）：湖南三山重工股份有限公司

本合同由重庆长江港务集团有限公司（以下简称“甲方”）与湖南三山重工股份有限公司（以下简称“乙方”）于2026年4月8日在重庆签订。

一、采购内容
1、项目名称：果园港二期扩建工程设备采购
2、设备名称：轨道式集装箱门式起重机
3、型    号：RMG40.5T
4、数    量：贰台
5、单    价：人民币640万元
6、合同总价：人民币1280万元（大写：人民币壹仟贰佰捌拾万元整），含税价，增值税税率13%。

二、付款
付款方式：银行承兑汇票。
第一期：合同生效后10日内支付合同总价的20%，计人民币256万元；
第二期：2026年8月31日前支付合同总价的50%；
第三期：验收合格后支付合同总价的30%。

三、交货与验收
乙方应在2026年9月30日前完成交货，并负责安装、调试。

四、合同期限：2026年4月8日至2027年4月7日

五、账户
乙方开户行：中国民生银行长沙分行营业部
乙方账号：6210 0017 0001 2345

六、其他
备注：本合同一式四份，双方各执两份。
`,
  expected: {
    contractNo: 'CG20260408',
    projectName: '果园港二期扩建工程设备采购',
    type: 'sale',
    partyA: '重庆长江港务集团有限公司',
    partyB: '湖南三山重工股份有限公司',
    equipmentName: '轨道式集装箱门式起重机',
    equipmentModel: 'RMG40.5T',
    quantity: 2,
    unitPrice: 6_400_000,
    totalAmount: 12_800_000,
    currencyCode: 'CNY',
    paymentMethod: '银行承兑汇票',
    payeeBank: '中国民生银行长沙分行营业部',
    payeeAccount: '6210 0017 0001 2345',
    signDate: '2026-04-08',
    startDate: '2026-04-08',
    endDate: '2027-04-07',
    invoicePoints: 13,
    remark: '本合同一式四份，双方各执两份',
    'payments[0].period': '第一期',
    'payments[0].amount': 2_560_000,
    'payments[1].period': '第二期',
    'payments[1].dueDate': '2026-08-31',
    'payments[1].amount': 6_400_000,
    'payments[2].period': '第三期',
    'payments[2].amount': 3_840_000,
  },
  terms: ['payment 付款', 'debug 交货与验收'],
  warnings: [] as string[],
};
