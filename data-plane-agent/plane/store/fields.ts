import { LRUCache } from 'lru-cache';
import type { Transaction } from '../../base/database/database.js';
import { newId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import { settingsOf } from '../domain/fields/answer.js';
import { dynamicFields, type FieldRow } from '../tables/fields.js';
import { inOrder, isChoice, visibleTo } from '../domain/fields/definition.js';
import { hasValues, shownContract, type ShownContract } from '../domain/fields/shown.js';
import type { ContractRow } from '../tables/contracts.js';
import type { ChangeRecorder } from './change-recorder.js';

/** The definitions of custom fields. */
export class FieldStore {
  /** As this transaction has read them: an operation that enters many contracts asks once. */
  private read: Known | undefined;
  private isHeld = false;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly recorder: ChangeRecorder,
  ) {}

  /** Every field of the tenant, by section and place, archived ones among them. */
  async all(): Promise<readonly FieldRow[]> {
    return (await this.known()).fields;
  }

  /** The live fields that the caller may see, by section and place. */
  async visible(): Promise<readonly FieldRow[]> {
    return this.seen(await this.known()).fields;
  }

  /** Contracts with the custom values that the caller may see. Without values there is nothing to ask for. */
  async shown(rows: readonly ContractRow[]): Promise<ShownContract[]> {
    const ids = rows.some(hasValues) ? this.seen(await this.known()).ids : NO_IDS;
    return rows.map((row) => shownContract(row, ids));
  }

  /**
   * Before values are written: until the transaction ends no definition changes, so that no value of a former type is
   * left behind. Call it before a contract is held, as changes of definitions do, or the two wait for each other.
   */
  async holdForValues(): Promise<void> {
    if (this.isHeld) return;
    this.isHeld = true;
    if (this.tx.dialect !== 'postgres') return;
    await this.tx.get('SELECT revision FROM dynamic_field_sets WHERE tenant_id = ? FOR SHARE', [this.call.tenantId]);
    this.read = undefined;
  }

  /**
   * Before a definition changes: it waits for whoever writes values or definitions, and keeps them waiting until the
   * transaction ends.
   */
  async hold(): Promise<void> {
    if (this.tx.dialect === 'postgres')
      await this.tx.get('SELECT revision FROM dynamic_field_sets WHERE tenant_id = ? FOR UPDATE', [this.call.tenantId]);
    this.read = undefined;
  }

  async insert(row: FieldRow): Promise<void> {
    await dynamicFields.insert(this.tx, this.call.tenantId, [row]);
    await this.revise();
    this.recorder.record({ table: dynamicFields, id: row.id, before: null, after: meant(row) });
  }

  /** Writes a changed definition; its version moves by one. `did` tells the audit trail what became of values. */
  async update(before: FieldRow, after: FieldRow, did: object = {}): Promise<FieldRow> {
    const next: FieldRow = { ...after, version: before.version + 1 };
    await dynamicFields.update(this.tx, this.call.tenantId, { id: before.id, before, after: next });
    await this.revise();
    this.recorder.record({ table: dynamicFields, id: next.id, before: meant(before), after: meant(next), facts: did });
    return next;
  }

  /** Places that follow from another field's move: no change of these fields themselves. */
  async place(before: FieldRow, position: number): Promise<void> {
    await dynamicFields.update(this.tx, this.call.tenantId, { id: before.id, before, after: { ...before, position } });
    await this.revise();
  }

  /**
   * Definitions are cached under a revision that is never used again, so that what is cached under it is true for ever,
   * on every replica.
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
    // Two statements of one write may see two states of the database.
    if ((await this.revision()) !== revision) return this.load();
    const known: Known = { fields: rows.map((row) => dynamicFields.decode(row)).toSorted(inOrder), seenBy: new Map() };
    // A write that is not committed yet may go on under this revision; what others see under it is complete.
    if (this.tx.writes === 0)
      cache.set(revision, known, { size: rows.reduce((sum, row) => sum + 500 + String(row['options']).length, 1) });
    return known;
  }

  private async revision(): Promise<string | undefined> {
    const row = await this.tx.get('SELECT revision FROM dynamic_field_sets WHERE tenant_id = ?', [this.call.tenantId]);
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

/** A definition with what means something to its type: of what it keeps of other types the audit tells nothing. */
const meant = (row: FieldRow): FieldRow => ({
  ...row,
  options: isChoice(row.type) ? row.options : [],
  settings: settingsOf(row),
});

const NO_IDS: ReadonlySet<string> = new Set();
const NONE: Known = { fields: [], seenBy: new Map() };
/** About 64 MB of definitions, those of the tenants last asked for. */
const cache = new LRUCache<string, Known>({ max: 5_000, maxSize: 32_000_000 });
