import type { Row, Transaction, Value } from '../../data-plane-agent/base/database/database.js';
import type { NameProfile } from '../auth/shapes.js';
import { jsonOf, jsonOrNull, numberOf, numberOrNull, textOf, textOrNull } from './rows.js';

export interface MemberRecord {
  readonly id: string;
  readonly tenantId: string;
  /** Trimmed and lower-cased. */
  readonly email: string;
  readonly name: string;
  readonly nameProfile: NameProfile | null;
  readonly status: 'active' | 'disabled';
  readonly roleCode: string;
  /** Subject companies that the member may see; `null` is all, an empty list none. */
  readonly subjectScope: readonly string[] | null;
  /** The member's own, where they differ from the tenant's. */
  readonly preferences: Readonly<Record<string, unknown>>;
  /** A PHC string; `null` for who signs in another way. */
  readonly passwordHash: string | null;
  readonly lastLoginAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export class MemberStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  async byId(id: string): Promise<MemberRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM members WHERE tenant_id = ? AND id = ?`, [this.tenantId, id]);
    return row && memberOf(row);
  }

  async byEmail(email: string): Promise<MemberRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM members WHERE tenant_id = ? AND email = ?`, [this.tenantId, email]);
    return row && memberOf(row);
  }

  /** Names and states only, for the directory. */
  async names(): Promise<{ id: string; name: string; active: boolean }[]> {
    const rows = await this.tx.all('SELECT id, name, status FROM members WHERE tenant_id = ? ORDER BY id', [this.tenantId]);
    return rows.map((row) => ({ id: textOf(row, 'id'), name: textOf(row, 'name'), active: row['status'] === 'active' }));
  }

  /** Answers false when the tenant has a member with this email. */
  async insert(member: MemberRecord): Promise<boolean> {
    const inserted = await this.tx.run(
      `INSERT INTO members (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, email) DO NOTHING`,
      [
        member.id, this.tenantId, member.email, member.name, jsonText(member.nameProfile), member.status, member.roleCode, jsonText(member.subjectScope),
        JSON.stringify(member.preferences), member.passwordHash, member.lastLoginAt, member.createdAt, member.updatedAt,
      ],
    );
    return inserted === 1;
  }

  async setRole({ id, roleCode, at }: { id: string; roleCode: string; at: number }): Promise<void> {
    await this.tx.run('UPDATE members SET role_code = ?, updated_at = ? WHERE tenant_id = ? AND id = ?', [roleCode, at, this.tenantId, id]);
  }

  async setScope({ id, subjectScope, at }: { id: string; subjectScope: readonly string[] | null; at: number }): Promise<void> {
    await this.tx.run('UPDATE members SET subject_scope = ?, updated_at = ? WHERE tenant_id = ? AND id = ?', [jsonText(subjectScope), at, this.tenantId, id]);
  }

  async setStatus({ id, status, at }: { id: string; status: MemberRecord['status']; at: number }): Promise<void> {
    await this.tx.run('UPDATE members SET status = ?, updated_at = ? WHERE tenant_id = ? AND id = ?', [status, at, this.tenantId, id]);
  }

  /** Answers false when the member is disabled by now: whoever disables waits for this row, and then ends the session that was opened. */
  async recordLogin({ id, at }: { id: string; at: number }): Promise<boolean> {
    return (await this.tx.run("UPDATE members SET last_login_at = ? WHERE tenant_id = ? AND id = ? AND status = 'active'", [at, this.tenantId, id])) === 1;
  }

  /** The same password under stronger parameters; left alone when the password has changed meanwhile. */
  async upgradePasswordHash({ id, from, to }: { id: string; from: string; to: string }): Promise<void> {
    await this.tx.run('UPDATE members SET password_hash = ? WHERE tenant_id = ? AND id = ? AND password_hash = ?', [to, this.tenantId, id, from]);
  }
}

const COLUMNS = 'id, tenant_id, email, name, name_profile, status, role_code, subject_scope, preferences, password_hash, last_login_at, created_at, updated_at';

const jsonText = (value: unknown): Value => (value === null ? null : JSON.stringify(value));

const memberOf = (row: Row): MemberRecord => ({
  id: textOf(row, 'id'),
  tenantId: textOf(row, 'tenant_id'),
  email: textOf(row, 'email'),
  name: textOf(row, 'name'),
  nameProfile: jsonOrNull(row, 'name_profile'),
  status: textOf(row, 'status') as MemberRecord['status'],
  roleCode: textOf(row, 'role_code'),
  subjectScope: jsonOrNull(row, 'subject_scope'),
  preferences: jsonOf(row, 'preferences'),
  passwordHash: textOrNull(row, 'password_hash'),
  lastLoginAt: numberOrNull(row, 'last_login_at'),
  createdAt: numberOf(row, 'created_at'),
  updatedAt: numberOf(row, 'updated_at'),
});
