import { expect } from 'chai';
import { bandOf } from '../../data-plane-agent/plane/domain/extraction/answer.js';
import type { ExtractedField } from '../../data-plane-agent/plane/tables/extractions.js';
import { extract, type Extraction } from '../../data-plane-agent/plane/domain/extraction/extract.js';

const read = (text: string): Extraction => extract(text, { currencyCode: 'CNY' });
const fieldOf = (text: string, key: string): ExtractedField | undefined =>
  read(text).fields.find(({ fieldKey }) => fieldKey === key);
/** Lists `period amount` of each payment, with its due date if asked. */
function planOf(text: string, parts: readonly ('dueDate' | 'amount')[] = ['amount']): string[] {
  const { fields } = read(text);
  const value = (key: string) => fields.find(({ fieldKey }) => fieldKey === key)?.value;
  return fields
    .filter(({ fieldKey }) => fieldKey.endsWith('.period'))
    .map(({ fieldKey, value: period }) =>
      [period, ...parts.map((part) => value(fieldKey.replace('period', part)))]
        .filter((part) => part !== undefined)
        .map(String)
        .join(' '),
    );
}

describe('payments given only as shares', () => {
  const rows: readonly (readonly [what: string, text: string, plan: readonly string[]])[] = [
    [
      'English, share first',
      'Contract Price: USD 40,000\n30% upon signing, 70% upon delivery',
      ['upon signing 12000', 'upon delivery 28000'],
    ],
    [
      'English, condition first',
      'Contract Price: USD 40,000\n(a) Upon signing: 30%;\n(b) Upon delivery: 70%.',
      ['Upon signing 12000', 'Upon delivery 28000'],
    ],
    [
      'English, in a sentence',
      'Total Price: EUR 90,000.00\nThe Buyer shall pay 40% upon signing of this contract and 60% within 14 days after acceptance.',
      ['upon signing of this contract 36000', 'within 14 days after acceptance 54000'],
    ],
    [
      'English, as a list',
      'Total Price: EUR 90,000.00\n- 20% on order\n- 50% on delivery\n- 30% after commissioning',
      ['on order 18000', 'on delivery 45000', 'after commissioning 27000'],
    ],
    [
      'English, stage names',
      'Total Price: EUR 90,000.00\nTerms of Payment: 30% deposit, balance 70% before shipment by T/T',
      ['deposit 27000', 'balance 63000'],
    ],
    [
      'Chinese, in a sentence',
      '合同总价：100,000元\n合同签订后支付30%，货到验收后支付60%，质保期满支付10%',
      ['合同签订后 30000', '货到验收后 60000', '质保期满 10000'],
    ],
    [
      'Chinese, abbreviated',
      '合同总价：100,000元\n预付30%，发货前付60%，质保金10%',
      ['预付 30000', '发货前 60000', '质保金 10000'],
    ],
    [
      'Chinese, share first',
      '合同总价：100,000元\n30%预付款，60%提货款，10%质保金',
      ['预付款 30000', '提货款 60000', '质保金 10000'],
    ],
    [
      'Chinese, sentence by sentence',
      '合同总价：100,000元\n本合同签订之日起5日内，买方支付30%；设备到货并经买方验收合格后，由买方支付60%；剩余10%于质保期满后支付。',
      ['本合同签订之日起5日内 30000', '设备到货并经买方验收合格后 60000', '质保期满后 10000'],
    ],
    [
      'with amounts',
      'Contract Price: USD 40,000\n30% (USD 12,000) within 7 days of signing, 70% (USD 28,000) upon delivery',
      ['within 7 days of signing 12000', 'upon delivery 28000'],
    ],
    [
      'beside a tax rate',
      '合同总价：100,000元（税率13%）\n合同签订后支付30%，收到发票（税率13%）并验收后支付70%',
      ['合同签订后 30000', '收到发票（税率13%）并验收后 70000'],
    ],
    ['no amounts without a total', '30% upon signing, 70% upon delivery', ['upon signing', 'upon delivery']],
    ['no plan from a single share', 'Contract Price: USD 40,000\n30% upon signing', []],
    [
      'no plan from shares of other things',
      'Contract Price: USD 40,000\nUtilisation was 30% on delivery and 70% after commissioning.\n甲方持股30%，乙方持股70%，验收后交付。',
      [],
    ],
    [
      'no payment from a security',
      'Contract Price: USD 40,000\nContractor shall deliver a letter of credit for 10% of the Contract Price within ten days after signing.',
      [],
    ],
    ['no share from a limit', '合同总价：100,000元\n预付款比例不宜超过20%', []],
  ];
  for (const [what, text, plan] of rows) it(what, () => expect(planOf(text)).to.deep.equal(plan));

  for (const [text, sum] of [
    ['合同总价：100,000元\n合同签订后支付30%，货到验收后支付60%', '90 %'],
    ['Contract Price: USD 40,000\n30% upon signing, 80% upon delivery', '110 %'],
    ['合同总价：100,000元\n合同签订后支付30%，货到付至90%，质保期满付清', '30 %'],
  ] as const) {
    it(`${sum} of the whole result in no plan, and in a warning`, () => {
      const { warnings } = read(text);
      expect(planOf(text)).to.deep.equal([]);
      expect(warnings.map(({ code, message }) => `${code} ${message}`)).to.have.length(1);
      expect(warnings[0]).to.have.property('code', 'INSTALMENTS_MISMATCH');
      expect(warnings[0]?.message).to.contain(` ${sum} and not to 100 %`);
    });
  }

  it('are extracted identically from the same text', () => {
    const text = '合同签订后支付30%，货到付至90%，质保期满付清';
    expect(read(text)).to.deep.equal(read(text));
  });

  it('have amounts in the decimals of their currency, and the last one takes the remainder', () => {
    expect(
      planOf('Contract Price: JPY 1,000,001\n33.33% upon signing, 33.33% upon delivery, and 33.34% after acceptance.'),
    ).to.deep.equal(['upon signing 333300', 'upon delivery 333300', 'after acceptance 333401']);
    expect(planOf('Contract Price: USD 100.01\n50% upon signing, 50% upon delivery')).to.deep.equal([
      'upon signing 50',
      'upon delivery 50.01',
    ]);
    expect(planOf('Contract Price: KWD 100.001\n50% upon signing, 50% upon delivery')).to.deep.equal([
      'upon signing 50',
      'upon delivery 50.001',
    ]);
    expect(
      planOf('Contract Price: JPY 2\n25% upon order, 25% upon signing, 25% upon delivery, 25% after acceptance').map(
        (line) => Number(line.split(' ').at(-1)),
      ),
    ).to.deep.equal([0, 0, 0, 2]);
  });

  it('have amounts located at their shares, marked as computed, and without a due date', () => {
    const text = 'Contract Price: USD 40,000\n30% upon signing, 70% upon delivery';
    const amount = fieldOf(text, 'payments[1].amount');
    expect(amount).to.deep.include({
      rawText: '70%',
      doubts: ['FROM_SHARE'],
      location: { page: 1, start: text.indexOf('70%'), end: text.indexOf('70%') + 3 },
    });
    expect(bandOf(amount?.confidence ?? 1)).to.equal('medium');
    expect(fieldOf(text, 'payments[1].dueDate')).to.equal(undefined);
    expect(
      fieldOf('Contract Price: USD 40,000\n30% upon signing, 70% on delivery on 30 June 2027', 'payments[1].dueDate')
        ?.value,
    ).to.equal('2027-06-30');
  });
});

