import { expect } from 'chai';
import { extract } from '../../data-plane-agent/plane/domain/extraction/extract.js';

/** `period amount dueDate` of each payment line, and the codes of the warnings. */
function read(text: string): { readonly plan: string[]; readonly warnings: string[] } {
  const { fields, warnings } = extract(text, { currencyCode: 'CNY' });
  const value = (key: string) => fields.find(({ fieldKey }) => fieldKey === key)?.value;
  const plan = fields
    .filter(({ fieldKey }) => fieldKey.endsWith('.period'))
    .map(({ fieldKey, value: period }) =>
      [period, value(fieldKey.replace('period', 'amount')), value(fieldKey.replace('period', 'dueDate'))]
        .filter((part) => part !== undefined)
        .map(String)
        .join(' '),
    );
  return { plan, warnings: warnings.map(({ code }) => code) };
}
const UNREAD = { plan: [], warnings: ['INSTALMENTS_MISMATCH'] };

describe('a deposit and the remainder', () => {
  const chinese = '合同总价：1,000,000元\n付款：';
  const english = 'Total Price: USD 100,000\nPayment: ';
  const rows: readonly (readonly [text: string, plan: readonly string[]])[] = [
    [`${chinese}签订合同时付定金20%，提货时付清余款。`, ['定金 200000', '余款 800000']],
    [`${chinese}定金20%，余款货到付清`, ['定金 200000', '余款 800000']],
    [`${chinese}定金20%；余款货到付清。`, ['定金 200000', '余款 800000']],
    [`${chinese}提货时付清余款80%，签约付定金20%`, ['余款 800000', '定金 200000']],
    [`${chinese}余款货到付清，签约付定金20%`, ['余款 800000', '定金 200000']],
    [`${chinese}尾款于验收后付清，预付款30%。`, ['尾款 700000', '预付款 300000']],
    [`${chinese}签约付首付款20%，到货付60%，其余验收后付清。`, ['首付款 200000', '到货 600000', '其余 200000']],
    [`${chinese}付定金30万元，到货后付余款`, ['定金 300000', '余款 700000']],
    [`${chinese}签约时支付预付款30%，发货前付清尾款`, ['签约时 300000', '发货前 700000']],
    [`${english}deposit 20%, balance cash on collection.`, ['deposit 20000', 'balance 80000']],
    [`${english}20% deposit; balance before shipment`, ['deposit 20000', 'balance 80000']],
    [
      'Total Price: USD 100,000\nThe balance is paid on collection of the goods, and a deposit of 20% on signing.',
      ['on collection of the goods 80000', 'on signing 20000'],
    ],
    [`${english}deposit (20%) on signing, balance (80%) on delivery`, ['deposit 20000', 'balance 80000']],
  ];
  for (const [text, plan] of rows)
    it(`have each their own amount: ${JSON.stringify(text)}`, () =>
      expect(read(text)).to.deep.equal({ plan, warnings: [] }));

  for (const text of [
    `${chinese}首付20%，余款分36期支付。`,
    'Total Price: USD 100,000\nThe Seller pays the freight of USD 2,000 on delivery, and the balance of the costs is paid by the Buyer.',
    'Total Price: USD 100,000\n30% on signing, the balance is paid in monthly instalments.',
  ])
    it(`are no lines if the remainder is of something else, or paid in parts: ${JSON.stringify(text)}`, () =>
      expect(read(text).plan).to.deep.equal([]));
});

