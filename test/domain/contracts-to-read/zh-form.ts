/** A form of two columns separated by tabs. */
export const ZH_FORM = {
  text: `设备租赁合同书
合同编号	ZL-26-115
甲方（出租方）	武汉长动机械租赁有限公司
乙方（承租方）	中铁大桥局第五工程有限公司
项目名称	武汉天河机场三跑道
租赁物名称	旋挖钻机
规格型号	SR285R
租赁数量	1台
月租金	￥128,000.00
租赁押金	￥256,000.00
起租日期	2026年10月8日
终止日期	2027年10月7日
支付方式	银行转账
付款周期	按月，先付后用
税率	13%
收款银行	招商银行武汉分行
收款账号	127909876543210
`,
  expected: {
    contractNo: 'ZL-26-115',
    projectName: '武汉天河机场三跑道',
    type: 'lease',
    partyA: '武汉长动机械租赁有限公司',
    partyB: '中铁大桥局第五工程有限公司',
    equipmentName: '旋挖钻机',
    equipmentModel: 'SR285R',
    quantity: 1,
    currencyCode: 'CNY',
    paymentMethod: '银行转账',
    payeeAccount: '127909876543210',
    payeeBank: '招商银行武汉分行',
    deposit: 256000,
    periodicRent: 128000,
    paymentCycle: '按月，先付后用',
    startDate: '2026-10-08',
    endDate: '2027-10-07',
    invoicePoints: 13,
  },
  terms: [] as string[],
  warnings: [] as string[],
};
