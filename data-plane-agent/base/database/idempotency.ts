import type { Clock } from '../clock.js';
import type { Transaction } from './database.js';
import { fail, FAILURES, isFailure, type DetailsOf, type Failure, type FailureCode } from '../failures.js';
import type { IdempotencyKey } from '../idempotency-key.js';
import { together } from '../together.js';
import { stringifyYielding } from '../json-pieces.js';
import type { KeyRing } from '../secrets.js';

/** How long responses are stored: one day. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** The outcome of a write: an output or a refusal. Both are stored and returned for a repeated request. */
export type Settled =
  { readonly output: unknown; readonly replayed: boolean } | { readonly failure: Failure; readonly replayed: boolean };
/** Schedules the deletion of a stored response. */
export type KeptAnswer = (
  tx: Transaction,
  answer: { readonly tenantId: string; readonly expiresAt: number },
) => Promise<void>;
/** The tenant of the write, and its idempotency key. */
export interface Keyed {
  readonly tenantId: string;
  readonly idempotency: IdempotencyKey | null;
}
type Stored = { readonly output: unknown } | { readonly code: FailureCode; readonly details: DetailsOf<FailureCode> };

/**
 * Ensures that a write sent twice with one idempotency key runs once: the response is stored, sealed, in the
 * transaction of the write.
 */
export class IdempotencyStore {
  private readonly running = new Set<string>();

  constructor(
    private readonly keyRing: KeyRing,
    private readonly clock: Clock,
    private readonly kept: KeptAnswer,
  ) {}

  /**
   * Refuses a second request with the key while the first one is running in this process. `once` does so across
   * processes.
   */
  async alone<T>(call: Keyed, work: () => Promise<T>): Promise<T> {
    if (!call.idempotency) return work();
    const key = `${call.tenantId}/${call.idempotency.key}`;
    if (this.running.has(key)) throw fail('IDEMPOTENCY_IN_PROGRESS', {});
    this.running.add(key);
    try {
      return await work();
    } finally {
      this.running.delete(key);
    }
  }

  async once(
    tx: Transaction,
    { call, operation }: { readonly call: Keyed; readonly operation: string },
    work: () => Promise<unknown>,
  ): Promise<Settled> {
    if (!call.idempotency) return { output: await work(), replayed: false };
    const { key, requestHash } = call.idempotency;
    const [, stored] = await together(this.lockKey(tx, call.tenantId, key), this.stored(tx, call, operation));
    if (stored) return stored;
    const settled = await this.attempt(tx, work);
    const answer: Stored =
      'failure' in settled
        ? { code: settled.failure.code, details: settled.failure.details }
        : { output: settled.output };
    const expiresAt = this.clock.now() + KEPT_MS;
    await tx.defer(
      `INSERT INTO idempotency_records (tenant_id, key, operation, request_hash, answer, expires_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant_id, key) DO UPDATE SET operation = excluded.operation, request_hash = excluded.request_hash, answer = excluded.answer, expires_at = excluded.expires_at`,
      [
        call.tenantId,
        key,
        operation,
        requestHash,
        this.keyRing.seal(await stringifyYielding(answer), context(call.tenantId, key)),
        expiresAt,
      ],
    );
    await this.kept(tx, { tenantId: call.tenantId, expiresAt });
    return settled;
  }

  /** The stored outcome for the key; `undefined` when nothing is stored. */
  async stored(tx: Transaction, { tenantId, idempotency }: Keyed, operation: string): Promise<Settled | undefined> {
    if (!idempotency) return undefined;
    const { key, requestHash } = idempotency;
    const row = await tx.get(
      'SELECT operation, request_hash, answer, expires_at FROM idempotency_records WHERE tenant_id = ? AND key = ?',
      [tenantId, key],
    );
    if (!row || Number(row['expires_at']) <= this.clock.now()) return undefined;
    if (row['request_hash'] !== requestHash || row['operation'] !== operation)
      return { failure: fail('IDEMPOTENCY_KEY_REUSED', {}), replayed: false };
    return replay(JSON.parse(this.keyRing.openText(String(row['answer']), context(tenantId, key))) as Stored);
  }

  /**
   * A refusal rolls back the write and is stored as its response. Other errors, including rate limits, are not stored:
   * a retry may succeed.
   */
  private async attempt(tx: Transaction, work: () => Promise<unknown>): Promise<Settled> {
    try {
      return { output: await tx.savepoint(work, { isLazy: true }), replayed: false };
    } catch (error) {
      if (isRefusal(error)) return { failure: error, replayed: false };
      throw error;
    }
  }

  /**
   * On PostgreSQL two replicas may run the same request at once; the lock ends with the transaction. SQLite has one
   * writer.
   */
  private async lockKey(tx: Transaction, tenantId: string, key: string): Promise<void> {
    if (tx.dialect !== 'postgres') return;
    const row = await tx.get('SELECT pg_try_advisory_xact_lock(hashtextextended(?, 0))::int AS mine', [
      `${tenantId}/${key}`,
    ]);
    if (row?.['mine'] !== 1) throw fail('IDEMPOTENCY_IN_PROGRESS', {});
  }
}

/** A failure that a retry of the same request would get again. */
export const isRefusal = (error: unknown): error is Failure =>
  isFailure(error) &&
  !TRANSIENT.includes(error.code) &&
  FAILURES[error.code].status < 500 &&
  FAILURES[error.code].status !== 429;

/**
 * Not stored: validation precedes the write, and the other conditions end when another request finishes, the client
 * waits, or the user signs in again.
 */
const TRANSIENT: readonly string[] = [
  'INVALID_INPUT',
  'UNAUTHENTICATED',
  'RECENT_LOGIN_REQUIRED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
  'FILE_BEING_CONFIRMED',
  'FILE_NOT_UPLOADED',
  'FILE_SCAN_PENDING',
];

const context = (tenantId: string, key: string) => `idempotency_records.answer.${tenantId}.${key}`;

const replay = (stored: Stored): Settled =>
  'output' in stored
    ? { output: stored.output, replayed: true }
    : { failure: fail(stored.code, stored.details, { replayed: true }), replayed: true };