describe('a list of payments in a sentence', () => {
  const price = 'Total Price: USD 90,000\n';
  const three = ['on signing 30000', 'on 1 May 2026 30000 2026-05-01', 'on delivery 30000'];
  for (const text of [
    'The price is payable as follows: (a) USD 30,000 on signing; (b) USD 30,000 on 1 May 2026; (c) USD 30,000 on delivery.',
    'The price is payable as follows: (i) USD 30,000 on signing; (ii) USD 30,000 on 1 May 2026; and (iii) USD 30,000 on delivery.',
    'The Buyer shall pay: 1) USD 30,000 on signing, 2) USD 30,000 on 1 May 2026, and 3) USD 30,000 on delivery.',
    'Payable in three instalments: (a) USD 30,000 on signing; (b) USD 30,000 on 1 May 2026; (c) the balance on delivery.',
  ])
    it(`is read: ${text}`, () => expect(read(price + text)).to.deep.equal({ plan: three, warnings: [] }));

  for (const text of [
    '付款：1、合同签订后付30万元；2、2026年5月1日前付50万元；3、验收后付10万元。',
    '付款：①合同签订后付30万元，②2026年5月1日前付50万元，③验收后付10万元。',
    '付款安排如下：（一）合同签订后付30万元；（二）2026年5月1日前付50万元；（三）验收后付10万元。',
  ])
    for (const total of ['合同总价：90万元\n', ''])
      it(`is read in Chinese${total === '' ? ', also without a total' : ''}: ${text}`, () =>
        expect(read(total + text)).to.deep.equal({
          plan: ['合同签订后 300000', '2026年5月1日前 500000 2026-05-01', '验收后 100000'],
          warnings: [],
        }));

  it('has no part that is the total', () => {
    for (const said of ['payable as follows: (a)', 'paid by instalments: (i)']) {
      const text = `The price is ${said} USD 30,000 on signing; (b) USD 60,000 on delivery.`;
      expect(extract(text, { currencyCode: 'CNY' }).fields.map(({ fieldKey }) => fieldKey)).not.to.include(
        'totalAmount',
      );
    }
  });

  for (const text of [
    `${price}The price is payable as follows: (a) USD 30,000 on signing; (b) USD 20,000 on delivery.`,
    `${price}The price is payable as follows: (i) USD 30,000 if the parties so wish; (ii) USD 60,000 on delivery.`,
    '合同总价：90万元\n付款：1、合同签订后付30万元；2、验收后付10万元。',
    '合同总价：90万元\n付款方式如下：（1）签约后付30万元；（2）双方另行协商后付10万元。',
  ])
    it(`causes a warning if it is not read: ${JSON.stringify(text)}`, () => expect(read(text)).to.deep.equal(UNREAD));

  for (const text of [
    `${price}The Seller delivers: (a) spare parts of USD 3,000 on order; (b) tools of USD 2,000 on delivery.`,
    `${price}Insurance is as follows: (a) fire USD 3,000 on signing; (b) theft USD 2,000 on delivery.`,
  ])
    it(`is not a list of other amounts: ${JSON.stringify(text)}`, () =>
      expect(read(text)).to.deep.equal({ plan: [], warnings: [] }));
});

describe('shares in words and in brackets', () => {
  const total = '合同总价：100万元\n';
  for (const [text, plan] of [
    ['付款方式：合同签订后支付百分之三十，货到后支付百分之七十。', ['合同签订后 300000', '货到后 700000']],
    ['签约后付合同总价的百分之三十（30%），货到后付合同总价的百分之七十（70%）。', ['签约后 300000', '货到后 700000']],
    [
      '预付款百分之二十五，发货前付百分之六十二点五，质保金百分之十二点五',
      ['预付款 250000', '发货前 625000', '质保金 125000'],
    ],
    ['首付款（30%），尾款（70%）。', ['首付款 300000', '尾款 700000']],
    ['签约后付款（30%），货到后付款（70%）。', ['签约后 300000', '货到后 700000']],
  ] as const)
    it(`are read: ${text}`, () => expect(read(total + text)).to.deep.equal({ plan, warnings: [] }));

  for (const [text, plan] of [
    ['Payment: upon signing (30%), before shipment (70%)', ['upon signing 30000', 'before shipment 70000']],
    [
      'Payment: thirty percent (30%) on signing, seventy percent (70%) on delivery',
      ['on signing 30000', 'on delivery 70000'],
    ],
  ] as const)
    it(`are read in English: ${text}`, () =>
      expect(read(`Total Price: USD 100,000\n${text}`)).to.deep.equal({ plan, warnings: [] }));

  it('have the position of the words, and a tax rate in words is read', () => {
    const text = `${total}付款方式：签约后支付百分之三十，货到后支付百分之七十。\n增值税税率为百分之十三`;
    const { fields } = extract(text, { currencyCode: 'CNY' });
    const field = (key: string) => fields.find(({ fieldKey }) => fieldKey === key);
    expect(field('payments[0].amount')?.rawText).to.equal('百分之三十');
    expect(field('invoicePoints')?.value).to.equal(13);
  });
});

