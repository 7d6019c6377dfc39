import type { Transaction } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import { toMajor } from '../../base/money.js';
import type { Call } from '../contract/call.js';
import { contracts, type ContractRow, notes, type NoteRow, terms, type TermRow } from '../domain/rows.js';
import type { Journal } from './journal.js';
import { withinScope, type Fragment } from './scope.js';
import { indexText, removeText } from './search-index.js';

/** Contracts, their terms and notes. Every read begins with the caller's scope. */
export class ContractStore {
  private readonly scope: Fragment;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly journal: Journal,
  ) {
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  /** A live contract in scope. `forUpdate` holds it until the transaction ends, so that what is computed from it stays true. */
  async find(id: string, options: { readonly forUpdate?: boolean; readonly deleted?: boolean } = {}): Promise<ContractRow | undefined> {
    if (!isId(id)) return undefined;
    const lock = options.forUpdate && this.tx.dialect === 'postgres' ? ' FOR UPDATE' : '';
    const live = options.deleted ? 'IS NOT NULL' : 'IS NULL';
    const row = await this.tx.get(`SELECT ${contracts.columnNames} FROM contracts WHERE ${this.scope.sql} AND contracts.id = ? AND contracts.deleted_at ${live}${lock}`, [...this.scope.values, id]);
    return row && contracts.decode(row);
  }

  /** Answers `false` when another live contract has the contract number or the archive code. */
  async insert(draft: ContractRow): Promise<boolean> {
    const row = sortable(draft);
    if ((await contracts.insert(this.tx, this.call.tenantId, [row], { skipConflicts: true })) === 0) return false;
    await indexText(this.tx, this.call.tenantId, row);
    this.journal.changed({ record: 'contract', id: row.id, before: null, after: row });
    return true;
  }

  /** Writes a changed contract; its version moves by one. The row must have been found `forUpdate`. */
  async update(before: ContractRow, after: ContractRow): Promise<ContractRow> {
    const next = sortable({ ...after, version: before.version + 1 });
    await contracts.update(this.tx, this.call.tenantId, before.id, before, next);
    if (next.deletedAt !== null) await removeText(this.tx, this.call.tenantId, before.id);
    else await indexText(this.tx, this.call.tenantId, next, before);
    this.journal.changed({ record: 'contract', id: before.id, before, after: next });
    return next;
  }

  /** The live contract that has this number or archive code already, if any. Keys are case-folded. */
  async holderOf(key: { contractKey: string } | { archiveKey: string }): Promise<string | undefined> {
    const [column, value] = 'contractKey' in key ? ['contract_key', key.contractKey] : ['archive_key', key.archiveKey];
    const row = await this.tx.get(`SELECT id FROM contracts WHERE tenant_id = ? AND ${column} = ? AND deleted_at IS NULL`, [this.call.tenantId, value]);
    return row && String(row['id']);
  }

  /** Whether money was ever recorded on a line of the contract, corrections to nothing and removed lines included. */
  async hasReceipts(contractId: string): Promise<boolean> {
    const { tenantId } = this.call;
    const row = await this.tx.get(
      'SELECT 1 AS found FROM payment_lines l JOIN receipts r ON r.tenant_id = l.tenant_id AND r.line_id = l.id WHERE l.tenant_id = ? AND l.contract_id = ? LIMIT 1',
      [tenantId, contractId],
    );
    return row !== undefined;
  }

  async terms(contractId: string): Promise<TermRow[]> {
    const rows = await this.tx.all(`SELECT ${terms.columnNames} FROM contract_terms WHERE tenant_id = ? AND contract_id = ? ORDER BY position, id`, [this.call.tenantId, contractId]);
    return rows.map((row) => terms.decode(row));
  }

  async notes(contractId: string): Promise<NoteRow[]> {
    const rows = await this.tx.all(`SELECT ${notes.columnNames} FROM contract_notes WHERE tenant_id = ? AND contract_id = ? ORDER BY position, id`, [this.call.tenantId, contractId]);
    return rows.map((row) => notes.decode(row));
  }

  async insertTerms(rows: readonly TermRow[]): Promise<void> {
    await terms.insert(this.tx, this.call.tenantId, rows);
    for (const row of rows) this.journal.changed({ record: 'term', id: row.id, root: { kind: 'contract', id: row.contractId }, before: null, after: row });
  }

  async insertNotes(rows: readonly NoteRow[]): Promise<void> {
    await notes.insert(this.tx, this.call.tenantId, rows);
    for (const row of rows) this.journal.changed({ record: 'note', id: row.id, root: { kind: 'contract', id: row.contractId }, before: null, after: row });
  }

  async removeTerms(rows: readonly TermRow[]): Promise<void> {
    for (const row of rows) {
      await this.tx.run('DELETE FROM contract_terms WHERE tenant_id = ? AND id = ?', [this.call.tenantId, row.id]);
      this.journal.changed({ record: 'term', id: row.id, root: { kind: 'contract', id: row.contractId }, before: row, after: null });
    }
  }

  async removeNotes(rows: readonly NoteRow[]): Promise<void> {
    for (const row of rows) {
      await this.tx.run('DELETE FROM contract_notes WHERE tenant_id = ? AND id = ?', [this.call.tenantId, row.id]);
      this.journal.changed({ record: 'note', id: row.id, root: { kind: 'contract', id: row.contractId }, before: row, after: null });
    }
  }
}

/** Keeps the amounts by which lists sort in step with the money. */
const sortable = (row: ContractRow): ContractRow => ({ ...row, totalAmount: toMajor(row.totalMinor, row.currencyCode), outstandingAmount: toMajor(row.outstandingMinor, row.currencyCode) });
