import type { Row, Transaction, Value } from '../../data-plane-agent/base/database/database.js';
import { isDatabaseError, translateError } from '../../data-plane-agent/base/database/errors.js';
import type { NameProfile } from '../access/person.schemas.js';
import { flagOf, jsonOf, jsonOrNull, numberOf, numberOrNull, textOf, textOrNull } from './rows.js';

export interface MemberRecord {
  readonly id: string;
  readonly tenantId: string;
  /** Trimmed and lower-cased. */
  readonly email: string;
  readonly name: string;
  readonly nameProfile: NameProfile | null;
  readonly status: 'active' | 'disabled';
  readonly roleCode: string;
  /** The subject companies visible to the member; `null` means all, an empty list none. */
  readonly subjectScope: readonly string[] | null;
  /** The member's preferences that differ from the tenant's settings. */
  readonly preferences: Readonly<Record<string, unknown>>;
  /** A PHC string; `null` for members who sign in without a password. */
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
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM members WHERE tenant_id = ? AND email = ?`, [
      this.tenantId,
      email,
    ]);
    return row && memberOf(row);
  }

  /**
   * Like `byId`, and locks the row for this transaction; rows that refer to the member can still be written. SQLite has
   * only one writer anyway.
   */
  async lock(id: string): Promise<MemberRecord | undefined> {
    const row = await this.tx.get(
      `SELECT ${COLUMNS} FROM members WHERE tenant_id = ? AND id = ?${this.tx.dialect === 'postgres' ? ' FOR NO KEY UPDATE' : ''}`,
      [this.tenantId, id],
    );
    return row && memberOf(row);
  }

  /** Only names and states, for the directory. */
  async names(): Promise<{ id: string; name: string; email: string; active: boolean }[]> {
    const rows = await this.tx.all('SELECT id, name, email, status FROM members WHERE tenant_id = ? ORDER BY id', [
      this.tenantId,
    ]);
    return rows.map((row) => ({
      id: textOf(row, 'id'),
      name: textOf(row, 'name'),
      email: textOf(row, 'email'),
      active: row['status'] === 'active',
    }));
  }

  /** All members and whether they have an authenticator, in the order in which they joined. */
  async list(): Promise<ListedMember[]> {
    const rows = await this.tx.all(`${LISTED} WHERE m.tenant_id = ? ORDER BY m.id`, [this.tenantId]);
    return rows.map(listedOf);
  }

  async listed(id: string): Promise<ListedMember | undefined> {
    const row = await this.tx.get(`${LISTED} WHERE m.tenant_id = ? AND m.id = ?`, [this.tenantId, id]);
    return row && listedOf(row);
  }

  /** The members with the role, active members first. */
  async holders({ roleCode, limit }: { roleCode: string; limit: number }): Promise<MemberRecord[]> {
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM members WHERE tenant_id = ? AND role_code = ? ORDER BY CASE WHEN status = 'active' THEN 0 ELSE 1 END, id LIMIT ?`,
      [this.tenantId, roleCode, limit],
    );
    return rows.map(memberOf);
  }

  /** Records that the member, or all members with the role, have lost admin (edit). */
  async loseAdmin({ at, ...who }: { at: number } & ({ id: string } | { roleCode: string })): Promise<void> {
    const [column, value] = 'id' in who ? ['id', who.id] : ['role_code', who.roleCode];
    await this.tx.run(`UPDATE members SET admin_lost_at = ? WHERE tenant_id = ? AND ${column} = ?`, [
      at,
      this.tenantId,
      value,
    ]);
  }

  /** The number of members of each role; unused roles are missing. */
  async countByRole(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.tx.all(
      'SELECT role_code, count(*) AS n FROM members WHERE tenant_id = ? GROUP BY role_code',
      [this.tenantId],
    );
    return new Map(rows.map((row) => [textOf(row, 'role_code'), Number(row['n'])]));
  }

  /** Updates the given fields. Returns false if another member has the email. The caller holds the tenant's lock. */
  async update({
    id,
    fields,
    at,
  }: {
    id: string;
    fields: Partial<Pick<MemberRecord, 'name' | 'email' | 'roleCode' | 'subjectScope' | 'status'>>;
    at: number;
  }): Promise<boolean> {
    const given = UPDATABLE.filter(([field]) => fields[field] !== undefined);
    const values = given.map(([field]) =>
      field === 'subjectScope' ? jsonText(fields.subjectScope) : (fields[field] ?? null),
    );
    const sql = `UPDATE members SET ${[...given.map(([, column]) => column), 'updated_at'].map((column) => `${column} = ?`).join(', ')} WHERE tenant_id = ? AND id = ?`;
    try {
      // An invitation to the address may be accepted concurrently: the unique index decides.
      await this.tx.savepoint(() => this.tx.run(sql, [...values, at, this.tenantId, id]));
      return true;
    } catch (error) {
      if (isDatabaseError(translateError(error), 'unique')) return false;
      throw error;
    }
  }

  /** Removes a subject company from all scopes: members who could see only this one see none. */
  async dropFromScopes({ subjectId, at }: { subjectId: string; at: number }): Promise<string[]> {
    const narrowed = (await this.list()).filter(({ subjectScope }) => subjectScope?.includes(subjectId));
    for (const { id, subjectScope } of narrowed)
      await this.setScope({ id, subjectScope: subjectScope?.filter((other) => other !== subjectId) ?? null, at });
    return narrowed.map(({ id }) => id);
  }

  /** Returns false if the tenant has a member with this email. */
  async insert(member: MemberRecord): Promise<boolean> {
    const inserted = await this.tx.run(
      `INSERT INTO members (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant_id, email) DO NOTHING`,
      [
        member.id,
        this.tenantId,
        member.email,
        member.name,
        jsonText(member.nameProfile),
        member.status,
        member.roleCode,
        jsonText(member.subjectScope),
        JSON.stringify(member.preferences),
        member.passwordHash,
        member.lastLoginAt,
        member.createdAt,
        member.updatedAt,
      ],
    );
    return inserted === 1;
  }

  async setRole({ id, roleCode, at }: { id: string; roleCode: string; at: number }): Promise<void> {
    await this.tx.run('UPDATE members SET role_code = ?, updated_at = ? WHERE tenant_id = ? AND id = ?', [
      roleCode,
      at,
      this.tenantId,
      id,
    ]);
  }

  async setScope({
    id,
    subjectScope,
    at,
  }: {
    id: string;
    subjectScope: readonly string[] | null;
    at: number;
  }): Promise<void> {
    await this.tx.run('UPDATE members SET subject_scope = ?, updated_at = ? WHERE tenant_id = ? AND id = ?', [
      jsonText(subjectScope),
      at,
      this.tenantId,
      id,
    ]);
  }

  async setStatus({ id, status, at }: { id: string; status: MemberRecord['status']; at: number }): Promise<void> {
    await this.tx.run('UPDATE members SET status = ?, updated_at = ? WHERE tenant_id = ? AND id = ?', [
      status,
      at,
      this.tenantId,
      id,
    ]);
  }

  /** Sets a password. Returns false if the member is disabled. */
  async setPasswordHash({ id, passwordHash, at }: { id: string; passwordHash: string; at: number }): Promise<boolean> {
    return (
      (await this.tx.run(
        "UPDATE members SET password_hash = ?, updated_at = ? WHERE tenant_id = ? AND id = ? AND status = 'active'",
        [passwordHash, at, this.tenantId, id],
      )) === 1
    );
  }

  async setPreferences({
    id,
    preferences,
    at,
  }: {
    id: string;
    preferences: MemberRecord['preferences'];
    at: number;
  }): Promise<void> {
    await this.tx.run('UPDATE members SET preferences = ?, updated_at = ? WHERE tenant_id = ? AND id = ?', [
      JSON.stringify(preferences),
      at,
      this.tenantId,
      id,
    ]);
  }

  async setProfile({
    id,
    name,
    nameProfile,
    at,
  }: {
    id: string;
    name: string;
    nameProfile: NameProfile | null;
    at: number;
  }): Promise<void> {
    await this.tx.run('UPDATE members SET name = ?, name_profile = ?, updated_at = ? WHERE tenant_id = ? AND id = ?', [
      name,
      jsonText(nameProfile),
      at,
      this.tenantId,
      id,
    ]);
  }

  /**
   * Returns false if the member is disabled. A concurrent request to disable the member waits for this row, and then
   * ends the new session.
   */
  async recordLogin({ id, at }: { id: string; at: number }): Promise<boolean> {
    return (
      (await this.tx.run("UPDATE members SET last_login_at = ? WHERE tenant_id = ? AND id = ? AND status = 'active'", [
        at,
        this.tenantId,
        id,
      ])) === 1
    );
  }

  /** Stores the same password under stronger parameters, unless it was changed in the meantime. */
  async upgradePasswordHash({ id, from, to }: { id: string; from: string; to: string }): Promise<void> {
    await this.tx.run('UPDATE members SET password_hash = ? WHERE tenant_id = ? AND id = ? AND password_hash = ?', [
      to,
      this.tenantId,
      id,
      from,
    ]);
  }
}

