import { columns, p, para, table, title } from '../../../support/documents/blocks.js';
import type { ContractToRead } from './contract-to-read.js';

/** After the sales confirmation of Chinese exporters: all text in both languages, each item numbered. */
export const BILINGUAL_EXPORT_SALE: ContractToRead = {
  page: {
    language: 'zh',
    blocks: [
      title('售货合同 SALES CONTRACT'),
      columns(
        [
          ['', '合同号 Contract No.: QD26-EX-0583'],
          ['', '日期 Date: Aug. 6, 2026'],
          ['', '签约地点 Signed at: Qingdao'],
        ],
        [50, 50],
      ),
      p('卖方 Sellers: Qingdao Haiyue Rubber Machinery Co., Ltd.'),
      p('地址 Address: No. 76 Wenyang Road, Chengyang, Qingdao, China'),
      p('买方 Buyers: Anadolu Lastik Sanayi A.S.'),
      p('地址 Address: Organize Sanayi Bolgesi 12. Cadde, Kocaeli, Turkiye'),
      para(
        '兹经买卖双方同意成交下列商品，订立条款如下：The undersigned Sellers and Buyers have agreed to close the following transactions according to the terms and conditions stipulated below:',
      ),
      table(
        [
          [
            '商品名称\nName of Commodity',
            '规格\nSpecification',
            '数量\nQuantity',
            '单价\nUnit Price',
            '总值\nTotal Value',
          ],
          ['Rubber Mixing Mill', 'XK-660', '3 sets', 'USD 86,400.00', 'USD 259,200.00'],
        ],
        [26, 18, 14, 20, 22],
      ),
      p('总值（大写）Total Value in Words: SAY US DOLLARS TWO HUNDRED FIFTY-NINE THOUSAND TWO HUNDRED ONLY.'),
      p('包装 Packing: seaworthy wooden cases'),
      p('装运期 Time of Shipment: before November 20, 2026'),
      p('装运口岸和目的地 Loading Port and Destination: from Qingdao to Izmit'),
      p('保险 Insurance: to be covered by the Sellers for 110% of invoice value'),
      p('付款条件 Terms of Payment: by irrevocable letter of credit at sight'),
      p('收款银行 Beneficiary Bank: Bank of China, Qingdao Branch'),
      p('收款账号 Beneficiary Account No.: 2418 2055 7703'),
      p('品质、数量、重量以中国检验机构检验证或卖方所出之证明书为最后依据。'),
      columns(
        [
          ['卖方 The Sellers:', '买方 The Buyers:'],
          ['（签章 Signature）', '（签章 Signature）'],
        ],
        [50, 50],
      ),
    ],
  },
  expected: {
    contractNo: 'QD26-EX-0583',
    type: 'sale',
    partyA: 'Anadolu Lastik Sanayi A.S.',
    partyB: 'Qingdao Haiyue Rubber Machinery Co., Ltd.',
    signDate: '2026-08-06',
    equipmentName: 'Rubber Mixing Mill',
    equipmentModel: 'XK-660',
    quantity: 3,
    unitPrice: 86_400,
    totalAmount: 259_200,
    currencyCode: 'USD',
    paymentMethod: 'by irrevocable letter of credit at sight',
    payeeBank: 'Bank of China, Qingdao Branch',
    payeeAccount: '2418 2055 7703',
  },
};
