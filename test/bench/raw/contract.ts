import {
  coreAnswer,
  invoiceAnswer,
  lineAnswer,
  lineContractAnswer,
  namesAnswer,
  noteAnswer,
  ownAnswer,
  stateAnswer,
  taskAnswer,
  termAnswer,
  type Row,
  type Setting,
} from './answers.js';
import { KEYS } from './tables.js';

/** A contract as the raw program keeps it: values in the order of the columns. */
export interface Kept {
  readonly keys: Values;
  readonly texts: Values;
  readonly lines: readonly Values[];
  readonly parts: readonly Values[];
}
export type Values = readonly (string | number | null)[];

/** The rows of a contract, from the product's tables or from a new contract. */
export interface Source {
  readonly row: Row;
  readonly lines: readonly Row[];
  readonly terms: readonly Row[];
  readonly notes: readonly Row[];
  readonly tasks: readonly Row[];
  readonly invoices: readonly Row[];
}

/** Ids of the custom fields that the role with hidden fields does not see. */
export interface KeptSetting extends Setting {
  readonly hiddenFields: readonly string[];
}

export function kept({ row, lines, terms, notes, tasks, invoices }: Source, setting: KeptSetting): Kept {
  const open = lines
    .filter((line) => Number(line['outstanding_minor']) > 0)
    .map((line) => ({ dueDate: String(line['due_date']), outstanding: Number(line['outstanding_minor']) }));
  const state = stateAnswer(row, open, setting);
  const own = {
    payeeAccount: row['payee_account'],
    values: JSON.parse(String(row['dynamic_fields'])) as Record<string, unknown>,
  };
  const computed: Row = {
    total_amount: Number(row['total_minor']) / 100,
    outstanding_amount: Number(row['outstanding_minor']) / 100,
    is_overdue: state.isOverdue ? 1 : 0,
    is_due_soon: state.isDueSoon ? 1 : 0,
    search: SEARCHED.map((name) => row[name] ?? '')
      .join('\n')
      .toLowerCase(),
  };
  return {
    keys: KEYS.map((name) => computed[name] ?? row[name] ?? null),
    texts: [
      inner(coreAnswer(row)),
      inner(ownAnswer(own, [])),
      inner(ownAnswer(own, setting.hiddenFields)),
      inner(state),
      inner(namesAnswer(row, setting)),
      inner(lineContractAnswer(row, setting)),
    ],
    lines: lines.map((line) => [
      line['id'] ?? null,
      line['due_date'] ?? null,
      line['position'] ?? null,
      line['amount_minor'] ?? null,
      line['received_minor'] ?? null,
      line['outstanding_minor'] ?? null,
      JSON.stringify(lineAnswer(line, setting)),
    ]),
    parts: [
      ...partsOf('term', terms.map(termAnswer)),
      ...partsOf('note', notes.map(noteAnswer)),
      ...partsOf(
        'task',
        tasks.map((task) => taskAnswer(task, setting)),
      ),
      ...partsOf('invoice', invoices.map(invoiceAnswer)),
    ],
  };
}

/** The columns that `q` searches. */
const SEARCHED = [
  'archive_code',
  'contract_no',
  'project_name',
  'party_a',
  'party_b',
  'equipment_name',
  'equipment_model',
  'remark',
] as const;

const partsOf = (kind: string, answers: readonly object[]): Values[] =>
  answers.map((answer, position) => [kind, position, JSON.stringify(answer)]);

/** An object without its braces, so that several can be joined. */
export const inner = (value: object): string => JSON.stringify(value).slice(1, -1);
