import { expect } from 'chai';
import { extract } from '../../data-plane-agent/plane/domain/extraction/extract.js';

const codes = (text: string): string[] => extract(text, { currencyCode: 'CNY' }).warnings.map(({ code }) => code);

describe('a contract for services', () => {
  for (const title of [
    'SOFTWARE MAINTENANCE SERVICE AGREEMENT',
    'SERVICE AGREEMENT',
    'Consulting Agreement',
    'Agreement for the provision of cleaning services',
    '技术服务合同',
    '设备维保服务合同',
    '软件开发合同',
    '货物运输合同书',
  ])
    it(`is neither a sale nor a lease: ${title}`, () => {
      const text = `${title}\nTotal Price: USD 3,000\n合同总价：3,000元`;
      expect(codes(text)).to.deep.equal(['OTHER_DOCUMENT']);
      expect(extract(text, { currencyCode: 'CNY' }).fields.map(({ fieldKey }) => fieldKey)).not.to.include(
        'totalAmount',
      );
    });

  for (const text of [
    'SUPPLY AND SERVICE AGREEMENT\nTotal Price: USD 3,000',
    'Equipment Lease and Maintenance Agreement\nTotal Price: USD 3,000',
    '吊车租赁服务合同\n合同总价：3,000元',
    '设备采购及安装服务合同\n合同总价：3,000元',
    'SERVICE AGREEMENT\nLessor: A Ltd\nLessee: B Ltd\nTotal rent: USD 3,000',
    '服务合同\n出租方：甲公司\n承租方：乙公司\n合同总价：3,000元',
  ])
    it(`is not one of goods whose title also names services: ${JSON.stringify(text)}`, () =>
      expect(codes(text)).to.deep.equal([]));
});
