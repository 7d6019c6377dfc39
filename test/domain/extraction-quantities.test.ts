import { expect } from 'chai';
import { extract } from '../../data-plane-agent/plane/domain/extraction/extract.js';

const fieldsOf = (text: string) => extract(text, { currencyCode: 'CNY' }).fields;
const values = (text: string): Record<string, unknown> =>
  Object.fromEntries(fieldsOf(text).map(({ fieldKey, value }) => [fieldKey, value]));

describe('the quantity in the name of an item', () => {
  const rows: readonly (readonly [text: string, name: string, quantity: number])[] = [
    ['设备名称：2 台挖掘机', '挖掘机', 2],
    ['设备名称：两台挖掘机', '挖掘机', 2],
    ['标的物：2台挖掘机（含1套属具）', '挖掘机（含1套属具）', 2],
    ['租赁物：３台XE215挖掘机', 'XE215挖掘机', 3],
    ['设备名称：挖掘机3台', '挖掘机', 3],
    ['设备名称：挖掘机（二台）', '挖掘机', 2],
    ['设备名称：挖掘机×3', '挖掘机', 3],
    ['设备名称：流量计共3台', '流量计', 3],
    ['采购标的及数量：潜水泵2台', '潜水泵', 2],
    ['Equipment: Excavator x 3', 'Excavator', 3],
    ['Equipment: Excavator × 3 units', 'Excavator', 3],
    ['Equipment: Excavator XE-215 x 3', 'Excavator XE-215', 3],
    ['Equipment: Excavator (3 units)', 'Excavator', 3],
    ['Equipment: Excavator, 3 sets', 'Excavator', 3],
    ['Equipment: 2 x Tower crane', 'Tower crane', 2],
    ['Equipment: two (2) units of tower crane', 'tower crane', 2],
    ['Equipment: Three (3) tower cranes', 'tower cranes', 3],
    ['甲方向乙方购买2台挖掘机（型号：XE215）', '挖掘机', 2],
    ['甲方向乙方出售 2 台挖掘机。', '挖掘机', 2],
    ['Equipment: 2 excavators', 'excavators', 2],
    ['Goods: 3 tower cranes QTZ-80', 'tower cranes QTZ-80', 3],
    ['Equipment: 12 forklifts (diesel)', 'forklifts (diesel)', 12],
    ['SALES CONTRACT\nThe Seller sells 2 excavators XE-215 to the Buyer.', 'excavators XE-215', 2],
    ['LEASE AGREEMENT\nThe Lessor leases 3 tower cranes to the Lessee for 12 months.', 'tower cranes', 3],
    ['设备名称\t规格型号\t单价（元）\n挖掘机 2台\tXE215\t100', '挖掘机', 2],
    ['Description | Model | Unit price EUR\nExcavator x 2 | XE-215 | 100.00', 'Excavator', 2],
  ];
  for (const [text, equipmentName, quantity] of rows)
    it(`is read, and not part of the name: ${JSON.stringify(text)}`, () =>
      expect(values(text)).to.include({ equipmentName, quantity }));

  for (const name of [
    '4x4 truck',
    'Steel plate 20 x 300',
    '3 phase motor',
    '3 phase motors',
    '2 axle trailer',
    '2 axle trailers',
    '4 wheel drive loaders',
    '10 tonne trucks',
    '2 press',
    '电缆YJV-4×50',
    '五座轿车',
    '三件套刀具',
    '三一挖掘机',
    'XE-215',
  ])
    it(`is not a number of another kind: ${name}`, () => {
      expect(values(`设备名称：${name}`))
        .to.include({ equipmentName: name })
        .and.not.to.have.property('quantity');
    });

  for (const name of [
    '挖掘机2台、装载机1台',
    '2台挖掘机及1台装载机',
    'Excavator x 3, Loader x 2',
    '2 excavators and 1 loader',
  ])
    it(`is not read from a list of several items: ${name}`, () =>
      expect(values(`Equipment: ${name}`)).not.to.have.property('quantity'));

  it('is read apart from a model in brackets', () =>
    expect(values('标的物：2台挖掘机（型号XE-215）')).to.include({
      equipmentName: '挖掘机',
      equipmentModel: 'XE-215',
      quantity: 2,
    }));

  it('is located in the text, and a quantity with a label of its own is preferred', () => {
    const text = '设备名称：2 台挖掘机\n数量：3台';
    const quantity = fieldsOf(text).find(({ fieldKey }) => fieldKey === 'quantity');
    expect(quantity?.candidates.map(({ value, rawText }) => [value, rawText])).to.deep.equal([
      [3, '3台'],
      [2, '2 台'],
    ]);
    expect(quantity?.doubts).to.deep.equal([]);
  });

  it('is compared with unit price and total', () => {
    const { warnings } = extract('设备名称：2台挖掘机\n单价：100元\n合同总价：300元', { currencyCode: 'CNY' });
    expect(warnings.map(({ code }) => code)).to.deep.equal(['TOTAL_MISMATCH']);
  });
});