describe('shares with dates and days between them', () => {
  const read = (text: string): string[] => planOf(text, ['amount', 'dueDate']);
  const rows: readonly (readonly [what: string, text: string, plan: readonly string[]])[] = [
    [
      'an event, a number of days and a date',
      'Contract Price: USD 40,000\nPayment: 30% upon signing, 60% within 30 days after delivery, 10% by 31 December 2026',
      ['upon signing 12000', 'within 30 days after delivery 24000', 'by 31 December 2026 4000 2026-12-31'],
    ],
    [
      'a date with a comma, a number in words and digits',
      'Total Price: USD 1,000\n30% upon signing; 60% within thirty (30) days after delivery; and the remaining 10% by December 31, 2026.',
      ['upon signing 300', 'within thirty (30) days after delivery 600', 'by December 31, 2026 100 2026-12-31'],
    ],
    [
      'dates with slashes',
      'Total Price: USD 1,000\n30% by 31/12/2026 and 70% no later than 31/01/2027',
      ['by 31/12/2026 300 2026-12-31', 'no later than 31/01/2027 700 2027-01-31'],
    ],
    [
      'dates before their shares',
      'Total Price: USD 1,000\nBy 1 March 2026: 30%; by 1 June 2026: 70%',
      ['By 1 March 2026 300 2026-03-01', 'by 1 June 2026 700 2026-06-01'],
    ],
    [
      'days without a preposition, and days net',
      'Total Price: USD 1,000\n20% on order, 40% 30 days after delivery, 40% net 60 days',
      ['on order 200', '30 days after delivery 400', 'net 60 days 400'],
    ],
    [
      'shares of the contract price',
      'Total Price: USD 1,000\n30% of the contract price upon signing, 60% of the contract price within 30 days after delivery and 10% of the contract price on or before 31 December 2026',
      ['upon signing 300', 'within 30 days after delivery 600', 'on or before 31 December 2026 100 2026-12-31'],
    ],
    [
      'Chinese, share last',
      '合同总价：100,000元\n合同签订后支付30%，交货后30日内支付60%，2026年12月31日前支付10%',
      ['合同签订后 30000', '交货后30日内 60000', '2026年12月31日前 10000 2026-12-31'],
    ],
    [
      'Chinese, with a name for the rest',
      '合同总价：100,000元\n签订后10日内付30%，2026年6月1日前付60%，余款10%于2026年12月31日前付清',
      ['签订后10日内 30000', '2026年6月1日前 60000 2026-06-01', '余款 10000 2026-12-31'],
    ],
    [
      'Chinese, share first',
      '合同总价：100,000元\n30%签约后，60%到货后30天，10%于2026年12月31日',
      ['签约后 30000', '到货后30天 60000', '2026年12月31日 10000 2026-12-31'],
    ],
    [
      'a table whose conditions contain the date',
      '合同总价：1,000元\n| 阶段 | 比例 | 条件 |\n|---|---|---|\n| 首付款 | 90% | 签约后 |\n| 质保金 | 10% | 2026年12月31日前 |',
      ['首付款 900', '质保金 100 2026-12-31'],
    ],
    [
      'no plan from increases of the rent',
      '租金总额：100,000元\n2027年1月1日起每月租金为原租金的105%，2028年1月1日起递增5%',
      [],
    ],
  ];
  for (const [what, text, plan] of rows) it(what, () => expect(read(text)).to.deep.equal(plan));

  it('that exceed the whole are no plan, and the warning gives their sum', () => {
    const { fields, warnings } = extract(
      'Contract Price: USD 40,000\n30% upon signing, 60% within 30 days after delivery, 15% by 31 December 2026',
      { currencyCode: 'CNY' },
    );
    expect(fields.filter(({ fieldKey }) => fieldKey.startsWith('payments'))).to.deep.equal([]);
    expect(warnings.map(({ code }) => code)).to.deep.equal(['INSTALMENTS_MISMATCH']);
    expect(warnings[0]?.message).to.contain(' 105 % ');
  });

  it('cause no warning if percentages with only a date stand apart from the plan', () => {
    const { warnings } = extract(
      'Total Rent: USD 40,000\n20% on signing\nThe rent is 103% from 1 January 2027.\nThe rent is 106% from 1 January 2028.\n5% by 1 January 2029',
      { currencyCode: 'CNY' },
    );
    expect(warnings).to.deep.equal([]);
  });
});

