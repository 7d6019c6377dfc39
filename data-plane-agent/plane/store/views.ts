import type { Transaction } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import type { ViewScope } from '../contract/records/views.js';
import { savedViews, type SavedViewRow } from '../tables/views.js';
import type { ChangeRecorder } from './change-recorder.js';

/**
 * Saved views. Callers read their own personal views and the team's; views of other members are read only for a
 * handover.
 */
export class ViewStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly recorder: ChangeRecorder,
  ) {}

  /** Personal views first, then the team's, each ordered by name. */
  async seen(): Promise<SavedViewRow[]> {
    const rows = await this.tx.all(
      `SELECT ${savedViews.columnNames} FROM saved_views WHERE tenant_id = ? AND (scope = 'team' OR owner_id = ?) ORDER BY scope, name, id`,
      [this.call.tenantId, this.call.actor.id],
    );
    return rows.map((row) => savedViews.decode(row));
  }

  /** Locks the view until the transaction ends. */
  async find(id: string): Promise<SavedViewRow | undefined> {
    if (!isId(id)) return undefined;
    const lock = this.tx.dialect === 'postgres' ? ' FOR UPDATE' : '';
    const row = await this.tx.get(
      `SELECT ${savedViews.columnNames} FROM saved_views WHERE tenant_id = ? AND id = ? AND (scope = 'team' OR owner_id = ?)${lock}`,
      [this.call.tenantId, id, this.call.actor.id],
    );
    return row && savedViews.decode(row);
  }

  /** Whether a view other than `except` has the name, among the team's views or among the owner's personal ones. */
  async isTaken(
    { scope, ownerId, nameKey }: Pick<SavedViewRow, 'scope' | 'ownerId' | 'nameKey'>,
    except: string | null = null,
  ): Promise<boolean> {
    const row =
      scope === 'team'
        ? await this.tx.get("SELECT id FROM saved_views WHERE tenant_id = ? AND scope = 'team' AND name_key = ?", [
            this.call.tenantId,
            nameKey,
          ])
        : await this.tx.get(
            "SELECT id FROM saved_views WHERE tenant_id = ? AND scope = 'personal' AND owner_id = ? AND name_key = ?",
            [this.call.tenantId, ownerId, nameKey],
          );
    return row !== undefined && row['id'] !== except;
  }

  /** How many views the team has, or how many the member owns in this scope; the owner of a team view maintains it. */
  async count(scope: ViewScope, ownerId: string | null): Promise<number> {
    if (ownerId !== null && !isId(ownerId)) return 0;
    const whose = ownerId === null ? '' : ' AND owner_id = ?';
    const row = await this.tx.get(`SELECT count(*) AS n FROM saved_views WHERE tenant_id = ? AND scope = ?${whose}`, [
      this.call.tenantId,
      scope,
      ...(ownerId === null ? [] : [ownerId]),
    ]);
    return Number(row?.['n']);
  }

  /**
   * All of a member's views of one scope, for a handover. `held` locks them until the transaction ends, so that two
   * handovers run one after the other.
   */
  async ofMember(
    scope: ViewScope,
    memberId: string,
    { held = false }: { held?: boolean } = {},
  ): Promise<SavedViewRow[]> {
    if (!isId(memberId)) return [];
    const lock = held && this.tx.dialect === 'postgres' ? ' FOR UPDATE' : '';
    const rows = await this.tx.all(
      `SELECT ${savedViews.columnNames} FROM saved_views WHERE tenant_id = ? AND scope = ? AND owner_id = ? ORDER BY name, id${lock}`,
      [this.call.tenantId, scope, memberId],
    );
    return rows.map((row) => savedViews.decode(row));
  }

  /** The ids and names of a member's latest views. */
  async samples(scope: ViewScope, memberId: string, limit: number): Promise<{ id: string; name: string }[]> {
    if (!isId(memberId)) return [];
    const rows = await this.tx.all(
      'SELECT id, name FROM saved_views WHERE tenant_id = ? AND scope = ? AND owner_id = ? ORDER BY created_at DESC, id DESC LIMIT ?',
      [this.call.tenantId, scope, memberId, limit],
    );
    return rows.map((row) => ({ id: String(row['id']), name: String(row['name']) }));
  }

  /** When a view was created (epoch milliseconds), whoever owns it; `undefined` when there is none. */
  async madeAt(id: string): Promise<number | undefined> {
    const row = await this.tx.get('SELECT created_at FROM saved_views WHERE tenant_id = ? AND id = ?', [
      this.call.tenantId,
      id,
    ]);
    return row && Number(row['created_at']);
  }

  async insert(row: SavedViewRow): Promise<void> {
    await savedViews.insert(this.tx, this.call.tenantId, [row]);
    this.recordChange(row.id, null, row);
  }

  async update(before: SavedViewRow, after: SavedViewRow): Promise<void> {
    await savedViews.update(this.tx, this.call.tenantId, { id: before.id, before, after });
    this.recordChange(before.id, before, after);
  }

  async remove(row: SavedViewRow): Promise<void> {
    await this.tx.run('DELETE FROM saved_views WHERE tenant_id = ? AND id = ?', [this.call.tenantId, row.id]);
    this.recordChange(row.id, row, null);
  }

  private recordChange(id: string, before: SavedViewRow | null, after: SavedViewRow | null): void {
    this.recorder.record({ table: savedViews, id, before, after });
  }
}
