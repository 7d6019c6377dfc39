import type { Transaction, Value } from '../../base/database/database.js';
import { fail } from '../../base/failures.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import type { FileKind } from '../contract/vocabulary.js';
import { LOOKED_AT_MS } from '../domain/files/scans.js';
import type { FieldRow } from '../tables/fields.js';
import { files, type FileRow } from '../tables/files.js';
import type { ContractRow } from '../tables/contracts.js';
import type { FieldStore } from './fields.js';
import { ofContract, type ChangeRecorder } from './change-recorder.js';
import { STRAY_MS } from '../domain/files/strays.js';
import { fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';

/** The records to which a file may be attached. */
export interface FileLocation {
  readonly contractId?: string | null | undefined;
  readonly paymentId?: string | null | undefined;
}

/**
 * The records of confirmed files; their bytes are in the object store. A file is attached to the contract under which
 * it was filed and to those that refer to it, and is visible to callers who may see one of them. A file without a
 * contract is visible to its uploader, while they may see its subject company, and to callers who see all contracts of
 * that company.
 */
export class FileStore {
  private readonly scope: Fragment;
  private readonly recorder: ChangeRecorder;
  private readonly fields: FieldStore;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { recorder, fields }: { readonly recorder: ChangeRecorder; readonly fields: FieldStore },
  ) {
    this.recorder = recorder;
    this.fields = fields;
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  /**
   * Refuses a reference to a file that does not exist within the caller's scope, is not of one of `kinds`, or is
   * infected. `null` and `undefined` refer to no file.
   */
  async check(
    field: string,
    fileId: string | null | undefined,
    { kinds }: { readonly kinds?: readonly string[] } = {},
  ): Promise<void> {
    if (fileId === null || fileId === undefined) return;
    await this.lock('pg_advisory_xact_lock_shared');
    const row = await this.find(fileId);
    if (!row || row.scanStatus === 'infected' || !(kinds?.includes(row.kind) ?? true))
      throw fail('FILE_REFERENCE_INVALID', { field, value: fileId });
  }

  /**
   * The kinds of a contract's files: those filed under it, and its attachment. Infected files do not count as evidence.
   */
  async kindsOf({ id, contractAttachment }: Pick<ContractRow, 'id' | 'contractAttachment'>): Promise<Set<FileKind>> {
    const rows = await this.tx.all(
      "SELECT DISTINCT kind FROM files WHERE tenant_id = ? AND (contract_id = ? OR id = ?) AND scan_status <> 'infected'",
      [this.call.tenantId, id, contractAttachment],
    );
    return new Set(rows.map((row) => String(row['kind']) as FileKind)); // checked when the file was presigned
  }

  /**
   * A file that the caller may see; with a location, only when it is attached there in a contract that the caller may
   * see.
   */
  async find(id: string, place: FileLocation = {}): Promise<FileRow | undefined> {
    const row = await this.byId(id);
    return row && (await this.isSeen(row)) && (await this.isAttachedTo(row, place)) ? row : undefined;
  }

  /** Without a scope check: for steps that have already found the file, and for background work. */
  async byId(id: string, { forUpdate = false }: { readonly forUpdate?: boolean } = {}): Promise<FileRow | undefined> {
    if (!isId(id)) return undefined;
    const lock = forUpdate && this.tx.dialect === 'postgres' ? ' FOR UPDATE' : '';
    const row = await this.tx.get(`SELECT ${files.columnNames} FROM files WHERE tenant_id = ? AND id = ?${lock}`, [
      this.call.tenantId,
      id,
    ]);
    return row && files.decode(row);
  }

  async insert(row: FileRow): Promise<void> {
    await files.insert(this.tx, this.call.tenantId, [row]);
    this.recordChange(null, row);
  }

  async update(before: FileRow, after: FileRow): Promise<void> {
    await files.update(this.tx, this.call.tenantId, { id: before.id, before, after });
    this.recordChange(before, after);
  }

  /** Moves the files filed under a contract to another subject company. */
  async moveToSubject(contractId: string, subjectId: string): Promise<void> {
    const { tenantId } = this.call;
    const rows = await this.tx.all(
      `SELECT ${files.columnNames} FROM files WHERE tenant_id = ? AND contract_id = ? AND subject_id <> ?`,
      [tenantId, contractId, subjectId],
    );
    if (rows.length === 0) return;
    await this.tx.run('UPDATE files SET subject_id = ? WHERE tenant_id = ? AND contract_id = ?', [
      subjectId,
      tenantId,
      contractId,
    ]);
    for (const row of rows.map((one) => files.decode(one))) this.recordChange(row, { ...row, subjectId });
  }

  async remove(row: FileRow): Promise<void> {
    await this.tx.run('DELETE FROM files WHERE tenant_id = ? AND id = ?', [this.call.tenantId, row.id]);
    this.recordChange(row, null);
  }

  /** Audits an action on a file that did not change it, such as a download. */
  noted(row: FileRow, about: object): void {
    this.recorder.recordEvent({ record: 'file', id: row.id, about });
  }

  /**
   * The bytes of all files of the tenant whose objects still exist, plus those of all unconfirmed uploads, which take
   * up space until they are swept. One statement, so that an upload that is confirmed meanwhile counts once.
   */
  async usedBytes(): Promise<number> {
    const { tenantId } = this.call;
    const row = await this.tx.get(
      "SELECT (SELECT coalesce(sum(size_bytes), 0) FROM files WHERE tenant_id = ? AND object_key <> '') + (SELECT coalesce(sum(size_bytes), 0) FROM file_uploads WHERE tenant_id = ?) AS bytes",
      [tenantId, tenantId],
    );
    return Number(row?.['bytes']);
  }

  /**
   * Claims the scan of a file until `until`; returns whether the caller now has it. After that time another worker may
   * claim it.
   */
  async claimScan(row: FileRow, until: number): Promise<boolean> {
    return (
      (await this.tx.run('UPDATE files SET scan_due_at = ? WHERE tenant_id = ? AND id = ? AND scan_due_at = ?', [
        until,
        this.call.tenantId,
        row.id,
        row.scanDueAt,
      ])) > 0
    );
  }

  /**
   * Makes files due for a scan: those that were skipped, and those whose scan was clean or failed with other signatures
   * than these or before an instant. Returns how many.
   */
  async makeDue({
    signatures,
    before,
    now,
    limit,
  }: {
    readonly signatures: string;
    readonly before: number;
    readonly now: number;
    readonly limit: number;
  }): Promise<number> {
    const { tenantId } = this.call;
    return this.tx.run(
      `UPDATE files SET scan_due_at = ? WHERE tenant_id = ? AND id IN (
         SELECT id FROM files WHERE tenant_id = ? AND scan_due_at IS NULL AND size_bytes > 0
           AND (scan_status = 'skipped' OR (scan_status IN ('clean', 'error') AND (coalesce(scanned_with, '') <> ? OR coalesce(scanned_at, updated_at) < ?))) ORDER BY scanned_at, id LIMIT ?)`,
      [now, tenantId, tenantId, signatures, before, limit],
    );
  }

  /** Files whose scan is due, the longest waiting first. */
  async toScan(now: number, limit: number): Promise<FileRow[]> {
    const rows = await this.tx.all(
      `SELECT ${files.columnNames} FROM files WHERE tenant_id = ? AND scan_due_at <= ? ORDER BY scan_due_at LIMIT ?`,
      [this.call.tenantId, now, limit],
    );
    return rows.map((row) => files.decode(row));
  }

  /** Infected files that are not in the quarantine yet. */
  async toQuarantine(limit: number): Promise<FileRow[]> {
    const rows = await this.tx.all(
      `SELECT ${files.columnNames} FROM files WHERE tenant_id = ? AND scan_status = 'infected' AND object_key <> '' AND object_key NOT LIKE 'quarantine/%' ORDER BY scanned_at LIMIT ?`,
      [this.call.tenantId, limit],
    );
    return rows.map((row) => files.decode(row));
  }

  /** Infected files whose bytes are still kept, found before an instant. */
  async quarantinedBefore(at: number, limit: number): Promise<FileRow[]> {
    const rows = await this.tx.all(
      `SELECT ${files.columnNames} FROM files WHERE tenant_id = ? AND scan_status = 'infected' AND object_key <> '' AND scanned_at < ? ORDER BY scanned_at LIMIT ?`,
      [this.call.tenantId, at, limit],
    );
    return rows.map((row) => files.decode(row));
  }

  /**
   * Files of contracts that were deleted before an instant, ordered by id, starting after `after`. Another contract may
   * still need them.
   */
  async ofDeleted({
    before,
    after,
    limit,
  }: {
    readonly before: number;
    readonly after: string;
    readonly limit: number;
  }): Promise<FileRow[]> {
    const { tenantId } = this.call;
    // The attachment of an invoice or a task may be any text, so ids are compared as text.
    const deleted = 'IN (SELECT id FROM contracts WHERE tenant_id = ? AND deleted_at < ?)';
    const rows = await this.tx.all(
      `SELECT ${files.columnNames} FROM files WHERE tenant_id = ? AND id > ? AND (contract_id ${deleted} OR CAST(id AS text) IN (${OF_CONTRACTS.map(({ file, table, contract }) => `SELECT CAST(${file} AS text) FROM ${table} WHERE tenant_id = ? AND ${file} IS NOT NULL AND ${contract} ${deleted}`).join(' UNION ALL ')})) ORDER BY id LIMIT ?`,
      [tenantId, after, tenantId, before, ...OF_CONTRACTS.flatMap(() => [tenantId, tenantId, before]), limit],
    );
    return rows.map((row) => files.decode(row));
  }

  /**
   * Call before a file is removed: until the transaction ends, no new reference to it can be created, and existing ones
   * are visible. SQLite has one writer.
   */
  holdForRemoval(): Promise<void> {
    return this.lock('pg_advisory_xact_lock');
  }

  /**
   * Whether a file is referenced by a live contract, by one deleted at or after `deletedBefore`, which may still be
   * restored, or by a custom field as its default value.
   */
  async isNeeded(row: FileRow, deletedBefore: number): Promise<boolean> {
    if ((await this.fields.all()).some(({ type, defaultValue }) => type === 'file' && defaultValue === row.id))
      return true;
    return this.isReferredTo(row, await this.fields.all(), {
      sql: 'contracts.tenant_id = ? AND (contracts.deleted_at IS NULL OR contracts.deleted_at >= ?)',
      values: [this.call.tenantId, deletedBefore],
    });
  }

  /** Files whose bytes are stored, by id, after one. */
  async stored(after: string | null, limit: number): Promise<{ id: string; sizeBytes: number }[]> {
    const from = after === null ? fragment('') : fragment(' AND id > ?', after);
    const rows = await this.tx.all(
      `SELECT id, size_bytes FROM files WHERE tenant_id = ? AND object_key <> ''${from.sql} ORDER BY id LIMIT ?`,
      [this.call.tenantId, ...from.values, limit],
    );
    return rows.map((row) => ({ id: String(row['id']), sizeBytes: Number(row['size_bytes']) }));
  }

  /** Any files, with the keys of their objects. */
  async some(limit: number): Promise<{ id: string; objectKey: string }[]> {
    const rows = await this.tx.all('SELECT id, object_key FROM files WHERE tenant_id = ? LIMIT ?', [
      this.call.tenantId,
      limit,
    ]);
    return rows.map((row) => ({ id: String(row['id']), objectKey: String(row['object_key']) }));
  }

  /** The entity tag that the object store gave to bytes that were moved here; the file itself did not change. */
  async setEtag(id: string, etag: string): Promise<void> {
    await this.tx.run('UPDATE files SET etag = ? WHERE tenant_id = ? AND id = ?', [etag, this.call.tenantId, id]);
  }

  /** The object keys of the files with these ids; `null` for an unconfirmed upload. */
  async keysOf(ids: readonly string[]): Promise<Map<string, string | null>> {
    const { tenantId } = this.call;
    const among = isOneOf(this.tx.dialect, 'id', ids.filter(isId));
    const rows = await this.tx.all(
      `SELECT id, object_key FROM files WHERE tenant_id = ? AND ${among.sql} UNION ALL SELECT id, NULL FROM file_uploads WHERE tenant_id = ? AND ${among.sql}`,
      [tenantId, ...among.values, tenantId, ...among.values],
    );
    return new Map(
      rows.map((row) => [String(row['id']), row['object_key'] === null ? null : String(row['object_key'])]),
    );
  }

  private async lock(by: 'pg_advisory_xact_lock' | 'pg_advisory_xact_lock_shared'): Promise<void> {
    if (this.tx.dialect === 'postgres')
      await this.tx.hold(`SELECT ${by}(hashtextextended(?, 0))`, [`${this.call.tenantId}/files`]);
  }

  private async isSeen(row: FileRow): Promise<boolean> {
    const { subjectScope, ownerScope, actor } = this.call;
    if (subjectScope === null && ownerScope === null) return true;
    if (await this.isReferredTo(row, await this.fields.visible(), this.scope)) return true;
    if (row.contractId !== null || (await this.isReferredTo(row, await this.fields.all(), tenantOf(this.call))))
      return false;
    if (row.subjectId !== null && !(subjectScope?.includes(row.subjectId) ?? true)) return false;
    return (row.uploadedBy !== null && row.uploadedBy === actor.id) || (ownerScope === null && row.subjectId !== null);
  }

  private async isAttachedTo(row: FileRow, { contractId, paymentId }: FileLocation): Promise<boolean> {
    if (
      contractId &&
      !(
        isId(contractId) &&
        (await this.isReferredTo(row, await this.fields.visible(), {
          sql: `${this.scope.sql} AND contracts.id = ?`,
          values: [...this.scope.values, contractId],
        }))
      )
    )
      return false;
    if (!paymentId) return true;
    if (!isId(paymentId)) return false;
    if (row.paymentId === paymentId) return true;
    const { tenantId } = this.call;
    const line = await this.tx.get(
      `SELECT 1 AS found FROM payment_lines WHERE tenant_id = ? AND id = ? AND (proof = ? OR invoice_attachment = ?)
       UNION ALL SELECT 1 FROM receipts WHERE tenant_id = ? AND line_id = ? AND proof_file_id = ?
       UNION ALL SELECT 1 FROM invoices WHERE tenant_id = ? AND line_id = ? AND attachment = ? LIMIT 1`,
      [tenantId, paymentId, row.id, row.id, tenantId, paymentId, row.id, tenantId, paymentId, row.id],
    );
    return line !== undefined;
  }

  /**
   * Whether one of the given contracts has the file: filed under it, or referenced by the contract, its lines,
   * receipts, invoices or tasks; checked last, since no index covers it: by one of these custom fields.
   */
  private async isReferredTo(row: FileRow, fields: readonly FieldRow[], among: Fragment): Promise<boolean> {
    const { tenantId } = this.call;
    const values: Value[] = REFERRING.flatMap(() => [tenantId, row.id]);
    const named = await this.tx.get(
      `SELECT contracts.id FROM contracts WHERE ${among.sql} AND contracts.id IN (SELECT contract_id FROM files WHERE tenant_id = ? AND id = ? AND contract_id IS NOT NULL UNION ALL ${REFERRING.join(' UNION ALL ')}) LIMIT 1`,
      [...among.values, tenantId, row.id, ...values],
    );
    if (named) return true;
    // A text value may contain the id of any file, but only a file field refers to one, as its JSON value. Within a
    // text, the quotes of such a pair are escaped.
    const pairs = fields.filter(({ type }) => type === 'file').map(({ id }) => `%"${id}":"${row.id}"%`);
    if (pairs.length === 0) return false;
    const inFields = await this.tx.get(
      `SELECT contracts.id FROM contracts WHERE ${among.sql} AND contracts.dynamic_fields <> '{}' AND contracts.dynamic_fields LIKE ? AND (${pairs.map(() => 'contracts.dynamic_fields LIKE ?').join(' OR ')}) LIMIT 1`,
      [...among.values, `%"${row.id}"%`, ...pairs],
    );
    return inFields !== undefined;
  }

  private recordChange(before: FileRow | null, after: FileRow | null): void {
    const { id, contractId } = before ?? after ?? NO_FILE;
    if (after) this.markDue(after);
    this.recorder.record({
      table: files,
      id,
      ...(contractId === null ? {} : { root: ofContract(contractId) }),
      before,
      after,
    });
  }

  /** Marks the work to be done: a scan or a later rescan; infected files are quarantined and finally deleted. */
  private markDue({ scanStatus, scanDueAt, objectKey, updatedAt }: FileRow): void {
    const { due } = this.recorder;
    if (scanStatus === 'infected') {
      if (objectKey === '') return;
      due.at('file-sweep', updatedAt + MOVED_MS);
      // Removes the original where the object store did not remove it.
      due.at('file-orphans', updatedAt + STRAY_MS);
    } else {
      due.at('file-scans', scanDueAt ?? updatedAt + LOOKED_AT_MS);
    }
  }
}

/** The time within which an infected file is normally moved to quarantine. */
const MOVED_MS = 10 * 60_000;
const NO_FILE = { id: '', contractId: null };

const tenantOf = ({ tenantId }: Call): Fragment => ({ sql: 'contracts.tenant_id = ?', values: [tenantId] });

/** The columns that refer to a file, and the column with their contract's id. */
const OF_CONTRACTS = [
  { table: 'contracts', file: 'contract_attachment', contract: 'id' },
  { table: 'payment_lines', file: 'proof', contract: 'contract_id' },
  { table: 'payment_lines', file: 'invoice_attachment', contract: 'contract_id' },
  { table: 'receipts', file: 'proof_file_id', contract: 'contract_id' },
  { table: 'invoices', file: 'attachment', contract: 'contract_id' },
  { table: 'fulfillment_tasks', file: 'attachment', contract: 'contract_id' },
] as const;

/** Each takes the tenant id and the file id. */
const REFERRING = OF_CONTRACTS.map(
  ({ table, file, contract }) => `SELECT ${contract} FROM ${table} WHERE tenant_id = ? AND ${file} = ?`,
);
