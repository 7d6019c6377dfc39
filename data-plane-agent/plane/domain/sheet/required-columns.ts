import { ContractInput } from '../../contract/records/contracts.js';
import { PaymentLineInput } from '../../contract/records/lines.js';
import { CONTRACT_COLUMNS, LINE_COLUMNS } from './columns.js';
import type { Target } from './headers.js';

/** A column that a file must have. */
export interface RequiredColumn {
  /** The column that people fill in; for a reference, the name or the email address instead of the id. */
  readonly name: string;
  /** The request field that the column sets. */
  readonly field: string;
  /** The columns of which one is sufficient. */
  readonly anyOf: readonly string[];
}

const required: ReadonlySet<string> = new Set(ContractInput.required);

/** The columns that every import needs. */
export const REQUIRED_COLUMNS: readonly RequiredColumn[] = CONTRACT_COLUMNS.flatMap(({ name, field }) => {
  if (field === null || !required.has(field)) return [];
  const beside = CONTRACT_COLUMNS.filter(({ insteadOf }) => insteadOf === field).map((column) => column.name);
  return [{ name: beside[0] ?? name, field, anyOf: [name, ...beside] }];
});

/** The columns that an import with payment lines needs. */
const REQUIRED_OF_LINES: readonly RequiredColumn[] = LINE_COLUMNS.flatMap(({ name, field }) =>
  field !== null && PaymentLineInput.required.some((one) => one === field)
    ? [{ name, field: name, anyOf: [name] }]
    : [],
);

/** The required columns that are missing in a file. */
export function missingColumns(targets: readonly (Target | undefined)[]): readonly RequiredColumn[] {
  const given = new Set(targets.flatMap((target) => (target && target.kind !== 'ignored' ? [target.name] : [])));
  const hasLines = targets.some((target) => target?.kind === 'line');
  return [...REQUIRED_COLUMNS, ...(hasLines ? REQUIRED_OF_LINES : [])].filter(
    ({ anyOf }) => !anyOf.some((name) => given.has(name)),
  );
}
