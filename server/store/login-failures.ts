import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { numberOf } from './rows.js';

/**
 * Failed sign-ins by key (an account, whether or not it exists, or an address), and other attempts that are limited
 * across all replicas, each kind with its own key prefix.
 */
export class LoginFailureStore {
  constructor(private readonly tx: Transaction) {}

  /** Until when the key is locked; 0 if it is not. */
  async lockedUntil({ key, at }: { key: string; at: number }): Promise<number> {
    const row = await this.tx.get('SELECT locked_until FROM login_failures WHERE key = ? AND locked_until > ?', [
      key,
      at,
    ]);
    return row ? numberOf(row, 'locked_until') : 0;
  }

  /**
   * Counts a failure in one statement, so that concurrent guesses are counted one after the other. Returns the count
   * and the end of the window, or `undefined` without counting if the key is locked. With `slides` each failure extends
   * the window.
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

  /** Deletes expired rows, which guessing could otherwise accumulate. */
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
