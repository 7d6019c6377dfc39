import type { Database, Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import type { Control } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { Permissions, PlanCode } from '../access/permissions.js';
import type { Way } from '../access/session-policy.js';
import type { Settings } from '../access/settings.schemas.js';
import type { MemberRecord } from './members.js';
import { flagOf, jsonOf, jsonOrNull, numberOf, numberOrNull, textOf, textOrNull } from './rows.js';
import type { TenantRecord } from './tenants.js';

/** A sign-in, and all refresh tokens issued for it. */
export interface SessionRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly memberId: string;
  /** The number of rotations: only the refresh token of this generation is current. */
  readonly generation: number;
  readonly rotatedAt: number;
  readonly idleExpiresAt: number;
  readonly absoluteExpiresAt: number;
  /** Started from the service's own web pages. */
  readonly ownPages: boolean;
  /** How the session was started; `null` for sessions of older versions. */
  readonly way: Way | null;
  /** Whether a code sent by mail replaced the authenticator. */
  readonly byEmailCode: boolean;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** A session with everything needed for the caller of a request, read by one statement. */
export interface SessionHolder {
  readonly session: SessionRecord;
  readonly tenant: {
    readonly slug: string;
    readonly name: string;
    readonly planCode: PlanCode;
    readonly status: TenantRecord['status'];
    readonly settings: Partial<Settings>;
  };
  readonly member: {
    readonly email: string;
    readonly name: string;
    readonly status: MemberRecord['status'];
    readonly roleCode: string;
    readonly subjectScope: readonly string[] | null;
    /** Has an authenticator. */ readonly enrolled: boolean;
  };
  readonly role: { readonly permissions: Permissions; readonly workflowControls: Readonly<Record<string, Control>> };
}

/**
 * What decides what a session may do, as it is stored: as long as the row is the same, so is its holder. Read without a
 * transaction, since it is one statement.
 */
export interface HolderRow {
  readonly row: Row;
  holder(): SessionHolder;
  /** The version of the directory of its organisation. */
  readonly directoryVersion: number;
}

export async function presentHolder(
  database: Pick<Database, 'glance'>,
  sessionId: string,
): Promise<HolderRow | undefined> {
  const row = await database.glance({ tenantId: null }, HOLDER, sessionId);
  return row && { row, holder: () => holderOf(row), directoryVersion: numberOf(row, 'directory_version') };
}

export class SessionStore {
  constructor(private readonly tx: Transaction) {}

  async holder(id: string): Promise<SessionHolder | undefined> {
    const row = await this.tx.get(HOLDER, [id]);
    return row && holderOf(row);
  }

  async byId(id: string): Promise<SessionRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM sessions s WHERE s.id = ?`, [id]);
    return row && sessionOf(row);
  }

  async insert(session: SessionRecord): Promise<void> {
    await this.tx.run(
      `INSERT INTO sessions (id, tenant_id, member_id, generation, rotated_at, idle_expires_at, absolute_expires_at, own_pages, ip, user_agent, created_at, revoked_at, way, by_email_code)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        session.id,
        session.tenantId,
        session.memberId,
        session.generation,
        session.rotatedAt,
        session.idleExpiresAt,
        session.absoluteExpiresAt,
        session.ownPages ? 1 : 0,
        session.ip,
        session.userAgent,
        session.createdAt,
        session.revokedAt,
        session.way,
        session.byEmailCode ? 1 : 0,
      ],
    );
  }

  /** Increments the generation. Returns false if a concurrent request did so, or if the session was revoked. */
  async rotate({
    id,
    from,
    at,
    idleExpiresAt,
  }: {
    id: string;
    from: number;
    at: number;
    idleExpiresAt: number;
  }): Promise<boolean> {
    const moved = await this.tx.run(
      'UPDATE sessions SET generation = generation + 1, rotated_at = ?, idle_expires_at = ? WHERE id = ? AND generation = ? AND revoked_at IS NULL',
      [at, idleExpiresAt, id, from],
    );
    return moved === 1;
  }

  /** Returns false if it was revoked before. */
  async revoke({ id, at }: { id: string; at: number }): Promise<boolean> {
    return (
      (await this.tx.run('UPDATE sessions SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', [at, id])) === 1
    );
  }

  /** The member's active sessions, newest first. */
  async liveOf({
    tenantId,
    memberId,
    at,
  }: {
    tenantId: string;
    memberId: string;
    at: number;
  }): Promise<SessionRecord[]> {
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM sessions s WHERE s.tenant_id = ? AND s.member_id = ? AND ${LIVE} ORDER BY s.id DESC LIMIT 200`,
      [tenantId, memberId, at],
    );
    return rows.map(sessionOf);
  }

  /** Ends a session of this member. Returns false if there is no such active session. */
  async revokeOwn({
    id,
    tenantId,
    memberId,
    at,
  }: {
    id: string;
    tenantId: string;
    memberId: string;
    at: number;
  }): Promise<boolean> {
    return (
      (await this.tx.run(
        `UPDATE sessions AS s SET revoked_at = ? WHERE s.id = ? AND s.tenant_id = ? AND s.member_id = ? AND ${LIVE}`,
        [at, id, tenantId, memberId, at],
      )) === 1
    );
  }

  async countLive({ tenantId, at }: { tenantId: string; at: number }): Promise<number> {
    const row = await this.tx.get(`SELECT count(*) AS n FROM sessions s WHERE s.tenant_id = ? AND ${LIVE}`, [
      tenantId,
      at,
    ]);
    return Number(row?.['n'] ?? 0);
  }

  async revokeAllOf({ tenantId, memberId, at }: { tenantId: string; memberId: string; at: number }): Promise<number> {
    return this.tx.run(
      'UPDATE sessions SET revoked_at = ? WHERE tenant_id = ? AND member_id = ? AND revoked_at IS NULL',
      [at, tenantId, memberId],
    );
  }

  /** All of the member's sessions except this one. */
  async revokeOthersOf({
    tenantId,
    memberId,
    sessionId,
    at,
  }: {
    tenantId: string;
    memberId: string;
    sessionId: string;
    at: number;
  }): Promise<number> {
    return this.tx.run(
      'UPDATE sessions SET revoked_at = ? WHERE tenant_id = ? AND member_id = ? AND id <> ? AND revoked_at IS NULL',
      [at, tenantId, memberId, sessionId],
    );
  }
}

const COLUMNS =
  's.id, s.tenant_id, s.member_id, s.generation, s.rotated_at, s.idle_expires_at, s.absolute_expires_at, s.own_pages, s.ip, s.user_agent, s.created_at, s.revoked_at, s.way, s.by_email_code';

const LIVE = 's.revoked_at IS NULL AND s.idle_expires_at > ?';

const HOLDER = `SELECT ${COLUMNS},
  t.slug, t.name AS tenant_name, t.plan_code, t.status AS tenant_status, t.settings, t.directory_version,
  m.email, m.name AS member_name, m.status AS member_status, m.role_code, m.subject_scope, r.permissions, r.workflow_controls,
  CASE WHEN f.member_id IS NULL THEN 0 ELSE 1 END AS mfa_enrolled
  FROM sessions s
  JOIN tenants t ON t.id = s.tenant_id
  JOIN members m ON m.tenant_id = s.tenant_id AND m.id = s.member_id
  JOIN roles r ON r.tenant_id = m.tenant_id AND r.code = m.role_code
  LEFT JOIN mfa_totp f ON f.tenant_id = m.tenant_id AND f.member_id = m.id
  WHERE s.id = ?`;

const sessionOf = (row: Row): SessionRecord => ({
  id: textOf(row, 'id'),
  tenantId: textOf(row, 'tenant_id'),
  memberId: textOf(row, 'member_id'),
  generation: numberOf(row, 'generation'),
  rotatedAt: numberOf(row, 'rotated_at'),
  idleExpiresAt: numberOf(row, 'idle_expires_at'),
  absoluteExpiresAt: numberOf(row, 'absolute_expires_at'),
  ownPages: flagOf(row, 'own_pages'),
  ip: textOrNull(row, 'ip'),
  userAgent: textOrNull(row, 'user_agent'),
  createdAt: numberOf(row, 'created_at'),
  revokedAt: numberOrNull(row, 'revoked_at'),
  way: textOrNull(row, 'way') as Way | null,
  byEmailCode: flagOf(row, 'by_email_code'),
});

const holderOf = (row: Row): SessionHolder => ({
  session: sessionOf(row),
  tenant: {
    slug: textOf(row, 'slug'),
    name: textOf(row, 'tenant_name'),
    planCode: textOf(row, 'plan_code') as PlanCode,
    status: textOf(row, 'tenant_status') as TenantRecord['status'],
    settings: jsonOf(row, 'settings'),
  },
  member: {
    email: textOf(row, 'email'),
    name: textOf(row, 'member_name'),
    status: textOf(row, 'member_status') as MemberRecord['status'],
    roleCode: textOf(row, 'role_code'),
    subjectScope: jsonOrNull(row, 'subject_scope'),
    enrolled: flagOf(row, 'mfa_enrolled'),
  },
  role: { permissions: jsonOf(row, 'permissions'), workflowControls: jsonOf(row, 'workflow_controls') },
});
