import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { isOneOf } from '../../data-plane-agent/base/database/fragments.js';
import type { PlanCode } from '../access/permissions.js';
import type { Settings } from '../access/settings.schemas.js';
import { ReminderSweepStore } from './reminder-sweeps.js';
import { jsonOf, numberOf, textOf } from './rows.js';

export interface TenantRecord {
  readonly id: string;
  /** The name that members enter to sign in to the organisation. */
  readonly slug: string;
  readonly name: string;
  readonly planCode: PlanCode;
  readonly status: 'active' | 'suspended';
  /** Only settings that differ from the defaults. */
  readonly settings: Partial<Settings>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export class TenantStore {
  constructor(private readonly tx: Transaction) {}

  async byId(id: string): Promise<TenantRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM tenants WHERE id = ?`, [id]);
    return row && tenantOf(row);
  }

  /**
   * Like `byId`, and locks the tenant for this transaction. SQLite has only one writer anyway. `FOR NO KEY UPDATE` is
   * enough, since no key changes, and does not conflict with inserts of rows that refer to the tenant.
   */
  async lock(id: string): Promise<TenantRecord | undefined> {
    const row = await this.tx.get(
      `SELECT ${COLUMNS} FROM tenants WHERE id = ?${this.tx.dialect === 'postgres' ? ' FOR NO KEY UPDATE' : ''}`,
      [id],
    );
    return row && tenantOf(row);
  }

  async bySlug(slug: string): Promise<TenantRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM tenants WHERE slug = ?`, [slug]);
    return row && tenantOf(row);
  }

  /** The active organisations in which the email belongs to an active member, by slug. */
  async ofActiveMember(email: string): Promise<{ slug: string; name: string }[]> {
    const rows = await this.tx.all(
      "SELECT t.slug, t.name FROM members m JOIN tenants t ON t.id = m.tenant_id WHERE m.email = ? AND m.status = 'active' AND t.status = 'active' ORDER BY t.slug LIMIT 100",
      [email],
    );
    return rows.map((row) => ({ slug: textOf(row, 'slug'), name: textOf(row, 'name') }));
  }

  /** Whether there is any organisation. */
  async any(): Promise<boolean> {
    return (await this.tx.get('SELECT 1 AS found FROM tenants LIMIT 1')) !== undefined;
  }

  /** All organisations, by slug. */
  async all(): Promise<TenantRecord[]> {
    return (await this.tx.all(`SELECT ${COLUMNS} FROM tenants ORDER BY slug`)).map(tenantOf);
  }

  /** The tenants with these ids that exist. */
  async among(ids: readonly string[]): Promise<TenantRecord[]> {
    const named = isOneOf(this.tx.dialect, 'id', ids);
    return (await this.tx.all(`SELECT ${COLUMNS} FROM tenants WHERE ${named.sql}`, named.values)).map(tenantOf);
  }

  async ids(): Promise<string[]> {
    return (await this.tx.all('SELECT id FROM tenants ORDER BY id')).map((row) => textOf(row, 'id'));
  }

  /** Returns false if the slug is taken. */
  async insert(tenant: TenantRecord): Promise<boolean> {
    const inserted = await this.tx.run(
      'INSERT INTO tenants (id, slug, name, plan_code, status, settings, directory_version, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (slug) DO NOTHING',
      [
        tenant.id,
        tenant.slug,
        tenant.name,
        tenant.planCode,
        tenant.status,
        JSON.stringify(tenant.settings),
        tenant.createdAt,
        tenant.updatedAt,
      ],
    );
    if (inserted === 0) return false;
    await new ReminderSweepStore(this.tx).begin({
      tenantId: tenant.id,
      settings: tenant.settings,
      at: tenant.createdAt,
    });
    return true;
  }

  async setPlan({ id, planCode, at }: { id: string; planCode: PlanCode; at: number }): Promise<void> {
    await this.tx.run('UPDATE tenants SET plan_code = ?, updated_at = ? WHERE id = ?', [planCode, at, id]);
  }

  async setStatus({ id, status, at }: { id: string; status: TenantRecord['status']; at: number }): Promise<void> {
    await this.tx.run('UPDATE tenants SET status = ?, updated_at = ? WHERE id = ?', [status, at, id]);
  }

  async setSettings({ id, settings, at }: { id: string; settings: Partial<Settings>; at: number }): Promise<void> {
    await this.tx.run('UPDATE tenants SET settings = ?, updated_at = ? WHERE id = ?', [
      JSON.stringify(settings),
      at,
      id,
    ]);
    await new ReminderSweepStore(this.tx).reconsider(id);
  }

  /** Notifies all replicas that names or states of members or subject companies have changed. */
  async touchDirectory(id: string): Promise<void> {
    await this.tx.run('UPDATE tenants SET directory_version = directory_version + 1 WHERE id = ?', [id]);
  }

  async directoryVersion(id: string): Promise<number | undefined> {
    const row = await this.tx.get('SELECT directory_version FROM tenants WHERE id = ?', [id]);
    return row && numberOf(row, 'directory_version');
  }
}

const COLUMNS = 'id, slug, name, plan_code, status, settings, created_at, updated_at';

const tenantOf = (row: Row): TenantRecord => ({
  id: textOf(row, 'id'),
  slug: textOf(row, 'slug'),
  name: textOf(row, 'name'),
  planCode: textOf(row, 'plan_code') as PlanCode,
  status: textOf(row, 'status') as TenantRecord['status'],
  settings: jsonOf(row, 'settings'),
  createdAt: numberOf(row, 'created_at'),
  updatedAt: numberOf(row, 'updated_at'),
});
