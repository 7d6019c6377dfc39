import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { networkOf } from '../../data-plane-agent/base/http/network.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { LoginFailureStore } from '../store/login-failures.js';

/** Who tries to sign in: the account that was named, whether or not it exists, and from where. */
export interface Attempt {
  readonly account: { readonly tenantSlug: string; readonly email: string } | null;
  readonly ip: string;
}

/**
 * Limits on failures, not on requests, kept in the database: they hold for all replicas and after a restart.
 * An attempt asks before its work (`refuseLocked`) and is settled after it, in the transaction of its outcome. Of
 * guesses that are sent at once only as many are told their outcome as the limit allows: the rest finds the account
 * locked when it is settled.
 */
export interface LoginLimits {
  /** Throws RATE_LIMITED while account or address are locked. */
  refuseLocked(attempt: Attempt): Promise<void>;
  /**
   * For an attempt that neither failed nor succeeded yet: a password was right, and more is asked for. Counts nothing,
   * answers as `failed`.
   */
  locked(tx: Transaction, attempt: Attempt): Promise<number | undefined>;
  /** Counts a failure. Answers the seconds to wait when the attempt must not be told its outcome. */
  failed(tx: Transaction, attempt: Attempt): Promise<number | undefined>;
  /**
   * Forgets the account's failures; the address's stay, lest a guesser with an account of his own clear them. Answers
   * as `failed`.
   */
  succeeded(tx: Transaction, attempt: Attempt): Promise<number | undefined>;
  /** Forgets the account's failures, and with them its lock: for an operator. Answers whether it was locked. */
  unlock(tx: Transaction, account: NonNullable<Attempt['account']>): Promise<boolean>;
}

/** Failures until the first lock; 0 turns a limit off. */
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
  // Always the account first: two transactions that count both must lock them in one order.
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
        // Locked by a failure that was quicker; what this attempt found out stays untold.
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
  /** Each failure begins the window anew. */
  readonly slides: boolean;
  /**
   * How long the key is locked: `beyond` is the number of failures after the first that locked, `leftMs` what is left
   * of the window.
   */
  lockMs(failure: { readonly beyond: number; readonly leftMs: number }): number;
}
type Counted = Rule & { readonly key: string; readonly limit: number };

const MINUTE_MS = 60_000;

/** 30 s, doubling to 15 minutes; forgotten after 12 hours without a failure. */
const ACCOUNT: Rule = {
  windowMs: 12 * 60 * MINUTE_MS,
  slides: true,
  lockMs: ({ beyond }) => Math.min(30_000 * 2 ** Math.min(beyond, 10), 15 * MINUTE_MS),
};

/** A quarter of an hour, and then anew. */
const ADDRESS: Rule = { windowMs: 15 * MINUTE_MS, slides: false, lockMs: ({ leftMs }) => Math.max(leftMs, 1_000) };

/** Hashed, because people type passwords into the email's place. */
const accountKey = ({ tenantSlug, email }: { tenantSlug: string; email: string }): string =>
  `account:${sha256Hex(`${tenantSlug}\n${email}`)}`;

/** Of an IPv6 address the network: a subscriber has 2^64 addresses. */
export const addressKey = (ip: string): string => `ip:${sha256Hex(networkOf(ip))}`;

const secondsUntil = (until: number, at: number): number => Math.max(1, Math.ceil((until - at) / 1_000));