describe('the name of a payment', () => {
  const dates = (first: string, second: string) => [`${first} 36000 2026-04-01`, `${second} 54000 2026-09-30`];
  for (const [text, plan] of [
    ['40% on 01.04.2026, 60% on 30.09.2026, by T/T', dates('on 01.04.2026', 'on 30.09.2026')],
    ['40% by 01.04.2026, 60% by 30.09.2026 by bank transfer', dates('by 01.04.2026', 'by 30.09.2026')],
    ['40% by T/T on signing, 60% by letter of credit at sight on delivery', ['on signing 36000', 'on delivery 54000']],
    ['40%于2026年4月1日以电汇支付，60%于2026年9月30日以电汇支付', dates('2026年4月1日', '2026年9月30日')],
  ] as const)
    it(`is not the means of payment: ${text}`, () =>
      expect(read(`Total Price: USD 90,000\n${text}`).plan).to.deep.equal(plan));
});

describe('a plan given as the method of payment', () => {
  const methodOf = (text: string) =>
    extract(text, { currencyCode: 'CNY' }).fields.find(({ fieldKey }) => fieldKey === 'paymentMethod');
  for (const text of [
    '合同总价：100万元\n付款方式：签约后支付百分之三十，货到后支付百分之七十',
    '合同总价：100万元\n付款方式：付定金30万元，到货后付余款',
    'Total Price: USD 100,000\nPayment terms: one third on order, balance on delivery',
  ])
    it(`has low confidence as the method: ${JSON.stringify(text)}`, () =>
      expect(methodOf(text)).to.deep.include({ confidence: 0.55, doubts: ['A_PLAN'] }));

  for (const text of [
    '付款方式：付定金30万元，到货后付余款',
    '合同总价：100万元\n付款方式：30%视情况，其余70%另议',
    'Total Price: USD 100,000\nPayment terms: thirty percent upon signing and seventy percent before shipment',
    'Total Price: USD 100,000\nPayment terms: a third when we agree, the balance whenever',
  ])
    it(`causes a warning too if none of it is read: ${JSON.stringify(text)}`, () => {
      expect(methodOf(text)).to.deep.include({ doubts: ['A_PLAN'] });
      expect(read(text)).to.deep.equal(UNREAD);
    });

  it('is not a recurring payment', () =>
    expect(methodOf('租赁合同\n付款方式：按月支付租金3000元，押金6000元')).to.deep.include({ doubts: [] }));
});

describe('instalments that are announced but not listed', () => {
  for (const text of [
    'The price is payable in three equal monthly instalments of USD 30,000.',
    'The purchase price is paid by four payments of USD 22,500 on 15 Jan, 15 Apr, 15 Jul and 15 Oct.',
    'The price is payable in two equal quarterly instalments.',
  ])
    it(`cause a warning: ${text}`, () => expect(read(`Total Price: USD 90,000\n${text}`)).to.deep.equal(UNREAD));

  it('cause none if they are those of the rent', () => {
    for (const text of [
      'The rent is payable in three equal monthly instalments of USD 30,000.',
      'Hire charges are paid by four quarterly payments of USD 22,500.',
    ])
      expect(read(`Total Rent: USD 90,000\n${text}`).warnings).to.deep.equal([]);
  });
});
