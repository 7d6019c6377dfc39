import type { SheetCell } from '../../contract/records/sheet.js';
import type { FieldRow } from '../../tables/fields.js';
import { appliesTo } from '../fields/definition.js';
import { CONTRACT_COLUMNS, CUSTOM_FIELD, LINE_COLUMNS } from './columns.js';
import { listText, unguarded } from './guard.js';
import { REQUIRED_COLUMNS } from './required-columns.js';
import { wordKey } from './word-key.js';

type Language = 'en' | 'zh';

/** Behind the headers of required columns. Punctuation in headers does not matter to an import. */
const REQUIRED_MARK = ' *';

/** The contract numbers of the example rows: an import skips a row that has one. */
const EXAMPLE_NUMBERS = {
  en: 'EXAMPLE (this row is not imported)',
  zh: '示例（本行不导入）',
} as const satisfies Record<Language, string>;
const EXAMPLE_KEYS: ReadonlySet<string> = new Set(Object.values(EXAMPLE_NUMBERS).map(wordKey));

/** Whether a contract number is that of the template's example row. */
export const isExampleNumber = (cell: SheetCell | undefined): boolean =>
  typeof cell === 'string' && cell.length <= 100 && EXAMPLE_KEYS.has(wordKey(unguarded(cell)));

interface Template {
  readonly header: readonly string[];
  readonly example: readonly string[];
}

/**
 * All columns that an import accepts, with the custom fields that the caller may write, and an example row. Headers are
 * field names, or their labels in a language; those of required columns end in an asterisk. `typeCodes` are the contract
 * types: a custom field that only some of them require has no asterisk.
 */
export function templateOf(
  fields: readonly Pick<FieldRow, 'code' | 'required' | 'typeCodes'>[],
  {
    language,
    exampleLanguage = language ?? 'en',
    currencyCode,
    typeCodes,
  }: {
    readonly language: Language | null;
    readonly exampleLanguage?: Language;
    readonly currencyCode: string;
    readonly typeCodes: readonly string[];
  },
): Template {
  const required = new Set(REQUIRED_COLUMNS.map(({ name }) => name));
  const example: Readonly<Record<string, string>> = {
    ...EXAMPLES[exampleLanguage],
    contractNo: EXAMPLE_NUMBERS[exampleLanguage],
    currencyCode,
  };
  const columns = [
    ...CONTRACT_COLUMNS.filter(({ field, insteadOf }) => field !== null || insteadOf !== undefined),
    ...fields.map(({ code, ...field }) => ({
      name: `${CUSTOM_FIELD}${code}`,
      labels: null,
      isRequired: field.required && typeCodes.every((typeCode) => appliesTo(field, { type: typeCode, typeCode })),
    })),
    ...LINE_COLUMNS,
  ];
  return {
    header: columns.map((column) => {
      const title = language && column.labels ? column.labels[language] : column.name;
      const isMarked = 'isRequired' in column ? column.isRequired : required.has(column.name);
      return isMarked ? `${title}${REQUIRED_MARK}` : title;
    }),
    example: columns.map(({ name }) => example[name] ?? ''),
  };
}

const DAYS = { signDate: '2026-01-15', startDate: '2026-02-01', endDate: '2027-01-31' } as const;
const NUMBERS = { quantity: '2', unitPrice: '150000.00', totalAmount: '300000.00' } as const;
/** One line over the total, so that a row that is filled in likewise has no warning about its plan. */
const LINE = { 'line.dueDate': '2026-02-15', 'line.amount': NUMBERS.totalAmount } as const;

const EXAMPLES: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  en: {
    ...DAYS,
    ...NUMBERS,
    ...LINE,
    archiveCode: 'A-2026-001',
    projectName: 'Harbour crane',
    type: 'sale',
    subjectName: 'Name of your company',
    partyA: 'Name of the buyer',
    partyB: 'Name of the seller',
    equipmentName: 'Crawler crane',
    equipmentModel: 'QUY-80',
    paymentMethod: 'bank transfer',
    status: 'in_progress',
    ownerEmail: 'name@example.com',
    terms: listText([{ kind: 'delivery', title: 'Delivery', note: 'Within 30 days' }]),
    'line.period': 'full payment',
  },
  zh: {
    ...DAYS,
    ...NUMBERS,
    ...LINE,
    archiveCode: 'A-2026-001',
    projectName: '港口起重机项目',
    type: '销售',
    subjectName: '贵公司名称',
    partyA: '买方名称',
    partyB: '卖方名称',
    equipmentName: '履带起重机',
    equipmentModel: 'QUY-80',
    paymentMethod: '银行转账',
    status: '进行中',
    ownerEmail: 'name@example.com',
    terms: listText([{ kind: 'delivery', title: '交货', note: '30天内交货' }]),
    'line.period': '全款',
  },
};
