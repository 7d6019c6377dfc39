import type { Transaction } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import { toMajor } from '../../base/money.js';
import type { YieldIfDue } from '../../base/yielding.js';
import type { Call } from '../contract/call.js';
import { RESTORABLE_MS } from '../domain/contracts/trash.js';
import { RESTORE_MARGIN_MS } from '../domain/files/strays.js';
import { terms, type TermRow } from '../tables/terms.js';
import { notes, type NoteRow } from '../tables/notes.js';
import { contracts, type ContractRow } from '../tables/contracts.js';
import type { RollupDelta } from './rollup-delta.js';
import { ofContract, type ChangeRecorder } from './change-recorder.js';
import { fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { CONTRACT_OF_LINE } from './lines.js';
import { withinScope } from './scope.js';
import { indexText, indexTexts, removeText, removeTexts } from './search-index.js';

/** Contracts, their terms and notes. Every read begins with the caller's scope. */
export class ContractStore {
  private readonly scope: Fragment;
  private readonly recorder: ChangeRecorder;
  private readonly rollupDelta: RollupDelta;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { recorder, rollupDelta }: { readonly recorder: ChangeRecorder; readonly rollupDelta: RollupDelta },
  ) {
    this.recorder = recorder;
    this.rollupDelta = rollupDelta;
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  /**
   * A live contract in scope. `forUpdate` locks its row until the transaction ends, so that values computed from it
   * stay correct.
   */
  async find(
    id: string,
    options: { readonly forUpdate?: boolean; readonly deleted?: boolean } = {},
  ): Promise<ContractRow | undefined> {
    return isId(id) ? this.findWhere(fragment('contracts.id = ?', id), options) : undefined;
  }

  /** The live contract in scope of a live payment line, locked as by `find`. */
  async holdOfLine(lineId: string): Promise<ContractRow | undefined> {
    const of = fragment(`contracts.id = (${CONTRACT_OF_LINE})`, this.call.tenantId, lineId);
    return isId(lineId) ? this.findWhere(of, { forUpdate: true }) : undefined;
  }

  private async findWhere(
    one: Fragment,
    { forUpdate = false, deleted = false }: { readonly forUpdate?: boolean; readonly deleted?: boolean },
  ): Promise<ContractRow | undefined> {
    const sql = `SELECT ${contracts.columnNames} FROM contracts WHERE ${this.scope.sql} AND ${one.sql} AND contracts.deleted_at ${deleted ? 'IS NOT NULL' : 'IS NULL'}`;
    const values = [...this.scope.values, ...one.values];
    const row = await (forUpdate ? this.tx.getForUpdate(sql, values) : this.tx.get(sql, values));
    return row && contracts.decode(row);
  }

  /**
   * Locks and returns the live contracts in scope among these ids, ordered by id, so that concurrent callers wait for
   * each other instead of deadlocking.
   */
  async hold(ids: readonly string[]): Promise<ContractRow[]> {
    const among = isOneOf(this.tx.dialect, 'contracts.id', ids.filter(isId));
    const lock = this.tx.dialect === 'postgres' ? ' FOR UPDATE' : '';
    const rows = await this.tx.all(
      `SELECT ${contracts.columnNames} FROM contracts WHERE ${this.scope.sql} AND ${among.sql} AND contracts.deleted_at IS NULL ORDER BY contracts.id${lock}`,
      [...this.scope.values, ...among.values],
    );
    return rows.map((row) => contracts.decode(row));
  }

  /**
   * Returns `false` when another live contract has the contract number or the archive code. With `indexLater` the
   * contract cannot be found by a search until `index` is called in the same transaction: SQLite writes its text index
   * out at the end of each savepoint, and an import has many.
   */
  async insert(draft: ContractRow, { indexLater = false }: { readonly indexLater?: boolean } = {}): Promise<boolean> {
    const row = sortable(draft);
    if ((await contracts.insertNew(this.tx, this.call.tenantId, [row])) === 0) return false;
    if (!indexLater) await indexText(this.tx, this.call.tenantId, { row });
    this.recorder.record({ table: contracts, id: row.id, before: null, after: row });
    this.rollupDelta.contract(null, row);
    return true;
  }

  /** Adds contracts that were inserted with `indexLater` to the search index. */
  index(rows: readonly ContractRow[], yieldIfDue: YieldIfDue): Promise<void> {
    return indexTexts(this.tx, this.call.tenantId, { rows, yieldIfDue });
  }

  /** Writes a changed contract and increments its version. The row must have been read with `forUpdate`. */
  async update(before: ContractRow, after: ContractRow): Promise<ContractRow> {
    const next = sortable({ ...after, version: before.version + 1 });
    await contracts.updateHeld(this.tx, this.call.tenantId, { id: before.id, before, after: next });
    if (next.deletedAt !== null) await removeText(this.tx, this.call.tenantId, before.id);
    else
      await indexText(this.tx, this.call.tenantId, {
        row: next,
        before: before.deletedAt === null ? before : undefined,
      }); // a deleted contract is not in the search index
    this.recorder.record({ table: contracts, id: before.id, before, after: next });
    this.rollupDelta.contract(before, next);
    return next;
  }

  /** Soft-deletes contracts that were locked with `hold`, and increments their versions. */
  async remove(
    rows: readonly ContractRow[],
    { deletedAt, now, actorId }: { readonly deletedAt: number; readonly now: number; readonly actorId: string | null },
  ): Promise<void> {
    const ids = rows.map(({ id }) => id);
    const among = isOneOf(this.tx.dialect, 'id', ids);
    await this.tx.run(
      `UPDATE contracts SET deleted_at = ?, updated_at = ?, updated_by = ?, version = version + 1 WHERE tenant_id = ? AND ${among.sql}`,
      [deletedAt, now, actorId, this.call.tenantId, ...among.values],
    );
    await removeTexts(this.tx, this.call.tenantId, ids);
    this.recorder.due.at('file-sweep', deletedAt + BYTES_KEPT_MS);
    for (const before of rows) {
      const after: ContractRow = {
        ...before,
        deletedAt,
        updatedAt: now,
        updatedBy: actorId,
        version: before.version + 1,
      };
      this.recorder.record({ table: contracts, id: before.id, before, after });
      this.rollupDelta.contract(before, after);
    }
  }

  /** The id of the live contract with this number or archive code, if any. Keys are case-folded. */
  async holderOf(key: { contractKey: string } | { archiveKey: string }): Promise<string | undefined> {
    const [column, value] = 'contractKey' in key ? ['contract_key', key.contractKey] : ['archive_key', key.archiveKey];
    const row = await this.tx.get(
      `SELECT id FROM contracts WHERE tenant_id = ? AND ${column} = ? AND deleted_at IS NULL`,
      [this.call.tenantId, value],
    );
    return row && String(row['id']);
  }

  /** Whether any receipt was ever recorded on the contract, including corrections to zero and deleted lines. */
  async hasReceipts(contractId: string): Promise<boolean> {
    const { tenantId } = this.call;
    const row = await this.tx.get(
      'SELECT 1 AS found FROM payment_lines l JOIN receipts r ON r.tenant_id = l.tenant_id AND r.line_id = l.id WHERE l.tenant_id = ? AND l.contract_id = ? LIMIT 1',
      [tenantId, contractId],
    );
    return row !== undefined;
  }

  async terms(contractId: string): Promise<TermRow[]> {
    const rows = await this.tx.all(
      `SELECT ${terms.columnNames} FROM contract_terms WHERE tenant_id = ? AND contract_id = ? ORDER BY position, id`,
      [this.call.tenantId, contractId],
    );
    return rows.map((row) => terms.decode(row));
  }

  async notes(contractId: string): Promise<NoteRow[]> {
    const rows = await this.tx.all(
      `SELECT ${notes.columnNames} FROM contract_notes WHERE tenant_id = ? AND contract_id = ? ORDER BY position, id`,
      [this.call.tenantId, contractId],
    );
    return rows.map((row) => notes.decode(row));
  }

  async insertTerms(rows: readonly TermRow[]): Promise<void> {
    await terms.insert(this.tx, this.call.tenantId, rows);
    for (const row of rows)
      this.recorder.record({ table: terms, id: row.id, root: ofContract(row.contractId), before: null, after: row });
  }

  async insertNotes(rows: readonly NoteRow[]): Promise<void> {
    await notes.insert(this.tx, this.call.tenantId, rows);
    for (const row of rows)
      this.recorder.record({ table: notes, id: row.id, root: ofContract(row.contractId), before: null, after: row });
  }

  async updateTerm(before: TermRow, after: TermRow): Promise<void> {
    await terms.updateHeld(this.tx, this.call.tenantId, { id: before.id, before, after });
    this.recorder.record({ table: terms, id: after.id, root: ofContract(after.contractId), before, after });
  }

  async updateNote(before: NoteRow, after: NoteRow): Promise<void> {
    await notes.updateHeld(this.tx, this.call.tenantId, { id: before.id, before, after });
    this.recorder.record({ table: notes, id: after.id, root: ofContract(after.contractId), before, after });
  }

  async removeTerms(rows: readonly TermRow[]): Promise<void> {
    for (const row of rows) {
      await this.tx.run('DELETE FROM contract_terms WHERE tenant_id = ? AND id = ?', [this.call.tenantId, row.id]);
      this.recorder.record({ table: terms, id: row.id, root: ofContract(row.contractId), before: row, after: null });
    }
  }

  async removeNotes(rows: readonly NoteRow[]): Promise<void> {
    for (const row of rows) {
      await this.tx.run('DELETE FROM contract_notes WHERE tenant_id = ? AND id = ?', [this.call.tenantId, row.id]);
      this.recorder.record({ table: notes, id: row.id, root: ofContract(row.contractId), before: row, after: null });
    }
  }
}

/** The files of a deleted contract are deleted after this time. */
const BYTES_KEPT_MS = RESTORABLE_MS + RESTORE_MARGIN_MS + 1;

/** Sets the amounts in major units, by which lists are sorted. */
const sortable = (row: ContractRow): ContractRow => ({
  ...row,
  totalAmount: toMajor(row.totalMinor, row.currencyCode),
  outstandingAmount: toMajor(row.outstandingMinor, row.currencyCode),
});
