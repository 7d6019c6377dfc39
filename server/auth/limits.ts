import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { networkOf } from '../../data-plane-agent/base/http/network.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { LoginFailureStore } from '../store/login-failures.js';

/** A sign-in attempt: the named account, whether or not it exists, and the IP address. */
export interface Attempt {
  readonly account: { readonly tenantSlug: string; readonly email: string } | null;
  readonly ip: string;
}

/**
 * Limits on failures, not on requests. They are stored in the database, so they apply to all replicas and after a
 * restart. An attempt first calls `refuseLocked`, and records its result later, in the transaction of its outcome. Of
 * concurrent guesses, only as many get a result as the limit allows: the others find the account locked.
 */
export interface LoginLimits {
  /** Throws RATE_LIMITED while the account or the address is locked. */
  refuseLocked(attempt: Attempt): Promise<void>;
  /**
   * For an attempt with a right password that needs a second factor, which is neither a failure nor a success. Counts
   * nothing; returns the same as `failed`.
   */
  locked(tx: Transaction, attempt: Attempt): Promise<number | undefined>;
  /** Counts a failure. Returns the seconds to wait if the result of the attempt must not be revealed. */
  failed(tx: Transaction, attempt: Attempt): Promise<number | undefined>;
  /**
   * Clears the account's failures, but not the address's, which an attacker with an account could otherwise clear.
   * Returns the same as `failed`.
   */
  succeeded(tx: Transaction, attempt: Attempt): Promise<number | undefined>;
  /** Clears the account's failures and its lock, for an operator. Returns whether it was locked. */
  unlock(tx: Transaction, account: NonNullable<Attempt['account']>): Promise<boolean>;
}

/** The numbers of failures until the first lock; 0 disables a limit. */
export function createLoginLimits({
  database,
  clock,
  failuresPerAccount,
  failuresPerIp,
}: {
  database: Database;
  clock: Clock;
  failuresPerAccount: number;
  failuresPerIp: number;
}): LoginLimits {
  // Always the account first: concurrent transactions must lock both keys in the same order.
  const keysOf = ({ account, ip }: Attempt): Counted[] => [
    ...(account && failuresPerAccount > 0 ? [{ key: accountKey(account), ...ACCOUNT, limit: failuresPerAccount }] : []),
    ...(failuresPerIp > 0 ? [{ key: addressKey(ip), ...ADDRESS, limit: failuresPerIp }] : []),
  ];
  const waitOf = async (tx: Transaction, keys: readonly Counted[], at: number): Promise<number | undefined> => {
    const store = new LoginFailureStore(tx);
    let until = 0;
    for (const { key } of keys) until = Math.max(until, await store.lockedUntil({ key, at }));
    return until > at ? secondsUntil(until, at) : undefined;
  };

  return {
    refuseLocked: async (attempt) => {
      const keys = keysOf(attempt);
      if (keys.length === 0) return;
      const wait = await database.read({ tenantId: null }, (tx) => waitOf(tx, keys, clock.now()));
      if (wait !== undefined) throw fail('RATE_LIMITED', { retryAfterSeconds: wait });
    },

    locked: (tx, attempt) => waitOf(tx, keysOf(attempt), clock.now()),

    failed: async (tx, attempt) => {
      const at = clock.now();
      const keys = keysOf(attempt);
      const store = new LoginFailureStore(tx);
      await store.deleteExpired({ at });
      for (const { key, windowMs, slides, limit, lockMs } of keys) {
        const counted = await store.count({ key, at, windowMs, slides });
        // Locked by a concurrent failure: the result of this attempt is not revealed.
        if (!counted) return waitOf(tx, keys, at);
        if (counted.failures >= limit)
          await store.lock({
            key,
            until: at + lockMs({ beyond: counted.failures - limit, leftMs: counted.expiresAt - at }),
          });
      }
      return undefined;
    },

    succeeded: async (tx, attempt) => {
      const keys = keysOf(attempt);
      const wait = await waitOf(tx, keys, clock.now());
      if (wait === undefined && attempt.account) await new LoginFailureStore(tx).clear(accountKey(attempt.account));
      return wait;
    },

    unlock: async (tx, account) => {
      const store = new LoginFailureStore(tx);
      const until = await store.lockedUntil({ key: accountKey(account), at: clock.now() });
      await store.clear(accountKey(account));
      return until > 0;
    },
  };
}

interface Rule {
  readonly windowMs: number;
  /** Each failure restarts the window. */
  readonly slides: boolean;
  /**
   * The duration of the lock: `beyond` is the number of failures after the one that caused the first lock, `leftMs` the
   * rest of the window.
   */
  lockMs(failure: { readonly beyond: number; readonly leftMs: number }): number;
}
type Counted = Rule & { readonly key: string; readonly limit: number };

const MINUTE_MS = 60_000;

/** 30 seconds, doubling up to 15 minutes; cleared after 12 hours without a failure. */
const ACCOUNT: Rule = {
  windowMs: 12 * 60 * MINUTE_MS,
  slides: true,
  lockMs: ({ beyond }) => Math.min(30_000 * 2 ** Math.min(beyond, 10), 15 * MINUTE_MS),
};

/** A fixed window of 15 minutes. */
const ADDRESS: Rule = { windowMs: 15 * MINUTE_MS, slides: false, lockMs: ({ leftMs }) => Math.max(leftMs, 1_000) };

/** Hashed, because users sometimes type a password into the email field. */
const accountKey = ({ tenantSlug, email }: { tenantSlug: string; email: string }): string =>
  `account:${sha256Hex(`${tenantSlug}\n${email}`)}`;

/** For IPv6, the network: a subscriber has 2^64 addresses. */
export const addressKey = (ip: string): string => `ip:${sha256Hex(networkOf(ip))}`;

const secondsUntil = (until: number, at: number): number => Math.max(1, Math.ceil((until - at) / 1_000));
