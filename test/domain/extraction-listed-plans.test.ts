import { expect } from 'chai';
import { extract } from '../../data-plane-agent/plane/domain/extraction/extract.js';

/** `period amount dueDate` of each payment line, and the codes of the warnings. */
function read(text: string): { readonly plan: string[]; readonly warnings: string[]; readonly deposit: unknown } {
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
  return { plan, warnings: warnings.map(({ code }) => code), deposit: value('deposit') };
}

describe('payments listed in a sentence', () => {
  const rows: readonly (readonly [text: string, plan: readonly string[]])[] = [
    [
      'Total Price: USD 180,000\nThe price is payable in three instalments: USD 30,000 on signing, USD 60,000 on 30 June 2026 and USD 90,000 on delivery.',
      ['on signing 30000', 'on 30 June 2026 60000 2026-06-30', 'on delivery 90000'],
    ],
    [
      'Payable in two instalments: USD 30,000 on signing and USD 90,000 on delivery.',
      ['on signing 30000', 'on delivery 90000'],
    ],
    [
      'Total Price: USD 120,000\nDeposit USD 30,000 on signing, balance USD 90,000 on delivery',
      ['on signing 30000', 'on delivery 90000'],
    ],
    [
      'Total Price: USD 120,000\nThe Buyer shall pay USD 30,000 on signing and the balance on delivery.',
      ['on signing 30000', 'on delivery 90000'],
    ],
    [
      '合同总价：180,000元\n合同签订后支付54,000元，发货前支付108,000元，验收后支付18,000元。',
      ['合同签订后 54000', '发货前 108000', '验收后 18000'],
    ],
    [
      'Total Price: USD 90,000\nPayment: one third on order, one third on delivery, balance on acceptance',
      ['on order 30000', 'on delivery 30000', 'on acceptance 30000'],
    ],
    [
      'Total Price: USD 100\nPayment terms: 1/3 on order, 1/3 on delivery, 1/3 on acceptance',
      ['on order 33.33', 'on delivery 33.33', 'on acceptance 33.34'],
    ],
    [
      'Total Price: USD 90,000\nThe Buyer shall pay half on order and the other half on delivery.',
      ['on order 45000', 'on delivery 45000'],
    ],
    [
      '合同总价：90,000元\n合同签订后支付三分之一，发货前支付三分之一，余款验收后付清。',
      ['合同签订后 30000', '发货前 30000', '验收后 30000'],
    ],
    [
      'Total Price: USD 90,000\n30% upon signing, 60% on delivery, balance on acceptance',
      ['upon signing 27000', 'on delivery 54000', 'on acceptance 9000'],
    ],
  ];
  for (const [text, plan] of rows)
    it(`are lines: ${JSON.stringify(text)}`, () =>
      expect(read(text)).to.deep.equal({ plan, warnings: [], deposit: undefined }));

  for (const text of [
    'Total Price: USD 180,000\nFirst of three instalments: USD 30,000 on signing',
    'Total Price: USD 180,000\nThe price is payable in three instalments as agreed from time to time.',
    'Total Price: USD 90,000\nOne third on order, one third on delivery',
    '合同总价：180,000元\n货款分三期支付，具体时间另行约定。',
  ])
    it(`cause a warning if they are recognised and not read: ${JSON.stringify(text)}`, () =>
      expect(read(text)).to.deep.equal({ plan: [], warnings: ['INSTALMENTS_MISMATCH'], deposit: undefined }));

  for (const text of [
    'Total Price: USD 180,000\nSpare parts of USD 3,000 are sent on order, and tools of USD 2,000 on delivery.',
    'Total Rent: USD 36,000\nThe rent is payable in six equal monthly instalments.',
    'Total Price: USD 180,000\nOne third of the parts are checked on delivery.',
  ])
    it(`are not other amounts, fractions and rents: ${JSON.stringify(text)}`, () =>
      expect(read(text)).to.deep.equal({ plan: [], warnings: [], deposit: undefined }));
});

describe('payments in numbered lines', () => {
  const schedule = (second: string, third: string, deposit = 'Deposit EUR 54,000') =>
    `Total Price: EUR 180,000\nPayment schedule\n1. ${deposit} due 1 April 2026\n2. ${second} EUR 108,000 due 1 June 2026\n3. ${third} EUR 18,000 due 31 December 2026`;
  for (const [second, third] of [
    ['Second instalment', 'Balance'],
    ['Interim payment:', 'Final payment:'],
    ['On delivery', 'On acceptance'],
  ] as const)
    it(`include a deposit, which is not the security deposit: ${second} ${third}`, () =>
      expect(read(schedule(second, third))).to.deep.equal({
        plan: [
          'Deposit 54000 2026-04-01',
          `${second.replace(':', '')} 108000 2026-06-01`,
          `${third.replace(':', '')} 18000 2026-12-31`,
        ],
        warnings: [],
        deposit: undefined,
      }));

  it('include a deposit beside named instalments without a total', () =>
    expect(
      read(schedule('Second instalment', 'Balance').replace('Total Price: EUR 180,000\n', '')).plan,
    ).to.have.length(3));

  it('do not include a security, nor a deposit beyond the total', () => {
    for (const [total, deposit] of [
      ['126,000', 'Deposit EUR 54,000'],
      ['180,500', 'Refundable deposit EUR 54,000'],
    ] as const) {
      const { plan, deposit: security } = read(
        schedule('Second instalment', 'Balance', deposit).replace('180,000', total),
      );
      expect({ lines: plan.length, security }).to.deep.equal({ lines: 2, security: 54_000 });
    }
  });

  it('are not other numbered amounts', () =>
    expect(
      read('Total Price: EUR 180,000\n1. Spare parts EUR 3,000 due 1 April 2026\n2. Tools EUR 2,000 due 1 June 2026'),
    ).to.deep.equal({ plan: [], warnings: [], deposit: undefined }));
});

describe('named instalments without a currency', () => {
  for (const text of ['首付款：54000\n二期款：108000\n尾款：18000', '首付款54000，二期款108000，尾款18000'])
    it(`are lines if they add up to the total: ${JSON.stringify(text)}`, () =>
      expect(read(`合同总价：180000元\n${text}`)).to.deep.equal({
        plan: ['首付款 54000', '二期款 108000', '尾款 18000'],
        warnings: [],
        deposit: undefined,
      }));

  it('cause a warning if they do not', () =>
    expect(read('合同总价：190000元\n首付款：54000\n二期款：108000\n尾款：18000')).to.deep.equal({
      plan: [],
      warnings: ['INSTALMENTS_MISMATCH'],
      deposit: undefined,
    }));
});
