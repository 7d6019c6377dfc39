import { expect } from 'chai';
import { bandOf } from '../../data-plane-agent/plane/domain/extraction/answer.js';
import { extract } from '../../data-plane-agent/plane/domain/extraction/extract.js';

const fieldsOf = (text: string) => extract(text, { currencyCode: 'CNY' }).fields;
const values = (text: string): Record<string, unknown> =>
  Object.fromEntries(fieldsOf(text).map(({ fieldKey, value }) => [fieldKey, value]));
const fieldOf = (text: string, key: string) => fieldsOf(text).find(({ fieldKey }) => fieldKey === key);

describe('the period of a lease', () => {
  for (const text of [
    'LEASE AGREEMENT\nRental period: 1 April 2026 - 31 March 2027',
    'LEASE AGREEMENT\nRental period: 1 April 2026 – 31 March 2027',
    'LEASE AGREEMENT\nHire period: 2026-04-01 to 2027-03-31',
    '租赁合同\n租赁期间：2026年4月1日-2027年3月31日',
    'LEASE AGREEMENT\nThe equipment is leased for 12 months starting 1 April 2026.',
    'LEASE AGREEMENT\nRental period: for twelve (12) months starting 1 April 2026',
    'LEASE AGREEMENT\nTerm: one year from 1 April 2026',
    'LEASE AGREEMENT\nTerm: from 1 April 2026 for a period of 12 months',
    '租赁合同\n租期：自2026年4月1日起12个月',
    '租赁合同\n租期：自2026年4月1日起，为期一年',
  ])
    it(`is read as start and end date: ${JSON.stringify(text)}`, () =>
      expect(values(text))
        .to.include({ startDate: '2026-04-01', endDate: '2027-03-31' })
        .and.not.to.have.any.keys('paymentCycle', 'equipmentName'));

  it('whose end is computed from its duration is marked, and located at the duration', () => {
    const text = 'Lease term: 12 months from 1 April 2026';
    expect(fieldOf(text, 'endDate')).to.deep.include({ rawText: '12 months', doubts: ['FROM_TERM'] });
    expect(fieldOf('Lease term: 1 April 2026 to 31 March 2027', 'endDate')?.doubts).to.deep.equal([]);
  });

  it('has no computed end without a duration next to its start', () =>
    expect(values('LEASE AGREEMENT\nTerm: from 1 April 2026, subject to 30 days notice')).not.to.have.property(
      'endDate',
    ));

  it('is still the payment cycle if it names one', () =>
    expect(values('LEASE AGREEMENT\nRental period: monthly')).to.include({ paymentCycle: 'monthly' }));
});

describe('a number next to the title', () => {
  for (const text of ['RENTAL AGREEMENT\nNo.: RA-3\nLessor: A Ltd', 'No. RA-3\nSALES CONTRACT\nSeller: A Ltd'])
    it(`is the number of the contract, with lower confidence: ${JSON.stringify(text)}`, () => {
      const field = fieldOf(text, 'contractNo');
      expect(field?.value).to.equal('RA-3');
      expect(bandOf(field?.confidence ?? 1)).to.equal('medium');
    });

  it('is not one further down, nor one without digits', () => {
    expect(values('SALES CONTRACT\nSeller: A Ltd\nBuyer: B Ltd\nGoods: Pump\nNo.: 77-3')).not.to.have.property(
      'contractNo',
    );
    expect(values('SALES CONTRACT\nNo. of units: 3')).not.to.have.property('contractNo');
  });
});

describe('the rent of one unit', () => {
  const of3 = (rent: string) => `LEASE AGREEMENT 租赁合同\nEquipment: Tower crane\nQuantity: 3\n${rent}`;
  for (const rent of [
    '月租金：每台人民币8000元',
    '租金：每台人民币8000元/月',
    '月租金：8000元/台',
    '每台月租金：8000元',
    'Monthly rent: USD 8,000 per unit',
    'Monthly rent per unit: USD 8,000',
    'Monthly rent: USD 8,000 for each crane',
    'Rent: USD 8,000 per month per unit',
  ])
    it(`is marked and has low confidence, as it is not the rent of all units: ${rent}`, () => {
      const field = fieldOf(of3(rent), 'periodicRent');
      expect(field).to.deep.include({ value: 8_000, doubts: ['PER_UNIT'] });
      expect(bandOf(field?.confidence ?? 1)).to.equal('low');
    });

  it('is the rent if there is one unit, and the rent of all units is preferred', () => {
    expect(
      fieldOf('LEASE AGREEMENT\nEquipment: Crane\nQuantity: 1\nMonthly rent: USD 8,000 per unit', 'periodicRent'),
    ).to.deep.include({ value: 8_000, doubts: [] });
    expect(fieldOf(of3('Monthly rent: USD 24,000 (USD 8,000 per unit)'), 'periodicRent')).to.deep.include({
      value: 24_000,
      doubts: [],
    });
  });
});
