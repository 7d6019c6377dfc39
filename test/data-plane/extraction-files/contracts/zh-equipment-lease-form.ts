import { heading, p, para, table, title } from '../../../support/documents/blocks.js';
import type { ContractToRead } from './contract-to-read.js';

/** After a form of a construction equipment rental company: the price list is a table with a column of remarks. */
export const ZH_EQUIPMENT_LEASE_FORM: ContractToRead = {
  page: {
    language: 'zh',
    blocks: [
      title('设备租赁合同'),
      p('合同编号：JX-ZL-2026-033'),
      p('出租人：济宁市吉祥建筑设备租赁有限公司'),
      p('承租人：曲阜市第二建筑安装工程公司'),
      p('工程名称：曲阜东站配套公寓项目'),
      para(
        '根据《中华人民共和国民法典》有关规定，按照平等互利的原则，为明确出租人与承租人的权利义务，经双方协商一致签订本合同。',
      ),
      heading('第一条　租赁物的名称、规格、数量及租金'),
      table(
        [
          ['物品名称', '规格', '单位', '数量', '月租金（元/台）', '备注'],
          ['塔式起重机', 'QTZ80（TC6010）', '台', '4', '23,800.00', '含操作工两名'],
        ],
        [20, 24, 9, 9, 20, 18],
      ),
      heading('第二条　租赁期间'),
      para('租赁期间为十个月，自2026年4月1日至2027年1月31日。'),
      heading('第三条　租金的支付'),
      para(
        '四台塔式起重机月租金共计人民币95,200.00元，租赁期内租金合计人民币952,000.00元（大写：玖拾伍万贰仟元整）。租赁费按月结算，每月的25日为结算日，以转账支票支付。',
      ),
      heading('第四条　押金'),
      para('承租人应于提货前交纳押金￥140,000.00元，押金待租赁物全部送还验收后抵作租金或者作为赔偿结算。'),
      heading('第五条　租赁物的交付与返还'),
      para('由出租人负责运送，运费由工地直接结算。提取租赁物时当场验收，并办理机械完好手续。'),
      heading('第六条　租赁物的保管、维护与使用'),
      para(
        '承租人对租赁物要妥善保管，因保管不善、使用不当造成损坏、丢失的，承租人应按赔偿价格表向出租人赔偿。未经出租人同意，承租人不得将租赁物转租给第三人。',
      ),
      heading('第七条　违约责任'),
      para('承租人逾期支付租金的，每逾期一日按欠付租金的千分之一支付违约金。'),
      p('出租人（签章）：　　　　　　　　承租人（签章）：'),
      p('签订日期：2026年3月22日'),
    ],
  },
  expected: {
    contractNo: 'JX-ZL-2026-033',
    type: 'lease',
    partyA: '曲阜市第二建筑安装工程公司',
    partyB: '济宁市吉祥建筑设备租赁有限公司',
    projectName: '曲阜东站配套公寓项目',
    equipmentName: '塔式起重机',
    equipmentModel: 'QTZ80（TC6010）',
    quantity: 4,
    startDate: '2026-04-01',
    endDate: '2027-01-31',
    totalAmount: 952_000,
    currencyCode: 'CNY',
    deposit: 140_000,
    periodicRent: 95_200,
    paymentCycle: '按月结算',
    paymentMethod: '转账支票',
    signDate: '2026-03-22',
  },
};
