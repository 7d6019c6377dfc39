/**
 * A sale after the form for industrial goods: seller and buyer, a table whose rows sum to the total, and staged
 * payments as shares of the total.
 */
export const ZH_SALE = {
  text: `工业品买卖合同

出卖人：苏州精工数控机床有限公司          合同编号：SJ-XS-2026-0312
买受人：浙江大禾精密制造股份有限公司      签订时间：二〇二六年三月十二日

第一条  标的、数量、价款
标的名称\t规格型号\t计量单位\t数量\t单价（元）\t金额（元）
立式加工中心\tVMC-850E\t台\t3\t386,000.00\t1,158,000.00
合计人民币金额（大写）：壹佰壹拾伍万捌仟元整\t\t\t\t\t1,158,000.00

第二条  质量标准：按国家标准及出卖人企业标准执行，质保期自验收合格之日起12个月。
第三条  交货时间、地点：出卖人应于2026年5月31日前交货至买受人厂区。
第四条  安装调试：出卖人负责设备的安装、调试及操作培训，买受人提供必要条件。
第五条  结算方式：电汇。
（1）预付款：合同签订后5个工作日内，买受人支付合同总价的30%，即347,400元；
（2）发货款：设备发货前，买受人支付合同总价的60%，即694,800元；
（3）质保金：质保期满后10日内，买受人支付合同总价的10%，即115,800元。
第六条  出卖人收到每笔款项后10日内开具13%的增值税专用发票。
第七条  违约责任：逾期付款的，按逾期金额每日万分之五支付违约金。
第八条  本合同自2026年3月12日起生效，有效期至2027年6月30日。

出卖人（章）：                              买受人（章）：
住所：苏州市吴中区旺山路18号                住所：浙江省宁波市鄞州区下应北路
法定代表人：陈志远                          法定代表人：周敏
开户银行：中国银行苏州吴中支行              开户银行：中国农业银行宁波鄞州支行
账号：4728 5821 0936                        账号：39-1002 0104 0012 345
`,
  expected: {
    contractNo: 'SJ-XS-2026-0312',
    type: 'sale',
    partyA: '浙江大禾精密制造股份有限公司',
    partyB: '苏州精工数控机床有限公司',
    equipmentName: '立式加工中心',
    equipmentModel: 'VMC-850E',
    quantity: 3,
    unitPrice: 386_000,
    totalAmount: 1_158_000,
    currencyCode: 'CNY',
    paymentMethod: '电汇',
    payeeBank: '中国银行苏州吴中支行',
    payeeAccount: '4728 5821 0936',
    signDate: '2026-03-12',
    startDate: '2026-03-12',
    endDate: '2027-06-30',
    invoicePoints: 13,
    'payments[0].period': '预付款',
    'payments[0].amount': 347_400,
    'payments[1].period': '发货款',
    'payments[1].amount': 694_800,
    'payments[2].period': '质保金',
    'payments[2].amount': 115_800,
  },
  terms: ['delivery 交货时间、地点', 'debug 安装调试', 'payment 结算方式'],
  warnings: [] as string[],
};
