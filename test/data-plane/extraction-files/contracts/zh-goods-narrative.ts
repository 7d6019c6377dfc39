import { heading, p, para, title } from '../../../support/documents/blocks.js';
import type { ContractToRead } from './contract-to-read.js';

/** After the forms of 购货单位 and 供货单位: the parties are given their names behind them, and the price stands in the clauses. */
export const ZH_GOODS_NARRATIVE: ContractToRead = {
  page: { language: 'zh', blocks: [
    title('货物买卖合同'), p('编号：BJ-HT-26-1107'),
    p('订立合同双方：'), p('购货单位：北京城建轨道装备有限公司，以下简称甲方；'), p('供货单位：西安航天动力泵业有限公司，以下简称乙方。'),
    para('经甲乙双方充分协商，特订立本合同，以便共同遵守。'),
    heading('第一条　产品的名称、品种、规格和质量'), para('1.产品的名称：双吸中开离心泵。'), para('2.规格型号：SXB500-46。'), para('3.产品的技术标准，按国家标准执行。'),
    heading('第二条　产品的数量和计量单位'), para('1.产品的数量：陆台。'), para('2.计量单位：台。'),
    heading('第三条　产品的价格与货款的结算'), para('1.产品的单价：每台人民币178,500元。'), para('2.货款总计人民币壹佰零柒万壹仟元整，该价格已含13%增值税、运费及装卸费。'), para('3.付款方式：银行承兑汇票。甲方分两期付款：第一期货款人民币428,400元于2026年7月31日前支付；第二期货款人民币642,600元于2026年10月31日前支付。'),
    heading('第四条　产品的交货单位、交货方法、运输方式、到货地点'), para('乙方负责将产品运至北京市大兴区瀛海镇甲方仓库，运输途中的风险由乙方承担。交货日期：2026年9月20日。'),
    heading('第五条　验收方法'), para('甲方在收到货物后十个工作日内完成验收；逾期未提出书面异议的，视为验收合格。'),
    heading('第六条　乙方的违约责任'), para('乙方不能交货的，应向甲方偿付不能交货部分货款的10%的违约金。乙方逾期交货的，每日按逾期部分货款的万分之五计算违约金。'),
    heading('第七条　不可抗力'), para('甲乙双方的任何一方由于不可抗力的原因不能履行合同时，应及时向对方通报理由。'),
    heading('第八条　其他'), para('本合同自二〇二六年七月一日起生效，合同执行期内，甲乙双方均不得随意变更或解除合同。'),
    p('购货单位（甲方）：（公章）　　　　　　供货单位（乙方）：（公章）'), p('开户银行：北京银行大兴支行　　　　　　开户银行：中国建设银行西安高新支行'), p('账号：01090345600120109　　　　　　　　账号：61050175004200000912'), p('2026年6月28日　　　　　　　　　　　　　2026年6月28日'),
  ] },
  expected: {
    contractNo: 'BJ-HT-26-1107', type: 'sale', partyA: '北京城建轨道装备有限公司', partyB: '西安航天动力泵业有限公司', equipmentName: '双吸中开离心泵', equipmentModel: 'SXB500-46', quantity: 6, unitPrice: 178_500, totalAmount: 1_071_000, currencyCode: 'CNY', invoicePoints: 13, paymentMethod: '银行承兑汇票', startDate: '2026-07-01', signDate: '2026-06-28',
    payeeBank: '中国建设银行西安高新支行', payeeAccount: '61050175004200000912', 'payments[0].period': '第一期货款', 'payments[0].amount': 428_400, 'payments[0].dueDate': '2026-07-31', 'payments[1].period': '第二期货款', 'payments[1].amount': 642_600, 'payments[1].dueDate': '2026-10-31',
  },
};
