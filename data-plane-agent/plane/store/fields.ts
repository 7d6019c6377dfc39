import { LRUCache } from 'lru-cache';
import type { Transaction } from '../../base/database/database.js';
import { newId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { settingsOf } from '../domain/fields/answer.js';
import { dynamicFields, type FieldRow } from '../tables/fields.js';
import { inOrder, isChoice, visibleTo } from '../domain/fields/definition.js';
import { hasValues, shownContract, type Shown } from '../domain/fields/shown.js';
import type { ContractRow } from '../tables/contracts.js';
import type { ChangeRecorder } from './change-recorder.js';

/** The definitions of custom fields. */
export class FieldStore {
  /** Cached for this transaction: an operation that creates many contracts reads the definitions once. */
  private read: Known | undefined;
  private isHeld = false;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly recorder: ChangeRecorder,
  ) {}

  /** All fields of the tenant by section and position, including archived ones. */
  async all(): Promise<readonly FieldRow[]> {
    return (await this.known()).fields;
  }

  /** The fields that are not archived and that the caller may see, by section and position. */
  async visible(): Promise<readonly FieldRow[]> {
    return this.seen(await this.known()).fields;
  }

  /** Contracts with the custom values that the caller may see. When none has values, no definitions are read. */
  async shown<R extends Pick<ContractRow, 'dynamicFields'>>(rows: readonly R[]): Promise<Shown<R>[]> {
    const ids = rows.some(hasValues) ? this.seen(await this.known()).ids : NO_IDS;
    return rows.map((row) => shownContract(row, ids));
  }

  /**
   * Call before values are written: no definition changes until the transaction ends, so that no value of a former type
   * is left behind. Call it before locking a contract, in the same order as changes of definitions do, to avoid a
   * deadlock, and outside of savepoints that may be rolled back, since a lock taken within one ends with it.
   */
  async holdForValues(): Promise<void> {
    if (this.isHeld) return;
    this.isHeld = true;
    if (this.tx.dialect !== 'postgres') return;
    await this.tx.hold('SELECT revision FROM dynamic_field_sets WHERE tenant_id = ? FOR SHARE', [this.call.tenantId]);
    this.read = undefined;
  }

  /**
   * Call before a definition changes: waits for transactions that write values or definitions, and blocks others until
   * this transaction ends.
   */
  async hold(): Promise<void> {
    if (this.tx.dialect === 'postgres')
      await this.tx.get('SELECT revision FROM dynamic_field_sets WHERE tenant_id = ? FOR UPDATE', [this.call.tenantId]);
    this.read = undefined;
  }

  async insert(row: FieldRow): Promise<void> {
    await dynamicFields.insert(this.tx, this.call.tenantId, [row]);
    await this.revise();
    this.recorder.record({ table: dynamicFields, id: row.id, before: null, after: audited(row) });
  }

  /**
   * Writes a changed definition and increments its version. `facts` describes for the audit trail what was done with
   * the values.
   */
  async update(before: FieldRow, after: FieldRow, facts: object = {}): Promise<FieldRow> {
    const next: FieldRow = { ...after, version: before.version + 1 };
    await dynamicFields.update(this.tx, this.call.tenantId, { id: before.id, before, after: next });
    await this.revise();
    this.recorder.record({ table: dynamicFields, id: next.id, before: audited(before), after: audited(next), facts });
    return next;
  }

  /** Writes a position that changed because another field was moved. The field's version does not change. */
  async place(before: FieldRow, position: number): Promise<void> {
    await dynamicFields.update(this.tx, this.call.tenantId, { id: before.id, before, after: { ...before, position } });
    await this.revise();
  }

  /**
   * Definitions are cached under a revision that is never reused, so that cached definitions are valid forever on every
   * replica.
   */
  private async revise(): Promise<void> {
    await this.tx.run(
      'INSERT INTO dynamic_field_sets (tenant_id, revision) VALUES (?, ?) ON CONFLICT (tenant_id) DO UPDATE SET revision = excluded.revision',
      [this.call.tenantId, newId()],
    );
    this.read = undefined;
  }

  private async known(): Promise<Known> {
    return (this.read ??= await this.load());
  }

  private async load(): Promise<Known> {
    const revision = await this.revision();
    if (revision === undefined) return NONE;
    const cached = cache.get(revision);
    if (cached) return cached;
    const rows = await this.tx.all(`SELECT ${dynamicFields.columnNames} FROM dynamic_fields WHERE tenant_id = ?`, [
      this.call.tenantId,
    ]);
    // Two statements of a write transaction may see two states of the database.
    if ((await this.revision()) !== revision) return this.load();
    const known: Known = { fields: rows.map((row) => dynamicFields.decode(row)).toSorted(inOrder), seenBy: new Map() };
    // An uncommitted write may continue under this revision, so only read transactions fill the cache.
    if (this.tx.writes === 0)
      cache.set(revision, known, { size: rows.reduce((sum, row) => sum + 500 + String(row['options']).length, 1) });
    return known;
  }

  private async revision(): Promise<string | undefined> {
    const sql = 'SELECT revision FROM dynamic_field_sets WHERE tenant_id = ?';
    const values = [this.call.tenantId];
    const [row] = await (this.isHeld ? this.tx.steady(sql, values) : this.tx.all(sql, values));
    return row && String(row['revision']);
  }

  private seen(known: Known): Seen {
    const { roleCode } = this.call.actor;
    const before = known.seenBy.get(roleCode);
    if (before) return before;
    const fields = known.fields.filter((field) => !field.archived && visibleTo(field, roleCode));
    const seen = { fields, ids: new Set(fields.map(({ id }) => id)) };
    known.seenBy.set(roleCode, seen);
    return seen;
  }
}

interface Seen {
  readonly fields: readonly FieldRow[];
  readonly ids: ReadonlySet<string>;
}
interface Known {
  readonly fields: readonly FieldRow[];
  readonly seenBy: Map<string | null, Seen>;
}

/** A definition with only the options and settings that apply to its type, for the audit. */
const audited = (row: FieldRow): FieldRow => ({
  ...row,
  options: isChoice(row.type) ? row.options : [],
  settings: settingsOf(row),
});

const NO_IDS: ReadonlySet<string> = new Set();
const NONE: Known = { fields: [], seenBy: new Map() };
/** About 64 MB of definitions of the most recently used tenants. */
const cache = new LRUCache<string, Known>({ max: 5_000, maxSize: 32_000_000 });
