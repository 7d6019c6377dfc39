import { p, para, title } from '../../../support/documents/blocks.js';
import type { ContractToRead } from './contract-to-read.js';

/**
 * After the short forms for hiring construction machines with a driver: no table, the monthly rent in words and digits.
 */
export const ZH_MACHINE_RENTAL: ContractToRead = {
  page: {
    language: 'zh',
    blocks: [
      title('工程机械租赁合同'),
      p('承租方（简称甲方）：中铁二十局集团西北工程有限公司'),
      p('出租方（简称乙方）：兰州顺达工程机械租赁有限公司'),
      para(
        '因兰州至合作铁路土建二标工程施工需要，甲方租用乙方工程机械设备，本着公正、公平、合理的原则，经双方友好协商，达成如下协议：',
      ),
      p('一、设备名称：履带式液压挖掘机；设备型号：ZX360H；数量：2台。'),
      p('二、租赁期限：自2026年3月15日起至2026年12月14日止。'),
      p('三、租金及支付：'),
      para(
        '1、租赁方式为月租，每台每月租金42,000元（大写：肆万贰仟元整），两台合计每月租金84,000元。租期内租金总额为人民币柒拾伍万陆仟元整（￥756,000.00）。',
      ),
      para('2、租金按月支付，甲方于次月10日前以银行转账方式支付上月租金。'),
      para('3、甲方于设备进场前向乙方交纳押金人民币50,000元，租赁期满无息退还。'),
      p('四、甲方应安排好机械作息时间，保证每月不少于两天的保养时间。'),
      p('五、机械设备所有权归乙方，甲方不得擅自转租或抵押。机械设备只能由乙方指定的操作工操作，其他人员不得上机操作。'),
      p('六、进出场费用由甲方承担，每台单程运费3,500元。'),
      p('七、违约责任：甲方逾期支付租金的，每逾期一天按应付租金的0.1%支付违约金。'),
      p('八、本合同未尽事宜，双方友好协商解决。本合同一式两份，甲乙双方各执一份，双方签字之日起生效。'),
      p('乙方收款账户：'),
      p('开户行：兰州银行七里河支行'),
      p('账号：101872000556712'),
      p('甲方（公章）：　　　　　　　　　　　　乙方（公章）：'),
      p('2026年3月8日　　　　　　　　　　　　　2026年3月8日'),
    ],
  },
  expected: {
    type: 'lease',
    partyA: '中铁二十局集团西北工程有限公司',
    partyB: '兰州顺达工程机械租赁有限公司',
    equipmentName: '履带式液压挖掘机',
    equipmentModel: 'ZX360H',
    quantity: 2,
    startDate: '2026-03-15',
    endDate: '2026-12-14',
    periodicRent: 84_000,
    totalAmount: 756_000,
    currencyCode: 'CNY',
    deposit: 50_000,
    paymentMethod: '银行转账',
    paymentCycle: '按月支付',
    payeeBank: '兰州银行七里河支行',
    payeeAccount: '101872000556712',
    signDate: '2026-03-08',
  },
};
