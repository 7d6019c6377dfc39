import { expect } from 'chai';
import { checker } from '../../data-plane-agent/base/validation.js';
import { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { PaymentLineInput } from '../../data-plane-agent/plane/contract/records/lines.js';
import {
  CONTRACT_STATUSES,
  CONTRACT_TYPES,
  RECONCILIATION_STATUSES,
  TERM_KINDS,
  WORKFLOW_STAGES,
} from '../../data-plane-agent/plane/contract/vocabulary.js';
import { CONTRACT_COLUMNS, LINE_COLUMNS, SUMMARY_COLUMNS } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { HEADER_WORDS, SUGGESTED_WORDS } from '../../data-plane-agent/plane/domain/sheet/header-words.js';
import { matchHeader } from '../../data-plane-agent/plane/domain/sheet/headers.js';
import { missingColumns, REQUIRED_COLUMNS } from '../../data-plane-agent/plane/domain/sheet/required-columns.js';
import { isExampleNumber, templateOf } from '../../data-plane-agent/plane/domain/sheet/template.js';
import { codeOfWord, problemOfWord, withTermKinds } from '../../data-plane-agent/plane/domain/sheet/value-words.js';
import { wordKey } from '../../data-plane-agent/plane/domain/sheet/word-key.js';

const names = (header: (string | null)[]) => matchHeader(header, []).targets.map((target) => target?.name);

describe('words for columns', () => {
  it('are accepted in English and Chinese, ignoring case, spaces and punctuation', () => {
    for (const [header, name] of [
      ['Contract No.', 'contractNo'],
      ['CONTRACT #', 'contractNo'],
      ['contract_no', 'contractNo'],
      ['Contract-Number:', 'contractNo'],
      ['合同号', 'contractNo'],
      ['合同编号 *', 'contractNo'],
      ['合同总价', 'totalAmount'],
      ['总价', 'totalAmount'],
      ['Total amount*', 'totalAmount'],
      ['Due date', 'line.dueDate'],
      ['line_due_date', 'line.dueDate'],
      ['应收金额：', 'line.amount'],
      ['Invoice #', 'line.invoiceNo'],
      ['税率', 'invoicePoints'],
      ['Tax %', 'invoicePoints'],
      ['到期日', 'line.dueDate'],
      ['到期日期', 'line.dueDate'],
      ['应付日期', 'line.dueDate'],
      ['Due', 'line.dueDate'],
      ['期款金额', 'line.amount'],
      ['本期金额', 'line.amount'],
      ['应收款', 'line.amount'],
      ['类型', 'type'],
      ['业务类型', 'type'],
      ['Kind', 'type'],
      ['Category', 'type'],
      ['主体公司', 'subjectName'],
      ['公司主体', 'subjectName'],
      ['我方', 'subjectName'],
      ['Type of contract', 'type'],
      ['Contract category', 'type'],
      ['租售', 'type'],
      ['租/售', 'type'],
      ['Total contract price', 'totalAmount'],
      ['Bank ref', 'line.bankSerialNo'],
      ['起始日', 'startDate'],
      ['终止日', 'endDate'],
      ['到账日', 'line.receivedDate'],
    ] as const)
      expect(names([header]), header).to.deep.equal([name]);
  });

  it('each mean exactly one existing column, and none is the name of another column', () => {
    const columns = [...CONTRACT_COLUMNS, ...LINE_COLUMNS, ...SUMMARY_COLUMNS];
    const known = new Map<string, string>(
      columns.flatMap(({ name, labels }) =>
        [name, labels.en, labels.zh].map((text): [string, string] => [wordKey(text), name]),
      ),
    );
    expect(Object.keys(HEADER_WORDS).filter((name) => !columns.some((column) => column.name === name))).to.deep.equal(
      [],
    );
    const clashes: string[] = [];
    for (const [name, words] of Object.entries(HEADER_WORDS))
      for (const word of words) {
        const other = known.get(wordKey(word));
        if (other !== undefined && other !== name) clashes.push(`${word}: ${other}, ${name}`);
        known.set(wordKey(word), name);
      }
    expect(clashes).to.deep.equal([]);
    const suggested = SUGGESTED_WORDS.flatMap(([words]) => words);
    expect(suggested.filter((word) => known.has(wordKey(word)))).to.deep.equal([]);
  });

  it('have lower precedence than the name of the field and than custom fields with the same name', () => {
    expect(names(['remark', 'Comments', 'contractNo'])).to.deep.equal(['remark', undefined, 'contractNo']);
    const field = { id: 'x', code: 'rate', name: '税率', type: 'number' } as never;
    expect(matchHeader(['税率', 'Tax rate'], [field]).targets.map((target) => target?.name)).to.deep.equal([
      'cf:rate',
      'invoicePoints',
    ]);
  });

  it('are suggested for headers that nearly match, but not for headers with a unit that would multiply an amount', () => {
    const { unknown, suggestions } = matchHeader(
      ['partyA', 'Contrct No', '合同编好', 'Unit prise', '开始日期（计划）', '合同总价（万元）', 'Color', 'Party C'],
      [],
    );
    expect(unknown).to.have.length(7);
    expect(suggestions).to.deep.equal([
      { column: 'Contrct No', suggestion: 'contractNo' },
      { column: '合同编好', suggestion: 'contractNo' },
      { column: 'Unit prise', suggestion: 'unitPrice' },
      { column: '开始日期（计划）', suggestion: 'startDate' },
      { column: 'Party C', suggestion: 'partyB' },
    ]);
  });

  it('are suggested together for a header that may mean several columns', () => {
    const meant = (...header: string[]) => matchHeader(['partyA', ...header], []).suggestions;
    const both = (column: string, ...names: string[]) => names.map((suggestion) => ({ column, suggestion }));
    for (const header of ['金额', 'Amount', '付款金额', '金额（元）', 'Payment amount'])
      expect(meant(header)).to.deep.equal(both(header, 'totalAmount', 'line.amount'));
    expect(meant('Received')).to.deep.equal(both('Received', 'line.receivedAmount', 'line.receivedDate'));
    expect(meant('Amount', 'totalAmount')).to.deep.equal(both('Amount', 'line.amount'));
    expect(meant('付款日期')).to.deep.equal(both('付款日期', 'line.dueDate'));
    expect(meant('金额（万元）')).to.deep.equal([]);
  });

  it('are suggested for a header with the words in another order or with one word too many', () => {
    const meant = (header: string) => matchHeader(['archiveCode', header], []).suggestions.map((one) => one.suggestion);
    for (const [header, name] of [
      ['Date of signing', 'signDate'],
      ['Date of contract signature', 'signDate'],
      ['Contract end date', 'endDate'],
      ['合同甲方名称', 'partyA'],
      ['本合同生效日期', 'startDate'],
      ['客户付款方式', 'paymentMethod'],
    ] as const)
      expect(meant(header), header).to.deep.equal([name]);
    for (const header of ['发票状态', 'Invoice type', 'Customer bank account', 'Delivery date', 'Number of cranes'])
      expect(meant(header), header).to.deep.equal([]);
  });

  it('are suggested for the sides of a contract and of a period, which may be named in another way', () => {
    const meant = (header: string) => matchHeader(['archiveCode', header], []).suggestions.map((one) => one.suggestion);
    for (const [name, headers] of [
      ['partyA', ['Customer', 'Buyer', '客户名称', '承租方']],
      ['partyB', ['Supplier', 'Seller', '供应商', '出租方']],
      ['startDate', ['From']],
      ['endDate', ['To']],
    ] as const)
      for (const header of headers) expect(meant(header), header).to.deep.equal([name]);
    expect(meant('Subject')).to.deep.equal(['subjectName', 'projectName']);
    expect(meant('分期')).to.deep.equal(['line.period', 'line.dueDate', 'line.amount']);
  });

  it('are suggested for money received only where the header says that it was', () => {
    const meant = (header: string) => matchHeader(['partyA', header], []).suggestions.map((one) => one.suggestion);
    for (const header of ['Recieved date', '已收金颔', 'Paid amuont', '到账日其'])
      expect(meant(header).join(), header).to.match(/^line\.received/);
    for (const header of [
      '期款日期',
      '付款时间',
      '到期曰期',
      '付款全额',
      '应收款时间',
      '计划收款时间',
      'Unpaid amount',
      'Receiver date',
    ])
      expect(meant(header).join(), header).to.not.contain('received');
  });

  it('determine the missing required columns; a reference is named by the column that people fill in', () => {
    const lacking = (header: string[]) => missingColumns(matchHeader(header, []).targets).map(({ name }) => name);
    const all = REQUIRED_COLUMNS.map(({ name }) => name);
    expect(lacking(all)).to.deep.equal([]);
    expect(lacking(all.map((name) => ({ subjectName: 'subjectId', ownerEmail: 'Owner' })[name] ?? name))).to.deep.equal(
      [],
    );
    expect(
      lacking([...all.filter((name) => !/subjectName|partyB|ownerEmail/.test(name)), 'line.amount']),
    ).to.deep.equal(['subjectName', 'partyB', 'ownerEmail', 'line.period', 'line.dueDate']);
  });
});

describe('words for values', () => {
  it('are converted to codes of the enumerations, ignoring case, spaces and punctuation; others are unchanged', () => {
    for (const [column, text, code] of [
      ['type', '销售', 'sale'],
      ['type', ' Sales ', 'sale'],
      ['type', 'LEASE', 'lease'],
      ['type', '租赁', 'lease'],
      ['type', '融资租赁', 'lease'],
      ['type', '经营租赁', 'lease'],
      ['type', 'Lease-back', 'lease'],
      ['status', 'In progress', 'in_progress'],
      ['status', '已完成', 'completed'],
      ['workflowStage', '履行中', 'active'],
      ['line.reconciliationStatus', '已对账', 'matched'],
      ['currencyCode', 'RMB', 'CNY'],
      ['currencyCode', '人民币', 'CNY'],
      ['line.currencyCode', '￥', 'CNY'],
      ['line.currencyCode', 'US$', 'USD'],
      ['currencyCode', '¥', '¥'],
      ['currencyCode', '$', '$'],
      ['type', 'gift', 'gift'],
      ['partyA', 'Sales', 'Sales'],
    ] as const)
      expect(codeOfWord(column, text), `${column} ${text}`).to.equal(code);
    expect(withTermKinds([{ kind: '定金', title: 't' }, { kind: 'x' }, 7])).to.deep.equal([
      { kind: 'deposit', title: 't' },
      { kind: 'x' },
      7,
    ]);
  });

  it('are mentioned in the problem of a text that is none of them, and so are the currencies that share a sign', () => {
    expect(problemOfWord('type', '赠与')).to.equal(
      'must be one of sale, lease, or a word for it such as 销售, 租赁, Sales or Rental',
    );
    for (const column of ['currencyCode', 'line.currencyCode']) {
      expect(problemOfWord(column, ' $ ')).to.match(
        /^must be the code of a currency: \$ is .* several, such as USD, CAD/,
      );
      expect(problemOfWord(column, '¥')).to.match(/: ¥ is the sign of several, such as CNY, JPY$/);
    }
    for (const [column, text] of [
      ['type', '租赁'],
      ['type', 'x'.repeat(101)],
      ['status', 'completed'],
      ['currencyCode', '￥'],
      ['currencyCode', 'CHF'],
      ['currencyCode', 'constructor'],
      ['partyA', '$'],
    ] as const)
      expect(problemOfWord(column, text), `${column} ${text}`).to.equal(undefined);
    // Every word that a problem mentions is accepted.
    for (const column of ['type', 'status', 'workflowStage', 'line.reconciliationStatus']) {
      const [, words = ''] = / such as (.+)$/.exec(problemOfWord(column, '?') ?? '') ?? [];
      for (const word of words.split(/, | or /)) expect(problemOfWord(column, word), word).to.equal(undefined);
    }
  });

  it('leave every code unchanged', () => {
    for (const [column, codes] of Object.entries({
      type: CONTRACT_TYPES,
      status: CONTRACT_STATUSES,
      workflowStage: WORKFLOW_STAGES,
      'line.reconciliationStatus': RECONCILIATION_STATUSES,
      currencyCode: ['CNY', 'USD', 'SGD'],
    }))
      for (const code of codes)
        expect([codeOfWord(column, code), problemOfWord(column, code)]).to.deep.equal([code, undefined]);
    expect(withTermKinds(TERM_KINDS.map((kind) => ({ kind })))).to.deep.equal(TERM_KINDS.map((kind) => ({ kind })));
  });
});

describe('the template of an import', () => {
  it('marks a required custom field only if every contract type requires it', () => {
    const field = (code: string, typeCodes: string[], required = true) => ({ code, required, typeCodes });
    const { header } = templateOf(
      [
        field('all', []),
        field('sales', ['sale']),
        field('both', ['lease', 'sale', 'service']),
        field('free', [], false),
      ],
      { language: null, currencyCode: 'CNY', typeCodes: ['sale', 'lease', 'service'] },
    );
    expect(header.filter((title) => title.startsWith('cf:'))).to.deep.equal([
      'cf:all *',
      'cf:sales',
      'cf:both *',
      'cf:free',
    ]);
  });

  for (const language of [null, 'en', 'zh'] as const) {
    it(`has only known columns, marks the required ones, and has a valid example row (${language ?? 'names'})`, () => {
      const { header, example } = templateOf([], { language, currencyCode: 'CNY', typeCodes: ['sale', 'lease'] });
      const { targets, unknown } = matchHeader(header, []);
      expect([unknown, missingColumns(targets)]).to.deep.equal([[], []]);
      expect(targets.flatMap((target, i) => (header[i]?.endsWith(' *') ? [target?.name] : []))).to.have.members(
        REQUIRED_COLUMNS.map(({ name }) => name),
      );
      const cells = new Map(targets.map((target, i) => [target?.name ?? '', example[i] ?? '']));
      expect(isExampleNumber(cells.get('contractNo'))).to.equal(true);
      for (const { name } of REQUIRED_COLUMNS) expect(cells.get(name), name).to.not.equal('');
      const contract = checker(ContractInput)({
        ...Object.fromEntries(
          ['archiveCode', 'contractNo', 'projectName', 'partyA', 'partyB', 'equipmentName', 'equipmentModel'].map(
            (name) => [name, cells.get(name)],
          ),
        ),
        ...Object.fromEntries(
          ['paymentMethod', 'signDate', 'startDate', 'endDate'].map((name) => [name, cells.get(name)]),
        ),
        type: codeOfWord('type', cells.get('type') ?? ''),
        status: codeOfWord('status', cells.get('status') ?? ''),
        currencyCode: cells.get('currencyCode'),
        quantity: Number(cells.get('quantity')),
        unitPrice: Number(cells.get('unitPrice')),
        totalAmount: Number(cells.get('totalAmount')),
        terms: JSON.parse(cells.get('terms') ?? '') as unknown,
        subjectId: '01a20634-62aa-7102-933d-9d7afbf8b4bf',
        ownerId: '01a20634-62aa-7102-933d-9d7afbf8b4bf',
      });
      expect(contract).to.include({ ok: true });
      const line = {
        period: cells.get('line.period'),
        dueDate: cells.get('line.dueDate'),
        amount: Number(cells.get('line.amount')),
      };
      expect(line.amount, 'the plan adds up to the total').to.equal(Number(cells.get('totalAmount')));
      expect(checker(PaymentLineInput)(line)).to.include({ ok: true });
    });
  }
});
