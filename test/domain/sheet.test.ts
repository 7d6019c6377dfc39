import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { CONTRACT_COLUMNS, LINE_COLUMNS, SUMMARY_COLUMNS } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { BYTE_ORDER_MARK, cellText, csvRow } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import { guarded, unguarded } from '../../data-plane-agent/plane/domain/sheet/guard.js';

const TRIGGERS = ['=', '+', '-', '@', '\t', '\r', '\n', '\0', '＝', '＋', '－', '＠'];

describe('the formula guard', () => {
  for (const trigger of TRIGGERS) {
    it(`stands in front of ${JSON.stringify(trigger)} and goes again`, () => {
      for (const text of [trigger, `${trigger}1+1`, `'${trigger}x`, `'''${trigger}x`]) {
        expect(guarded(text)).to.equal(`'${text}`);
        expect(unguarded(guarded(text))).to.equal(text);
      }
    });
  }

  it('leaves everything else as it is', () => {
    for (const text of ['', 'a=1', ' =1', "it's", "'", "''", "'a", '1', '上海', '［', '"=1"']) {
      expect(guarded(text)).to.equal(text);
      expect(unguarded(text)).to.equal(text);
    }
  });

  it('gives back every text, and lets none begin a formula', () => {
    const piece = fc.oneof(fc.constantFrom(...TRIGGERS, "'", '"', ',', 'a', '中'), fc.string());
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')), (text) => {
        expect(unguarded(guarded(text))).to.equal(text);
        expect(TRIGGERS.some((trigger) => guarded(text).startsWith(trigger))).to.equal(false);
      }),
    );
  });

  it('is for texts: numbers, days and lists of ours stay what they are', () => {
    expect([cellText(-5, 'number'), cellText('-5', 'number'), cellText('2026-03-01', 'day'), cellText('[]', 'list'), cellText(null, 'text'), cellText('-5', 'text')]).to.deep.equal(['-5', '-5', '2026-03-01', '[]', '', "'-5"]);
  });
});

describe('rows of CSV', () => {
  it('are quoted where they must be, and end with CRLF', () => {
    expect(csvRow(['plain', '', 'a,b', 'say "yes"', 'two\nlines', 'cr\r', ' blank ', '中文'])).to.equal('plain,,"a,b","say ""yes""","two\nlines","cr\r", blank ,中文\r\n');
  });

  it('are read back as they were written', () => {
    const cell = fc.oneof(fc.string(), fc.constantFrom('\r\n', '"', ',', '""', '\n', "'=1", '\uFEFF', ';'));
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 5 }), (rows) => {
        const read: unknown = parse(BYTE_ORDER_MARK + csvRow(['a', 'b']) + rows.map(csvRow).join(''), { bom: true });
        expect(read).to.deep.equal([['a', 'b'], ...rows]);
      }),
    );
  });
});

describe('the columns of a sheet', () => {
  const all = [...CONTRACT_COLUMNS, ...LINE_COLUMNS, ...SUMMARY_COLUMNS.filter(({ field, insteadOf }) => field === null && insteadOf === undefined)];
  const flat = (name: string) => name.toLowerCase().replaceAll(/\s/g, '');

  it('hold every field that a request may send of a contract and of a line, but for those that have rows or columns of their own', () => {
    const fields = (columns: readonly { readonly field: string | null }[]) => columns.flatMap(({ field }) => field ?? []);
    expect(fields(CONTRACT_COLUMNS)).to.deep.equal(Object.keys(ContractInput.properties).filter((name) => name !== 'payments' && name !== 'dynamicFields'));
    expect(fields(LINE_COLUMNS)).to.have.members(Object.keys(PaymentLineInput.properties));
  });

  it('are named and labelled so that no two are taken for one another', () => {
    const names = all.flatMap(({ name, labels }) => [...new Set([flat(name), flat(labels.en), flat(labels.zh)])]);
    const twice = names.filter((name, i) => names.indexOf(name) !== i);
    expect(twice).to.deep.equal([]);
  });

  it('of a summary are those that were promised, in this order', () => {
    const promised = 'archiveCode, contractNo, projectName, type, typeCode, subjectName, partyA, partyB, totalAmount, currencyCode, receivedAmount, outstandingAmount, overdueAmount, paymentStatus, nextDueDate, status, workflowStage, lifecycleStageCode, signDate, startDate, endDate, ownerName';
    expect(SUMMARY_COLUMNS.map(({ name }) => name).join(', ')).to.equal(promised);
  });
});
