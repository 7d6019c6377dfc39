/**
 * A purchase for works: the table has amounts in units of ten thousand, and the line for the payment method contains
 * the whole plan.
 */
export const ZH_WORKS_PURCHASE = {
  text: `泵站改造工程水泵机组采购合同

合同编号：SW-BZ-2026-031
工程名称：城东雨水泵站改造工程

需方：绍兴水务建设有限公司
供方：上海申江泵业制造有限公司

经双方协商，就水泵机组采购事宜签订本合同，以资共同遵守。

一、产品名称、型号、数量、金额
名称	型号	数量（台）	单价（万元）	总价（万元）	备注
潜水轴流泵	900QZB-70	4	38.60	154.40	含电机
合同总价：人民币壹佰伍拾肆万肆仟元整（¥1,544,000.00），该价格含13%增值税及运费。
二、交货期：2026年9月20日前交货至工地。
三、质量保证期：自验收合格之日起24个月。
四、付款方式：合同签订后10个工作日内支付20%，货到现场验收合格后支付50%，安装调试完成后支付25%，余款5%作为质保金，质保期满后一次性付清。
五、供方逾期交货，每天按合同总价的0.2%支付违约金。
六、本合同经双方签字盖章后生效。

需方（盖章）：绍兴水务建设有限公司      供方（盖章）：上海申江泵业制造有限公司
开户行：工商银行绍兴分行                开户行：农业银行上海松江支行
帐号：1211 0120 0920 0099 001           帐号：0387 5500 0400 2211 7
日期：2026年6月3日                      日期：2026年6月3日
`,
  expected: {
    contractNo: 'SW-BZ-2026-031',
    projectName: '城东雨水泵站改造工程',
    type: 'sale',
    partyA: '绍兴水务建设有限公司',
    partyB: '上海申江泵业制造有限公司',
    equipmentName: '潜水轴流泵',
    equipmentModel: '900QZB-70',
    quantity: 4,
    unitPrice: 386_000,
    totalAmount: 1_544_000,
    currencyCode: 'CNY',
    invoicePoints: 13,
    signDate: '2026-06-03',
    payeeBank: '农业银行上海松江支行',
    payeeAccount: '0387 5500 0400 2211 7',
    paymentMethod:
      '合同签订后10个工作日内支付20%，货到现场验收合格后支付50%，安装调试完成后支付25%，余款5%作为质保金，质保期满后一次性付清',
    'payments[0].period': '合同签订后10个工作日内',
    'payments[0].amount': 308_800,
    'payments[1].period': '货到现场验收合格后',
    'payments[1].amount': 772_000,
    'payments[2].period': '安装调试完成后',
    'payments[2].amount': 386_000,
    'payments[3].period': '余款',
    'payments[3].amount': 77_200,
  },
};
