import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { numberOf } from './rows.js';

/**
 * Failed sign-ins by key (an account, an address), existing or not; and other attempts that are limited in number over
 * all replicas, each kind with its prefix.
 */
export class LoginFailureStore {
  constructor(private readonly tx: Transaction) {}

  /** Until when the key is locked; 0 when it is not. */
  async lockedUntil({ key, at }: { key: string; at: number }): Promise<number> {
    const row = await this.tx.get('SELECT locked_until FROM login_failures WHERE key = ? AND locked_until > ?', [
      key,
      at,
    ]);
    return row ? numberOf(row, 'locked_until') : 0;
  }

  /**
   * Counts one failure more, in one statement, so that guesses sent at once are counted one after the other. Answers
   * the count and when it ends, or `undefined` (and counts nothing) when the key is locked by now. `slides` puts the
   * end off with each failure.
   */
  async count({
    key,
    at,
    windowMs,
    slides,
  }: {
    key: string;
    at: number;
    windowMs: number;
    slides: boolean;
  }): Promise<{ failures: number; expiresAt: number } | undefined> {
    const row = await this.tx.get(COUNT, [key, at + windowMs, at, slides ? 1 : 0, at, at]);
    return row && { failures: numberOf(row, 'failures'), expiresAt: numberOf(row, 'expires_at') };
  }

  async lock({ key, until }: { key: string; until: number }): Promise<void> {
    await this.tx.run('UPDATE login_failures SET locked_until = ? WHERE key = ?', [until, key]);
  }

  async clear(key: string): Promise<void> {
    await this.tx.run('DELETE FROM login_failures WHERE key = ?', [key]);
  }

  /** What has ended is of no use to anybody, and whoever guesses makes rows. */
  async deleteExpired({ at }: { at: number }): Promise<void> {
    await this.tx.run('DELETE FROM login_failures WHERE expires_at <= ? AND locked_until <= ?', [at, at]);
  }
}

const COUNT = `INSERT INTO login_failures (key, failures, locked_until, expires_at) VALUES (?, 1, 0, ?)
  ON CONFLICT (key) DO UPDATE SET
    failures = CASE WHEN login_failures.expires_at <= ? THEN 1 ELSE login_failures.failures + 1 END,
    expires_at = CASE WHEN ? = 1 OR login_failures.expires_at <= ? THEN excluded.expires_at ELSE login_failures.expires_at END
  WHERE login_failures.locked_until <= ?
  RETURNING failures, expires_at`;
