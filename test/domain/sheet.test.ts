import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import { CONTRACT_COLUMNS, LINE_COLUMNS, SUMMARY_COLUMNS } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { BYTE_ORDER_MARK } from '../../data-plane-agent/base/csv/marks.js';
import { cellText, csvRow } from '../../data-plane-agent/plane/domain/sheet/csv-write.js';
import { guarded, listText, unguarded } from '../../data-plane-agent/plane/domain/sheet/guard.js';

const TRIGGERS = ['=', '+', '-', '@', '\t', '\r', '\n', '\0', '＝', '＋', '－', '＠'];

/**
 * Splits a file as spreadsheets do: a quote at the beginning of a cell opens it, text after its closing quote belongs
 * to the cell, and any other quote is an ordinary character.
 */
function cellsOf(file: string, separator: string): string[] {
  const cells: string[] = [];
  let [cell, at] = ['', 0];
  while (at < file.length) {
    if (cell === '' && file[at] === '"') {
      for (at += 1; at < file.length && (file[at] !== '"' || file[at + 1] === '"'); at += 1) {
        cell += file[at];
        if (file[at] === '"') at += 1;
      }
      at += 1;
    }
    while (at < file.length && file[at] !== separator && file[at] !== '\n' && file[at] !== '\r') cell += file[at++];
    cells.push(cell);
    cell = '';
    at += 1;
  }
  return cells;
}

describe('the formula guard', () => {
  for (const trigger of TRIGGERS) {
    it(`is added before ${JSON.stringify(trigger)} and removed again`, () => {
      for (const text of [trigger, `${trigger}1+1`, `'${trigger}x`, `'''${trigger}x`]) {
        expect(guarded(text)).to.equal(`'${text}`);
        expect(unguarded(guarded(text))).to.equal(text);
      }
    });
  }

  it('leaves other texts unchanged', () => {
    for (const text of ['', 'a=1', ' =1', "it's", "'", "''", "'a", '1', '上海', '［', '"=1"']) {
      expect(guarded(text)).to.equal(text);
      expect(unguarded(text)).to.equal(text);
    }
  });

  it('restores every text, and lets none begin a formula', () => {
    const piece = fc.oneof(fc.constantFrom(...TRIGGERS, "'", '"', ',', 'a', '中'), fc.string());
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
        (text) => {
          expect(unguarded(guarded(text))).to.equal(text);
          expect(TRIGGERS.some((trigger) => guarded(text).startsWith(trigger))).to.equal(false);
        },
      ),
    );
  });

  it('is also added within a text where a spreadsheet of another locale begins a cell, and removed again', () => {
    const cases: [string, string][] = [
      ['a;=cmd', "a;'=cmd"],
      ['a;＝cmd', "a;'＝cmd"],
      ['a\t@x', "a\t'@x"],
      ['two\n-lines', "two\n'-lines"],
      ['a\r\n+1', "a\r'\n'+1"],
      ['a;"=1"', 'a;\'"=1"'],
      ["a;'=1", "a;''=1"],
      ['x;;=1', "x;;'=1"],
      ['a;\t=', "a;'\t'="],
      ['=a;=b', "'=a;'=b"],
      ['a;', "a;'"],
      ["a;'", "a;''"],
    ];
    for (const [text, cell] of cases) {
      expect(guarded(text), JSON.stringify(text)).to.equal(cell);
      expect(unguarded(cell)).to.equal(text);
    }
    for (const text of ['a; b', 'a;b=c', 'x\ny', 'a,=b', "it's; fine", '; =1'])
      expect([guarded(text), unguarded(text)]).to.deep.equal([text, text]);
  });

  it('lets no cell begin a formula, whichever separator the spreadsheet uses', () => {
    const piece = fc.oneof(
      fc.constantFrom(...TRIGGERS.filter((one) => one !== '\0'), "'", '"', ',', ';', ';=', ';"=', 'a', '中', '\r\n'),
      fc.string({ maxLength: 3 }),
    );
    const text = fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join('').trim());
    const list = fc.array(text, { minLength: 1, maxLength: 2 });
    const row = fc
      .tuple(text, text, list, text)
      .map(([a, b, c, d]) => [cellText(a, 'text'), cellText(b, 'text'), listText(c), cellText(d, 'text')]);
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (rows) => {
        const file = rows.map(csvRow).join('');
        for (const separator of [',', ';', '\t']) {
          for (const cell of cellsOf(file, separator))
            expect(
              TRIGGERS.filter((trigger) => trigger !== '\n').some((trigger) => cell.startsWith(trigger)),
              JSON.stringify([file, separator, cell]),
            ).to.equal(false);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('preserves the JSON of a list', () => {
    const lists = fc.array(fc.oneof(fc.string(), fc.constantFrom(';=x', '"; =', ';-', '\t=')), { maxLength: 4 });
    fc.assert(
      fc.property(lists, (list) => {
        expect(JSON.parse(unguarded(listText(list)))).to.deep.equal(list);
      }),
    );
  });

  it('applies to texts only: numbers, days and generated lists are unchanged', () => {
    expect([
      cellText(-5, 'number'),
      cellText('-5', 'number'),
      cellText('2026-03-01', 'day'),
      cellText('[]', 'list'),
      cellText(null, 'text'),
      cellText('-5', 'text'),
    ]).to.deep.equal(['-5', '-5', '2026-03-01', '[]', '', "'-5"]);
  });
});

describe('rows of CSV', () => {
  it('are quoted where necessary, and end with CRLF', () => {
    expect(csvRow(['plain', '', 'a,b', 'say "yes"', 'two\nlines', 'cr\r', ' blank ', '中文'])).to.equal(
      'plain,,"a,b","say ""yes""","two\nlines","cr\r", blank ,中文\r\n',
    );
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
  const all = [
    ...CONTRACT_COLUMNS,
    ...LINE_COLUMNS,
    ...SUMMARY_COLUMNS.filter(({ field, insteadOf }) => field === null && insteadOf === undefined),
  ];
  const flat = (name: string) => name.toLowerCase().replaceAll(/\s/g, '');

  it('include every writable field of a contract and of a line, except those with their own rows or columns', () => {
    const fields = (columns: readonly { readonly field: string | null }[]) =>
      columns.flatMap(({ field }) => field ?? []);
    expect(fields(CONTRACT_COLUMNS)).to.deep.equal(
      Object.keys(ContractInput.properties).filter((name) => name !== 'payments' && name !== 'dynamicFields'),
    );
    expect(fields(LINE_COLUMNS)).to.have.members(Object.keys(PaymentLineInput.properties));
  });

  it('have distinct names and labels', () => {
    const names = all.flatMap(({ name, labels }) => [...new Set([flat(name), flat(labels.en), flat(labels.zh)])]);
    const twice = names.filter((name, i) => names.indexOf(name) !== i);
    expect(twice).to.deep.equal([]);
  });

  it('of a summary have a fixed order', () => {
    const promised =
      'archiveCode, contractNo, projectName, type, typeCode, subjectName, partyA, partyB, totalAmount, currencyCode, receivedAmount, outstandingAmount, overdueAmount, paymentStatus, nextDueDate, status, workflowStage, lifecycleStageCode, signDate, startDate, endDate, ownerName';
    expect(SUMMARY_COLUMNS.map(({ name }) => name).join(', ')).to.equal(promised);
  });
});
