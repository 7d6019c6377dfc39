import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { numberOf, numberOrNull, textOf, textOrNull } from './rows.js';

/** `void` is placeholder mail without a recipient: it is never sent. */
export type MailStatus = 'not_sent' | 'queued' | 'sent' | 'failed' | 'void';

export interface MailRecord {
  readonly id: string;
  readonly tenantId: string | null;
  readonly template: string;
  readonly language: string;
  readonly recipient: string;
  /** The values of the template as sealed JSON; `null` after delivery. */
  readonly valuesSealed: string | null;
  readonly aboutKind: string | null;
  readonly aboutId: string | null;
  readonly status: MailStatus;
  readonly attempts: number;
  /** The time of the next attempt. */
  readonly nextAt: number;
  /** The time when the content expires. */
  readonly notAfter: number | null;
  /** An error code of the mail server or the network, never its text. */
  readonly lastError: string | null;
  readonly createdAt: number;
}

export class MailStore {
  constructor(private readonly tx: Transaction) {}

  /**
   * Placeholder mail replaces an earlier row with the same id; other mail is not inserted again. Returns whether a row
   * was written.
   */
  async insert(mail: MailRecord): Promise<boolean> {
    const written = await this.tx.run(
      `INSERT INTO mail_outbox (${COLUMNS}, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, updated_at = excluded.updated_at, not_after = excluded.not_after WHERE mail_outbox.status = 'void'`,
      [
        mail.id,
        mail.tenantId,
        mail.template,
        mail.language,
        mail.recipient,
        mail.valuesSealed,
        mail.aboutKind,
        mail.aboutId,
        mail.status,
        mail.attempts,
        mail.nextAt,
        mail.notAfter,
        mail.lastError,
        mail.createdAt,
        mail.createdAt,
      ],
    );
    return written > 0;
  }

  /** The mail that is due, oldest first. */
  async due({ at, limit }: { at: number; limit: number }): Promise<MailRecord[]> {
    return (
      await this.tx.all(
        `SELECT ${COLUMNS} FROM mail_outbox WHERE status = 'queued' AND next_at <= ? ORDER BY next_at, id LIMIT ?`,
        [at, limit],
      )
    ).map(mailOf);
  }

  /** How many mails are due, counted up to a limit, and since when the oldest waits. */
  async dueSince({ at, limit }: { at: number; limit: number }): Promise<{ count: number; since: number | null }> {
    const row = await this.tx.get(
      "SELECT count(*) AS n, min(next_at) AS since FROM (SELECT next_at FROM mail_outbox WHERE status = 'queued' AND next_at <= ? ORDER BY next_at LIMIT ?) AS due",
      [at, limit],
    );
    return { count: Number(row?.['n'] ?? 0), since: row ? numberOrNull(row, 'since') : null };
  }

  /**
   * Claims the mail for one attempt until `nextAt`. Returns false if another process was faster, or if the mail was
   * withdrawn.
   */
  async claim({
    id,
    attempts,
    nextAt,
    at,
  }: {
    id: string;
    attempts: number;
    nextAt: number;
    at: number;
  }): Promise<boolean> {
    return (
      (await this.tx.run(
        "UPDATE mail_outbox SET attempts = attempts + 1, next_at = ?, updated_at = ? WHERE id = ? AND status = 'queued' AND attempts = ?",
        [nextAt, at, id, attempts],
      )) === 1
    );
  }

  /**
   * Records the end of the attempt with this number; a later attempt has its own. The values of settled mail are
   * deleted.
   */
  async settle({
    id,
    attempts,
    status,
    nextAt,
    lastError,
    at,
  }: {
    id: string;
    attempts: number;
    status: MailStatus;
    nextAt: number;
    lastError: string | null;
    at: number;
  }): Promise<boolean> {
    const settled = await this.tx.run(
      "UPDATE mail_outbox SET status = ?, next_at = ?, last_error = ?, updated_at = ?, values_sealed = CASE WHEN ? = 'queued' THEN values_sealed ELSE NULL END WHERE id = ? AND status = 'queued' AND attempts = ?",
      [status, nextAt, lastError, at, status, id, attempts],
    );
    return settled === 1;
  }

  async byId(id: string): Promise<MailRecord | undefined> {
    const row = await this.tx.get(`SELECT ${COLUMNS} FROM mail_outbox WHERE id = ?`, [id]);
    return row && mailOf(row);
  }

  /** Oldest first. */
  async listed({
    tenantId,
    statuses,
    limit,
  }: {
    tenantId?: string | undefined;
    statuses: readonly ('queued' | 'failed')[];
    limit: number;
  }): Promise<(MailRecord & { readonly status: 'queued' | 'failed' })[]> {
    if (statuses.length === 0) return [];
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM mail_outbox WHERE status IN (${statuses.map(() => '?').join(', ')})${tenantId === undefined ? '' : ' AND tenant_id = ?'} ORDER BY created_at, id LIMIT ?`,
      [...statuses, ...(tenantId === undefined ? [] : [tenantId]), limit],
    );
    return rows.map((row) => ({ ...mailOf(row), status: textOf(row, 'status') as 'queued' | 'failed' })); // by the query
  }

  /** Makes a waiting mail due. Returns whether it was waiting. An attempt under way may then be repeated. */
  async bringForward({ id, at }: { id: string; at: number }): Promise<boolean> {
    return (
      (await this.tx.run("UPDATE mail_outbox SET next_at = ?, updated_at = ? WHERE id = ? AND status = 'queued'", [
        at,
        at,
        id,
      ])) === 1
    );
  }

  /** Deletes mail that has not been sent. */
  async withdraw({
    tenantId,
    aboutKind,
    aboutId,
    template,
  }: {
    tenantId: string;
    aboutKind: string;
    aboutId: string;
    template: string;
  }): Promise<number> {
    return this.tx.run(
      "DELETE FROM mail_outbox WHERE tenant_id = ? AND about_kind = ? AND about_id = ? AND template = ? AND status = 'queued'",
      [tenantId, aboutKind, aboutId, template],
    );
  }

  /** The status of the latest mail about each record of the kind, by the record's id. */
  async statuses({ tenantId, aboutKind }: { tenantId: string; aboutKind: string }): Promise<Map<string, MailStatus>> {
    const rows = await this.tx.all(
      'SELECT about_id, status FROM mail_outbox WHERE tenant_id = ? AND about_kind = ? AND about_id IS NOT NULL ORDER BY id',
      [tenantId, aboutKind],
    );
    return new Map(rows.map((row) => [textOf(row, 'about_id'), textOf(row, 'status') as MailStatus]));
  }
}

const COLUMNS =
  'id, tenant_id, template, language, recipient, values_sealed, about_kind, about_id, status, attempts, next_at, not_after, last_error, created_at';

const mailOf = (row: Row): MailRecord => ({
  id: textOf(row, 'id'),
  tenantId: textOrNull(row, 'tenant_id'),
  template: textOf(row, 'template'),
  language: textOf(row, 'language'),
  recipient: textOf(row, 'recipient'),
  valuesSealed: textOrNull(row, 'values_sealed'),
  aboutKind: textOrNull(row, 'about_kind'),
  aboutId: textOrNull(row, 'about_id'),
  status: textOf(row, 'status') as MailStatus,
  attempts: numberOf(row, 'attempts'),
  nextAt: numberOf(row, 'next_at'),
  notAfter: numberOrNull(row, 'not_after'),
  lastError: textOrNull(row, 'last_error'),
  createdAt: numberOf(row, 'created_at'),
});
