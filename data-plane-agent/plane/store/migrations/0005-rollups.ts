import type { Migration } from '../../../base/database/migrator.js';

/**
 * Figures of receivables by day, and of contracts by what they are, so that statistics cost days and not lines. Sums stand in two
 * columns, `high` being billions of minor units. Made from what is there.
 */
export const rollups: Migration = {
  id: '0005-rollups',
  statements: (t) => {
    const figures = (names: readonly string[]) => names.map((name) => `${name} ${t.big} NOT NULL DEFAULT 0`).join(', ');
    return [
      `CREATE TABLE receivable_days (
        tenant_id ${t.id} NOT NULL, person_id ${t.id} NOT NULL, subject_id ${t.id} NOT NULL, currency_code ${t.text} NOT NULL, day ${t.text} NOT NULL, slot ${t.int} NOT NULL,
        ${figures(DAY_COLUMNS)},
        PRIMARY KEY (tenant_id, person_id, subject_id, currency_code, day, slot))${t.dialect === 'sqlite' ? ' WITHOUT ROWID' : ' WITH (fillfactor = 70)'}`,
      `CREATE TABLE contract_groups (
        tenant_id ${t.id} NOT NULL, subject_id ${t.id} NOT NULL, owner_id ${t.id} NOT NULL, superior_id ${t.id} NOT NULL, currency_code ${t.text} NOT NULL,
        type ${t.text} NOT NULL, status ${t.text} NOT NULL, stage ${t.text} NOT NULL, payment_status ${t.text} NOT NULL, slot ${t.int} NOT NULL,
        ${figures(GROUP_COLUMNS)},
        PRIMARY KEY (tenant_id, subject_id, owner_id, superior_id, currency_code, type, status, stage, payment_status, slot))${t.dialect === 'sqlite' ? ' WITHOUT ROWID' : ' WITH (fillfactor = 70)'}`,
      // PostgreSQL hides the rows of all tenants from the owner too, as long as row security is forced.
      ...(t.dialect === 'postgres' ? SOURCES.map((table) => `ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY`) : []),
      ...fillDays(t.dialect === 'postgres'),
      ...fillGroups(t.dialect === 'postgres'),
      ...(t.dialect === 'postgres' ? [...SOURCES.map((table) => `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`), ...['receivable_days', 'contract_groups'].flatMap(forceTenantRows)] : []),
    ];
  },
};

const LINE_COUNTS = ['lines', 'to_invoice'];
const LINE_SUMS = ['amount', 'outstanding', 'uninvoiced'];
const MONEY_COUNTS = ['paid', 'partial', 'reconcile'];
const MONEY_SUMS = ['received', 'settled', 'late', 'receipts', 'invoices'];
const parts = (names: readonly string[]) => names.flatMap((name) => [`${name}_high`, `${name}_low`]);
// Those that a plan without money moves come first.
const DAY_COLUMNS = [...LINE_COUNTS, ...parts(LINE_SUMS), ...MONEY_COUNTS, ...parts(MONEY_SUMS)];
const GROUP_COLUMNS = ['contracts', ...parts(['total', 'outstanding'])];
const SOURCES = ['contracts', 'payment_lines', 'receipts', 'invoices'];

const EVERY = "'00000000-0000-0000-0000-000000000000'";

/** Whose figures something of a contract `c` is in: everybody's, the subject company's, and there its owner's and its superior's. */
const GRAINS = (id: (value: string) => string) => [
  { person: id(EVERY), subject: id(EVERY), when: '1 = 1' },
  { person: id(EVERY), subject: 'c.subject_id', when: '1 = 1' },
  { person: 'c.owner_id', subject: 'c.subject_id', when: '1 = 1' },
  { person: 'c.owner_superior_id', subject: 'c.subject_id', when: 'c.owner_superior_id IS NOT NULL AND c.owner_superior_id <> c.owner_id' },
];

