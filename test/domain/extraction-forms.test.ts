import { expect } from 'chai';
import { extract, type Extraction } from '../../data-plane-agent/plane/domain/extraction/extract.js';
import { compared, printed } from '../data-plane/extraction-files/outcome.js';
import { EN_EPC_MILESTONES } from './contracts-to-read/en-epc-milestones.js';
import { EN_EQUIPMENT_SALE } from './contracts-to-read/en-equipment-sale.js';
import { EN_EQUIPMENT_SCHEDULE } from './contracts-to-read/en-equipment-schedule.js';
import { EN_HEADS_OF_TERMS } from './contracts-to-read/en-heads-of-terms.js';
import { EN_ORDER_CONFIRMATION } from './contracts-to-read/en-order-confirmation.js';
import { EN_PLANT_HIRE } from './contracts-to-read/en-plant-hire.js';
import { EN_TENANCY } from './contracts-to-read/en-tenancy.js';
import { NO_CONTRACTS } from './contracts-to-read/no-contracts.js';
import { ZH_GOVERNMENT_PURCHASE } from './contracts-to-read/zh-government-purchase.js';
import { ZH_OFFICE_LEASE } from './contracts-to-read/zh-office-lease.js';
import { ZH_SALE } from './contracts-to-read/zh-sale.js';
import { ZH_WORKS_PURCHASE } from './contracts-to-read/zh-works-purchase.js';

const read = (text: string): Extraction => extract(text, { currencyCode: 'CNY' });

describe('contracts after public model forms', () => {
  const forms: Readonly<
    Record<string, { readonly text: string; readonly expected: Readonly<Record<string, string | number>> }>
  > = {
    'heads of terms': EN_HEADS_OF_TERMS,
    'equipment schedule': EN_EQUIPMENT_SCHEDULE,
    'Chinese government purchase': ZH_GOVERNMENT_PURCHASE,
    'Chinese office lease': ZH_OFFICE_LEASE,
    'turnkey milestones': EN_EPC_MILESTONES,
    'order confirmation': EN_ORDER_CONFIRMATION,
    'plant hire': EN_PLANT_HIRE,
    'Chinese purchase for works': ZH_WORKS_PURCHASE,
    tenancy: EN_TENANCY,
    'equipment sale': EN_EQUIPMENT_SALE,
  };
  const outcomes = Object.entries(forms).map(([name, { text, expected }]) =>
    compared(name, expected, read(text).fields),
  );

  for (const { name, right, labelled, invented } of outcomes) {
    it(`${name}: at least 95 of 100 fields are extracted correctly, and none is invented`, () => {
      expect(invented).to.deep.equal([]);
      expect(right / labelled, printed(outcomes)).to.be.at.least(0.95);
    });
  }

  it('produce no warning of contradictions', () => {
    for (const [name, { text }] of Object.entries(forms)) expect(read(text).warnings, name).to.deep.equal([]);
  });
});

describe('documents that are neither a sale nor a lease', () => {
  for (const [name, { text, stated }] of Object.entries(NO_CONTRACTS)) {
    it(`${name}: almost nothing is extracted, and nothing with high confidence`, () => {
      const { fields, missingFields } = read(text);
      expect(compared(name, stated, fields)).to.deep.include({ wrong: [], invented: [] });
      expect(
        fields
          .filter(({ confidence, fieldKey }) => confidence >= 0.6 || fieldKey.startsWith('terms'))
          .map(({ fieldKey }) => fieldKey),
      ).to.deep.equal([]);
      expect(missingFields).to.include.members(['totalAmount', 'startDate', 'equipmentName', 'payments']);
    });
  }

  it('are recognised if their title or form names their kind', () => {
    const reported = Object.entries(NO_CONTRACTS)
      .filter(([, { text }]) => read(text).warnings.some(({ code }) => code === 'OTHER_DOCUMENT'))
      .map(([name]) => name);
    expect(Object.keys(NO_CONTRACTS).filter((name) => !reported.includes(name))).to.deep.equal(['a Chinese brochure']);
    expect(read(NO_CONTRACTS['an English invoice']?.text ?? '').warnings[0]?.message).to.match(
      /this is an invoice, and neither a sale nor a lease/,
    );
  });

  it('do not prevent the extraction of a contract that follows an offer', () => {
    const { fields, warnings } = read(`产品报价单\n1. 立式加工中心  386,000元\n\f${ZH_SALE.text}`);
    expect(fields.find(({ fieldKey }) => fieldKey === 'totalAmount')?.value).to.equal(1_158_000);
    expect(warnings).to.deep.equal([]);
  });

  it('are not recognised in a contract that merely mentions another document', () => {
    const { fields, warnings } = read(
      'SUPPLY AGREEMENT\nInvoice\nThe Seller sends its invoice and a packing list.\nContract Price: USD 500.00\nDear reader,\nYours sincerely',
    );
    expect(fields.map(({ fieldKey }) => fieldKey)).to.include('totalAmount');
    expect(warnings).to.deep.equal([]);
  });
});
