/**
 * A sale with a guarantor: three parties, registered capital, freight and a guaranteed amount that are none of the
 * contract's fields.
 */
export const ZH_GUARANTEED = {
  text: `                    机械设备买卖合同
                                             合同编号：JX-2026-0930
卖方：沈阳北方机床股份有限公司（简称甲方）
注册资本：人民币5000万元    统一社会信用代码：912101001234567890
买方：长春一东汽车零部件有限公司（简称乙方）
丙方（保证人）：长春一东控股有限公司

    甲、乙、丙三方经友好协商，于2026年9月30日在长春市签订本合同。

第一条 标的物
    乙方向甲方购买数控车床（型号：CAK6150）共4台，单价为人民币18.6万元/台，合同总价款为人民币74.4万元（大写：柒拾肆万肆仟元整）。

第二条 交货
    甲方应于2026年12月15日前将设备运抵乙方工厂，运费人民币8,000元由甲方承担。

第三条 付款
    1. 本合同签订后5日内，乙方向甲方支付合同总价款的30%（人民币223,200元）作为预付款。
    2. 设备验收合格后10日内，乙方支付合同总价款的65%（人民币483,600元）。
    3. 剩余5%（人民币37,200元）作为质量保证金，质保期（12个月）届满后支付。
    乙方采用电汇方式付款。

第四条 质保
    质保期自验收合格之日起12个月。如乙方逾期付款，每日按应付未付金额的万分之五支付违约金，但累计不超过合同总价款的5%。

第五条 担保
    丙方对乙方的付款义务承担连带保证责任，保证金额不超过人民币80万元，保证期间至2028年12月31日。

第六条 其他
    本合同自三方盖章之日起生效。

甲方（盖章）：                乙方（盖章）：                丙方（盖章）：
`,
  expected: {
    contractNo: 'JX-2026-0930',
    type: 'sale',
    partyA: '沈阳北方机床股份有限公司',
    partyB: '长春一东汽车零部件有限公司',
    equipmentName: '数控车床',
    equipmentModel: 'CAK6150',
    quantity: 4,
    unitPrice: 186000,
    totalAmount: 744000,
    currencyCode: 'CNY',
    paymentMethod: '电汇',
    signDate: '2026-09-30',
    'payments[0].period': '预付款',
    'payments[0].amount': 223200,
    'payments[1].period': '设备验收合格后10日内',
    'payments[1].amount': 483600,
    'payments[2].period': '质量保证金',
    'payments[2].amount': 37200,
  },
  terms: ['delivery 交货', 'payment 付款'],
  warnings: [] as string[],
};