function fillDays(isPostgres: boolean): string[] {
  const id = (value: string) => (isPostgres ? `${value}::uuid` : value);
  const daysLate = isPostgres ? '(l.received_date::date - l.due_date::date)' : '(julianday(l.received_date) - julianday(l.due_date))';
  const late = `CASE WHEN l.received_minor >= l.amount_minor AND l.received_date > l.due_date THEN CAST(${daysLate} AS ${isPostgres ? 'BIGINT' : 'INTEGER'}) ELSE 0 END`;
  const settled = 'CASE WHEN l.received_minor >= l.amount_minor THEN l.amount_minor ELSE 0 END';
  // The product may pass 2^63: each part of the amount is multiplied by itself, and what the lower one has of whole parts is carried.
  const carried = `${late} * (l.amount_minor % 1000000000)`;
  const lineFigures: Readonly<Record<string, string>> = {
    lines: 'count(*)',
    to_invoice: sumIf('l.uninvoiced_minor > 0'),
    ...highLow('amount', 'l.amount_minor'),
    ...highLow('outstanding', 'l.outstanding_minor'),
    ...highLow('uninvoiced', 'l.uninvoiced_minor'),
    paid: sumIf('l.received_minor >= l.amount_minor'),
    partial: sumIf('l.received_minor > 0 AND l.received_minor < l.amount_minor'),
    reconcile: sumIf("l.received_minor > 0 AND l.reconciliation_status <> 'matched'"),
    ...highLow('received', 'l.received_minor'),
    ...highLow('settled', settled),
    late_high: `sum(${late} * (l.amount_minor / 1000000000) + ${carried} / 1000000000)`,
    late_low: `sum(${carried} % 1000000000)`,
  };
  const contractOf = (table: string) => `contracts c ON c.tenant_id = ${table}.tenant_id AND c.id = ${table}.contract_id AND c.deleted_at IS NULL`;
  const liveLine = 'l.deleted_at IS NULL';
  const sources = [
    { from: `payment_lines l JOIN ${contractOf('l')}`, where: liveLine, currency: 'l.currency_code', day: 'l.due_date', figures: lineFigures },
    {
      from: `receipts r JOIN payment_lines l ON l.tenant_id = r.tenant_id AND l.id = r.line_id JOIN ${contractOf('l')}`,
      where: `${liveLine} AND r.received_date IS NOT NULL`,
      currency: 'r.currency_code',
      day: 'r.received_date',
      figures: highLow('receipts', 'r.delta_minor'),
    },
    {
      from: `payment_lines l JOIN ${contractOf('l')}`,
      where: `${liveLine} AND l.invoiced_minor <> 0 AND l.invoice_records = 0`,
      currency: 'l.currency_code',
      day: 'coalesce(l.invoice_date, l.due_date)',
      figures: highLow('invoices', 'l.invoiced_minor'),
    },
    {
      from: `invoices i JOIN ${contractOf('i')}`,
      where: "i.deleted_at IS NULL AND i.invoice_date IS NOT NULL AND i.status IN ('issued', 'red_letter')",
      currency: 'i.currency_code',
      day: 'i.invoice_date',
      figures: highLow('invoices', "CASE WHEN i.status = 'issued' THEN i.amount_minor ELSE -i.amount_minor END"),
    },
  ];
  return sources.flatMap(({ from, where, currency, day, figures }) =>
    GRAINS(id).map(({ person, subject, when }) => {
      const names = Object.keys(figures);
      return (
        `INSERT INTO receivable_days (tenant_id, person_id, subject_id, currency_code, day, slot, ${names.join(', ')}) ` +
        `SELECT c.tenant_id, ${person}, ${subject}, ${currency}, ${day}, 0, ${Object.values(figures).join(', ')} FROM ${from} WHERE ${where} AND ${when} ` +
        `GROUP BY c.tenant_id, ${[person, subject].filter((key) => key.startsWith('c.')).map((key) => `${key}, `).join('')}${currency}, ${day} ` +
        `ON CONFLICT (tenant_id, person_id, subject_id, currency_code, day, slot) DO UPDATE SET ${names.map((name) => `${name} = receivable_days.${name} + excluded.${name}`).join(', ')}`
      );
    }),
  );
}

function fillGroups(isPostgres: boolean): string[] {
  const every = isPostgres ? `${EVERY}::uuid` : EVERY;
  const keys = (currency: string) => `c.tenant_id, c.subject_id, c.owner_id, coalesce(c.owner_superior_id, ${every}), ${currency}, c.type, c.status, c.stage_category, c.payment_status`;
  const insert = 'INSERT INTO contract_groups (tenant_id, subject_id, owner_id, superior_id, currency_code, type, status, stage, payment_status, slot';
  const outstanding = highLow('outstanding', 'l.outstanding_minor');
  return [
    `${insert}, ${GROUP_COLUMNS.join(', ')}) SELECT ${keys('c.currency_code')}, 0, count(*), ${Object.values({ ...highLow('total', 'c.total_minor'), ...highLow('outstanding', 'c.outstanding_minor') }).join(', ')} ` +
      `FROM contracts c WHERE c.deleted_at IS NULL GROUP BY ${keys('c.currency_code')}`,
    // Lines in another currency than their contract owe in their own.
    `${insert}, ${Object.keys(outstanding).join(', ')}) SELECT ${keys('l.currency_code')}, 0, ${Object.values(outstanding).join(', ')} ` +
      'FROM payment_lines l JOIN contracts c ON c.tenant_id = l.tenant_id AND c.id = l.contract_id AND c.deleted_at IS NULL AND c.currency_code <> l.currency_code ' +
      `WHERE l.deleted_at IS NULL GROUP BY ${keys('l.currency_code')} ` +
      'ON CONFLICT (tenant_id, subject_id, owner_id, superior_id, currency_code, type, status, stage, payment_status, slot) ' +
      `DO UPDATE SET ${Object.keys(outstanding).map((name) => `${name} = contract_groups.${name} + excluded.${name}`).join(', ')}`,
  ];
}

const sumIf = (condition: string): string => `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;
const highLow = (name: string, expression: string): Record<string, string> => ({ [`${name}_high`]: `sum((${expression}) / 1000000000)`, [`${name}_low`]: `sum((${expression}) % 1000000000)` });

// The setting is empty, not null, on a connection that has carried a tenant before; a bare cast of it would fail.
const forceTenantRows = (table: string) => [
  `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
  `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
  `CREATE POLICY ${table}_of_tenant ON ${table} USING (tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid)`,
];
