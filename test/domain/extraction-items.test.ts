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