describe('named instalments', () => {
  const names = [
    ['首付款', '二期款', '三期款', '尾款'],
    ['一期款', '二期进度款', '中期款', '质保金'],
    ['首笔款', '进度款', '结算款', '末期款'],
    ['启动款', '初验款', '终验款', '剩余款项'],
  ] as const;
  const amounts = ['20000', '30000', '40000', '10000'];
  for (const four of names) {
    const plan = four.map((name, i) => `${name} ${amounts[i]}`);
    const total = '合同总价：100,000元\n';
    it(`${four.join('、')} are lines, with shares and with amounts, on one line or several`, () => {
      const shares = four.map((name, i) => `${name}${Number(amounts[i]) / 1_000}%`);
      const sums = four.map((name, i) => `${name}${amounts[i]}元`);
      for (const text of [
        shares.join('，'),
        shares.map((share) => `（1）${share}；`).join('\n'),
        shares.join('、'),
        sums.map((sum) => `${sum}；`).join('\n'),
        `期数\t金额（元）\t付款日期\n${four.map((name, i) => `${name}\t${amounts[i]}\t2026-0${i + 1}-01`).join('\n')}`,
      ])
        expect(planOf(total + text), text).to.deep.equal(plan);
    });
  }

  it('separated by commas are separate lines with their amounts and dates', () =>
    expect(
      planOf('合同总价：120万元\n首付款36万元，二期款72万元于2026年6月1日前付，尾款12万元。', ['amount', 'dueDate']),
    ).to.deep.equal(['首付款 360000', '二期款 720000 2026-06-01', '尾款 120000']));

  it('are not the phases of a project', () =>
    expect(planOf('合同总价：120万元\n二期工程款项的30%由业主支付。\n本项目二期30%')).to.deep.equal([]));
});

