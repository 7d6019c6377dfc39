import { expect } from 'chai';
import { extract } from '../../data-plane-agent/plane/domain/extraction/extract.js';

const values = (text: string): Record<string, unknown> =>
  Object.fromEntries(extract(text, { currencyCode: 'CNY' }).fields.map(({ fieldKey, value }) => [fieldKey, value]));

describe('an item with its model and number', () => {
  for (const [text, equipmentName, equipmentModel, quantity] of [
    ['Equipment: Mini excavator (Model: ME-17), Quantity: 8', 'Mini excavator', 'ME-17', 8],
    ['Goods: Tower crane (Model No.: QTZ-80), Quantity: 2', 'Tower crane', 'QTZ-80', 2],
    ['设备名称：小型挖掘机（型号：ME-17），数量：8台', '小型挖掘机', 'ME-17', 8],
    ['甲方拟购买乙方生产的正面吊（型号SRSC45）贰台，', '正面吊', 'SRSC45', 2],
    ['甲方购买发电机组（型号 GF-500）5台。', '发电机组', 'GF-500', 5],
    ['乙方承租甲方所有的塔式起重机（规格型号：QTZ80）3台。', '塔式起重机', 'QTZ80', 3],
    [
      'LEASE AGREEMENT\nThe Lessor leases to the Lessee two (2) Tower Cranes, model QTZ-80, for use at the site.',
      'Tower Cranes',
      'QTZ-80',
      2,
    ],
    ['The Buyer buys three (3) Wheel Loaders, model WL-30, from the Seller.', 'Wheel Loaders', 'WL-30', 3],
  ] as const)
    it(`is read in its parts: ${JSON.stringify(text)}`, () =>
      expect(values(text)).to.include({ equipmentName, equipmentModel, quantity }));

  for (const text of [
    'The Seller sells diesel generator, model GF-500, qty 6, to the Buyer.',
    'Goods: diesel generator, quantity 6',
  ])
    it(`has its quantity also without a unit in a list: ${text}`, () =>
      expect(values(`SALES CONTRACT\n${text}`)).to.include({ quantity: 6 }));

  for (const text of ['Goods: diesel oil, qty 6,000 litres', 'Goods: pump, quantity 6% more or less'])
    it(`has no quantity from another number: ${text}`, () =>
      expect(values(`SALES CONTRACT\n${text}`)).not.to.have.property('quantity'));
});

describe('the bank of the payee', () => {
  for (const [text, payeeBank] of [
    [
      "Payment to the Seller's account No. 123456789012 with Bank of China, Shanghai Branch.",
      'Bank of China, Shanghai Branch',
    ],
    ["Remit to the Lessor's bank account number 1234567890 at Deutsche Bank.", 'Deutsche Bank'],
    ['卖方开户行 中国工商银行上海分行，账号 622202100111222333', '中国工商银行上海分行'],
    ['收款账户：招商银行广州分行 6214830012345678', '招商银行广州分行'],
    ['出租方账号：中国建设银行北京朝阳支行 6222021001112223', '中国建设银行北京朝阳支行'],
  ] as const)
    it(`is read from a sentence: ${text}`, () => expect(values(text)).to.include({ payeeBank }));

  it('is not that of the side which pays', () => {
    for (const text of [
      "The Buyer's account No. 123456789012 with Bank of China, Shanghai Branch is debited.",
      '买方开户行 中国工商银行上海分行，账号 622202100111222333',
    ])
      expect(values(text)).not.to.have.property('payeeBank');
  });
});
