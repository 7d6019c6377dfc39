import { expect } from 'chai';
import { extract } from '../../data-plane-agent/plane/domain/extraction/extract.js';

/** `period dueDate amount` of each payment line, then the codes of the warnings. */
function read(text: string): string[] {
  const { fields, warnings } = extract(text, { currencyCode: 'CNY' });
  const value = (key: string) => fields.find(({ fieldKey }) => fieldKey === key)?.value;
  const lines = fields
    .filter(({ fieldKey }) => fieldKey.endsWith('.period'))
    .map(({ fieldKey, value: period }) =>
      [period, value(fieldKey.replace('period', 'dueDate')), value(fieldKey.replace('period', 'amount'))]
        .map(String)
        .join(' '),
    );
  return [...lines, ...warnings.map(({ code }) => code)];
}

describe('a table of payments with numbers and stages', () => {
  const english = (stages: readonly string[], separator: string): string =>
    [
      ['No.', 'Stage', 'Due date', 'Amount'],
      ['1', stages[0], '1 May 2026', 'USD 30,000'],
      ['2', stages[1], '1 June 2026', 'USD 50,000'],
      ['3', stages[2], '1 June 2027', 'USD 10,000'],
    ]
      .map((row) => row.join(separator))
      .join('\n');
  for (const stages of [
    ['Deposit', 'Delivery', 'Warranty'],
    ['Signing', 'Shipment', 'Balance'],
    ['Down payment', 'Delivery date', 'Insurance'],
  ])
    for (const separator of [' | ', '\t', '    '])
      it(`has a line for each row, also where the stage is a label elsewhere: ${stages.join(JSON.stringify(separator))}`, () => {
        const lines = [
          `${stages[0]} 2026-05-01 30000`,
          `${stages[1]} 2026-06-01 50000`,
          `${stages[2]} 2027-06-01 10000`,
        ];
        expect(read(`Total Price: USD 90,000\n${english(stages, separator)}`)).to.deep.equal(lines);
        expect(read(`Payment schedule\n${english(stages, separator)}`)).to.deep.equal(lines);
      });

  for (const [head, stages] of [
    ['序号 | 阶段 | 付款日期 | 金额（元）', ['定金', '交货', '质保期']],
    ['序号 | 付款节点 | 付款时间 | 付款金额', ['预付款', '验收', '保证金']],
  ] as const)
    it(`in Chinese: ${head}`, () =>
      expect(
        read(
          `合同总价：90,000元\n${head}\n1 | ${stages[0]} | 2026年5月1日 | 30,000\n2 | ${stages[1]} | 2026年6月1日 | 50,000\n3 | ${stages[2]} | 2027年6月1日 | 10,000\n合计 | | | 90,000`,
        ),
      ).to.deep.equal([
        `${stages[0]} 2026-05-01 30000`,
        `${stages[1]} 2026-06-01 50000`,
        `${stages[2]} 2027-06-01 10000`,
      ]));

  it('has the number of a row without a stage, and no line for the total in either column', () =>
    expect(
      read(
        'Total Price: USD 90,000\nNo.\tStage\tDue date\tAmount\n1\tDeposit\t1 May 2026\t30,000\n2\t\t1 June 2026\t60,000\n\tTotal\t\t90,000\nTotal\tall stages\t\t90,000',
      ),
    ).to.deep.equal(['Deposit 2026-05-01 30000', '2 2026-06-01 60000']));
});