describe('the method of payment', () => {
  it('is the method named in the plan, and the plan remains a candidate', () => {
    const field = fieldOf(
      'Payment terms: T/T, 30% (USD 12,000) within 7 days of signing, 70% (USD 28,000) upon delivery',
      'paymentMethod',
    );
    expect(field?.candidates.map(({ value }) => value)).to.deep.equal([
      'T/T',
      'T/T, 30% (USD 12,000) within 7 days of signing, 70% (USD 28,000) upon delivery',
    ]);
    expect(fieldOf('付款方式：30%预付款，60%提货款，10%质保金，电汇', 'paymentMethod')).to.deep.include({
      value: '电汇',
      rawText: '电汇',
      doubts: [],
    });
  });

  it('is the plan, with low confidence and a warning, if no method is named', () => {
    const field = fieldOf(
      'Payment terms: 30% (USD 12,000) within 7 days of signing, 70% (USD 28,000) upon delivery',
      'paymentMethod',
    );
    expect(field).to.deep.include({
      value: '30% (USD 12,000) within 7 days of signing, 70% (USD 28,000) upon delivery',
      doubts: ['A_PLAN'],
    });
    expect(bandOf(field?.confidence ?? 1)).to.equal('low');
  });

  it('is the text of the terms if they are not a plan', () => {
    for (const terms of [
      '30 days net',
      'net 30 days, 2% discount within 10 days',
      '100% T/T in advance',
      'by irrevocable letter of credit at sight',
    ])
      expect(fieldOf(`Payment terms: ${terms}`, 'paymentMethod')).to.deep.include({ value: terms, doubts: [] });
  });

  it('is the option ticked on the form', () => {
    expect(fieldOf('付款方式：□全额付款 ☑分期付款 □成本补偿', 'paymentMethod')?.value).to.equal('分期付款');
    expect(fieldOf('付款方式：□全额付款 □分期付款', 'paymentMethod')).to.equal(undefined);
  });
});

describe('fields of scanned pages', () => {
  const text = 'Contract No.: A-1\n\fTotal Amount: USD 900.00\nSeller: Alpha Ltd\n\fBuyer: Beta GmbH';
  const confidences = (pages?: readonly { readonly confidence?: number }[]) =>
    new Map(
      extract(text, { currencyCode: 'CNY', ...(pages ? { pages } : {}) }).fields.map(({ fieldKey, confidence }) => [
        fieldKey,
        confidence,
      ]),
    );

  it('have at most the confidence of the recognition of their page, while other pages are unaffected', () => {
    const [plain, scanned] = [confidences(), confidences([{}, { confidence: 0.6 }, {}])];
    for (const key of ['contractNo', 'partyA']) expect(scanned.get(key), key).to.equal(plain.get(key));
    for (const key of ['totalAmount', 'partyB', 'currencyCode'])
      expect(scanned.get(key), key).to.be.closeTo((plain.get(key) ?? 0) * 0.6, 0.01);
    expect(plain.get('totalAmount')).to.be.at.least(0.9);
  });

  it('never have high confidence on a page that is hard to read, even if repeated or consistent with others', () => {
    const scanned = `Quantity: 2 units\nUnit Price: USD 450.00\n${'Total Amount: USD 900.00 (say US dollars nine hundred only)\n'.repeat(60)}`;
    const { fields, overallConfidence } = extract(scanned, { currencyCode: 'CNY', pages: [{ confidence: 0.6 }] });
    expect(fields).to.have.length.of.at.least(4);
    for (const { fieldKey, confidence, candidates } of fields)
      for (const said of [confidence, ...candidates.map((candidate) => candidate.confidence)])
        expect(said, fieldKey).to.be.at.most(0.6);
    expect(overallConfidence).to.be.at.most(0.6);
  });

  it('rank below the same field in printed text', () => {
    const pages = [{ confidence: 0.7 }, {}];
    const { fields } = extract('Contract No.: A-1I\n\fReference No.: A-11', { currencyCode: 'CNY', pages });
    expect(fields[0]?.candidates.map(({ value }) => value)).to.deep.equal(['A-11', 'A-1I']);
  });
});
