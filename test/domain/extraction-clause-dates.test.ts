import { expect } from 'chai';
import { extract } from '../../data-plane-agent/plane/domain/extraction/extract.js';

const values = (text: string): Record<string, unknown> =>
  Object.fromEntries(extract(text, { currencyCode: 'CNY' }).fields.map(({ fieldKey, value }) => [fieldKey, value]));

describe('the date of a term', () => {
  const english = 'SALES CONTRACT\n3. Delivery: ex works.';
  const chinese = '买卖合同\n第二条 交付：卖方送货。';
  for (const end of [
    'Signed on 20 March 2026',
    'Signed at Hamburg this 20th day of March 2026',
    'IN WITNESS WHEREOF the parties have executed this contract on 20 March 2026.',
    'This contract is signed on March 20, 2026.',
    'Signature: ______  20.03.2026',
    'Date: 20 March 2026',
    'Place and date: Hamburg, 20 March 2026',
    'Hamburg, 20 March 2026',
    '20 March 2026',
    'For and on behalf of the Seller   20 March 2026',
  ])
    it(`is not that of the signatures, which are not part of its text: ${JSON.stringify(end)}`, () => {
      const read = values(`${english}\n${end}`);
      expect(read).not.to.have.property('terms[0].date');
      expect(read).to.include({ 'terms[0].kind': 'delivery', 'terms[0].note': 'ex works.' });
    });

  for (const end of [
    '签订时间：2026年3月20日',
    '签约日期：二〇二六年三月二十日',
    '本合同由双方于2026年3月20日签订。',
    '（以下无正文）\n2026年3月20日',
    '甲方（盖章）    乙方（盖章）\n2026年3月20日',
    '日期：2026年3月20日',
    '2026年3月20日',
  ])
    it(`is not that of the signatures in Chinese: ${JSON.stringify(end)}`, () => {
      const read = values(`${chinese}\n${end}`);
      expect(read).not.to.have.property('terms[0].date');
      expect(read).to.include({ 'terms[0].kind': 'delivery', 'terms[0].note': '卖方送货。' });
    });

  for (const text of [
    '2. Payment: within 30 days after the contract signed on 20 March 2026.',
    '2. Payment: as in the offer No. 5 dated 20 March 2026.',
    '第二条 付款：按2026年3月20日签订的补充协议付款。',
    '第二条 付款：本合同自2026年3月20日起生效后付款。',
  ])
    it(`is not that of a contract or offer which it names: ${text}`, () => {
      const read = values(text);
      expect(read).to.have.property('terms[0].note');
      expect(read).not.to.have.property('terms[0].date');
    });

  for (const [text, note] of [
    ['3. Delivery: by 1 June 2026.\nSigned on 20 March 2026', 'by 1 June 2026.'],
    ['3. Delivery\n1 June 2026\nHamburg, 20 March 2026', '1 June 2026'],
    ['3. Delivery: ex works no later than\n1 June 2026', 'ex works no later than\n1 June 2026'],
    [
      '3. Delivery: after the contract dated 20 March 2026, at the latest on 1 June 2026',
      'after the contract dated 20 March 2026, at the latest on 1 June 2026',
    ],
    ['第三条 交付：2026年6月1日前交付。\n签订时间：2026年3月20日', '2026年6月1日前交付。'],
    ['第三条 交付：本合同于2026年3月20日签订，2026年6月1日前交付。', '本合同于2026年3月20日签订，2026年6月1日前交付。'],
  ] as const)
    it(`is the one of the clause itself: ${JSON.stringify(text)}`, () =>
      expect(values(text)).to.include({ 'terms[0].date': '2026-06-01', 'terms[0].note': note }));

  it('does not end a clause at a sentence about signed papers, or at a date in the middle of it', () => {
    for (const note of [
      'ex works.\nSigned delivery notes are returned to the Seller.',
      'in two lots.\n1 June 2026\nThe second lot follows.',
    ])
      expect(values(`3. Delivery: ${note}`)).to.include({ 'terms[0].note': note });
  });
});
