import type { Dialect, Row, Transaction } from '../../base/database/database.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import type { Call } from '../contract/call.js';
import { MAX_REGISTER_IDS, type RegisterFilter } from '../contract/records/invoice-register.js';
import type { RegisteredInvoice } from '../domain/invoices/register.js';
import { fold } from '../domain/search.js';
import { invoices } from '../tables/invoices.js';
import { withinScope } from './scope.js';
import { TextSearch } from './search-index.js';
import type { Totals } from './totals.js';

/** Invoice records across all contracts in the caller's scope. A live record has a live contract. */
export class InvoiceRegister {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly totals: Totals,
  ) {}

  /** The latest invoice date first, records without a date last. */
  async page(
    filter: RegisterFilter,
    { page, pageSize }: { page: number; pageSize: number },
  ): Promise<{ rows: RegisteredInvoice[]; total: number }> {
    const { source, where } = await this.select(filter);
    const total = await this.total(source, where);
    const offset = (page - 1) * pageSize;
    if (offset >= total) return { rows: [], total };
    // To walk an index in its order for a few matches of a text would read most records one by one.
    const isSorted = this.tx.dialect === 'sqlite' && Boolean(filter.q) && total <= TextSearch.FEW;
    const chosen = fragment(
      `SELECT invoices.tenant_id, invoices.id FROM ${source} WHERE ${where.sql} ORDER BY ${isSorted ? `+invoices.invoice_date DESC, invoices.id DESC` : BY_DATE} LIMIT ? OFFSET ?`,
      ...where.values,
      pageSize,
      offset,
    );
    return { rows: await this.read(chosen, BY_DATE), total };
  }

  /** The ids of all matching records in the order of the pages; `undefined` when there are too many. */
  async ids(filter: RegisterFilter): Promise<string[] | undefined> {
    const { source, where } = await this.select(filter);
    if ((await this.total(source, where)) > MAX_REGISTER_IDS) return undefined;
    const rows = await this.tx.all(`SELECT invoices.id FROM ${source} WHERE ${where.sql} ORDER BY ${BY_DATE} LIMIT ?`, [
      ...where.values,
      MAX_REGISTER_IDS,
    ]);
    return rows.map((row) => String(row['id']));
  }

  /** The records with these ids that still exist, in the order of the ids. */
  async byIds(ids: readonly string[]): Promise<RegisteredInvoice[]> {
    const { source, where } = await this.select({});
    const among = isOneOf(this.tx.dialect, 'invoices.id', ids);
    const chosen = fragment(
      `SELECT invoices.tenant_id, invoices.id FROM ${source} WHERE ${where.sql} AND ${among.sql}`,
      ...where.values,
      ...among.values,
    );
    const byId = new Map((await this.read(chosen, 'invoices.id')).map((row) => [row.invoice.id, row]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** The next matching records, newest first by their ids, which never change. */
  async following(
    filter: RegisterFilter,
    { after, limit }: { readonly after: string | null; readonly limit: number },
  ): Promise<RegisteredInvoice[]> {
    const { source, where } = await this.select(filter);
    const wanted = after === null ? where : allOf([where, fragment('invoices.id < ?', after)]);
    const chosen = fragment(
      `SELECT invoices.tenant_id, invoices.id FROM ${source} WHERE ${wanted.sql} ORDER BY invoices.id DESC LIMIT ?`,
      ...wanted.values,
      limit,
    );
    return this.read(chosen, 'invoices.id DESC');
  }

  private total(source: string, where: Fragment): Promise<number> {
    const { tx, totals, call } = this;
    return totals.total(tx, { tenantId: call.tenantId, subject: `invoices ${source}`, where }, async () => {
      const row = await tx.get(`SELECT count(*) AS total FROM ${source} WHERE ${where.sql}`, where.values);
      return Number(row?.['total']);
    });
  }

  /** `chosen` selects tenant and id, so that rows before a deep page are not read. */
  private async read(chosen: Fragment, order: string): Promise<RegisteredInvoice[]> {
    const rows = await this.tx.all(
      `SELECT ${invoices.columnNames}, contracts.contract_no, contracts.project_name, contracts.party_a, contracts.party_b, contracts.owner_id, payment_lines.period,
         original.invoice_no AS original_no, original.invoice_date AS original_date, red.invoice_no AS red_no, red.invoice_date AS red_date
       FROM (${chosen.sql}) AS chosen
       JOIN invoices ON invoices.tenant_id = chosen.tenant_id AND invoices.id = chosen.id
       JOIN ${CONTRACTS_OF_INVOICES}
       LEFT JOIN payment_lines ON payment_lines.tenant_id = invoices.tenant_id AND payment_lines.id = invoices.line_id
       LEFT JOIN invoices AS original ON original.tenant_id = invoices.tenant_id AND original.id = invoices.reverses_id
       LEFT JOIN invoices AS red ON red.tenant_id = invoices.tenant_id AND red.id = invoices.reversed_by_id
       ORDER BY ${order}`,
      chosen.values,
    );
    return rows.map(decoded);
  }

  private async select(filter: RegisterFilter): Promise<{ source: string; where: Fragment }> {
    const { tx, call } = this;
    const { q } = filter;
    const search = q ? await TextSearch.begin(tx, call.tenantId, q) : undefined;
    const isRare = search !== undefined && (await search.few()) < TextSearch.FEW;
    return selected(tx.dialect, call, {
      ...filter,
      ofContract:
        search && (isRare ? search.byIndex('invoices.contract_id') : search.inOrder('invoices', 'contract_id')),
    });
  }
}

const BY_DATE = 'invoices.invoice_date DESC NULLS LAST, invoices.id DESC';

const CONTRACTS_OF_INVOICES =
  'contracts ON contracts.tenant_id = invoices.tenant_id AND contracts.id = invoices.contract_id';

/** Records within the caller's scope. The contracts are joined only where the owner decides. */
function selected(
  dialect: Dialect,
  call: Call,
  {
    status,
    subjectId,
    from,
    to,
    q,
    ofContract,
  }: RegisterFilter & {
    /** The condition that the text of the contract contains `q`. */
    readonly ofContract: Fragment | undefined;
  },
): { source: string; where: Fragment } {
  const subjects = [
    ...(call.subjectScope === null ? [] : [isOneOf(dialect, 'invoices.subject_id', call.subjectScope)]),
    ...(subjectId ? [fragment('invoices.subject_id = ?', subjectId)] : []),
  ];
  const where = allOf([
    fragment('invoices.tenant_id = ? AND invoices.deleted_at IS NULL', call.tenantId),
    ...subjects,
    ...(call.ownerScope === null ? [] : [withinScope(call, dialect, 'contracts')]),
    ...(status ? [fragment('invoices.status = ?', status)] : []),
    ...(from ? [fragment('invoices.invoice_date >= ?', from)] : []),
    ...(to ? [fragment('invoices.invoice_date <= ?', to)] : []),
    ...(q && ofContract
      ? [
          fragment(
            `(${dialect === 'postgres' ? 'strpos' : 'instr'}(invoices.invoice_key, ?) > 0 OR ${ofContract.sql})`,
            fold(q),
            ...ofContract.values,
          ),
        ]
      : []),
  ]);
  return { source: call.ownerScope === null ? 'invoices' : `invoices JOIN ${CONTRACTS_OF_INVOICES}`, where };
}

function decoded(row: Row): RegisteredInvoice {
  const invoice = invoices.decode(row);
  const counterpart = (id: string | null, no: string, day: string) =>
    id === null || row[no] === null
      ? null
      : { id, invoiceNo: String(row[no]), invoiceDate: row[day] === null ? null : String(row[day]) };
  return {
    invoice,
    reverses: counterpart(invoice.reversesId, 'original_no', 'original_date'),
    reversedBy: counterpart(invoice.reversedById, 'red_no', 'red_date'),
    of: {
      contractNo: String(row['contract_no']),
      projectName: String(row['project_name']),
      partyA: String(row['party_a']),
      partyB: String(row['party_b']),
      subjectId: invoice.subjectId,
      ownerId: String(row['owner_id']),
      period: row['period'] === null ? null : String(row['period']),
    },
  };
}