/** A member as shown to administrators. */
export interface ListedMember extends MemberRecord {
  readonly mfaEnrolled: boolean;
  /** When they last lost admin (edit). */
  readonly adminLostAt: number | null;
}

const UPDATABLE = [
  ['name', 'name'],
  ['email', 'email'],
  ['roleCode', 'role_code'],
  ['subjectScope', 'subject_scope'],
  ['status', 'status'],
] as const;

const COLUMNS =
  'id, tenant_id, email, name, name_profile, status, role_code, subject_scope, preferences, password_hash, last_login_at, created_at, updated_at';

const jsonText = (value: unknown): Value => (value === null || value === undefined ? null : JSON.stringify(value));

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

const LISTED = `SELECT ${COLUMNS.split(', ')
  .map((column) => `m.${column}`)
  .join(', ')}, m.admin_lost_at, CASE WHEN f.member_id IS NULL THEN 0 ELSE 1 END AS mfa_enrolled
  FROM members m LEFT JOIN mfa_totp f ON f.tenant_id = m.tenant_id AND f.member_id = m.id`;

const listedOf = (row: Row): ListedMember => ({
  ...memberOf(row),
  mfaEnrolled: flagOf(row, 'mfa_enrolled'),
  adminLostAt: numberOrNull(row, 'admin_lost_at'),
});
