import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import { fail } from '../../base/failures.js';
import type { KeyRing } from '../../base/secrets.js';
import type { Call } from '../contract/call.js';
import { runningImports, type RunningImportRow } from '../tables/imports.js';
import type { ChangeRecorder } from './change-recorder.js';

/**
 * The lease of a process that died ends after this time, and another one takes over. It is renewed with every part of
 * the import.
 */
export const IMPORT_LEASE_MS = 30_000;

/** An import, and who works on it. */
export type ImportLease = Pick<RunningImportRow, 'id' | 'holder'>;

type PartKind = 'input' | 'outcomes';

/** The long imports in progress. Whoever works on one leases it; the work of one whose lease was taken is undone. */
export class RunningImportStore {
  private readonly clock: Clock;
  private readonly keyRing: KeyRing;
  private readonly recorder: ChangeRecorder;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    {
      clock,
      keyRing,
      recorder,
    }: { readonly clock: Clock; readonly keyRing: KeyRing; readonly recorder: ChangeRecorder },
  ) {
    this.clock = clock;
    this.keyRing = keyRing;
    this.recorder = recorder;
  }

  /** The number of imports that have to be finished. */
  async entering(): Promise<number> {
    const row = await this.tx.get(
      "SELECT count(*) AS n FROM running_imports WHERE tenant_id = ? AND state = 'entering'",
      [this.call.tenantId],
    );
    return Number(row?.['n']);
  }

  async ofKey(idempotencyKey: string): Promise<RunningImportRow | undefined> {
    const row = await this.tx.get(
      `SELECT ${runningImports.columnNames} FROM running_imports WHERE tenant_id = ? AND idempotency_key = ?`,
      [this.call.tenantId, idempotencyKey],
    );
    return row && runningImports.decode(row);
  }

  /** The import whose lease has ended first. */
  async interrupted(): Promise<RunningImportRow | undefined> {
    const row = await this.tx.get(
      `SELECT ${runningImports.columnNames} FROM running_imports WHERE tenant_id = ? AND leased_until <= ? ORDER BY leased_until LIMIT 1`,
      [this.call.tenantId, this.clock.now()],
    );
    return row && runningImports.decode(row);
  }

  /** Returns whether it has begun: no other import may have its idempotency key. */
  begin({ id, holder }: ImportLease): Promise<boolean> {
    const leasedUntil = this.leaseEnd();
    this.recorder.due.at('imports', leasedUntil);
    const { idempotency } = this.call;
    return this.internally(
      async () =>
        (await runningImports.insertNew(this.tx, this.call.tenantId, [
          {
            id,
            state: 'staging',
            call: this.call,
            idempotencyKey: idempotency?.key ?? null,
            holder,
            leasedUntil,
            attempts: 1,
          },
        ])) > 0,
    );
  }

  /** From here on the import is finished, and never forgotten. */
  async enter(lease: ImportLease): Promise<void> {
    await this.held("state = 'entering'", lease);
  }

  /**
   * Renews the lease. Throws DATA_PLANE_OUTCOME_UNKNOWN if another process has taken it: what this transaction does is
   * done by that one. To be called first, since on PostgreSQL it makes that one wait.
   */
  async renew(lease: ImportLease): Promise<void> {
    await this.held('attempts = 1', lease);
  }

  /**
   * As `renew`, for several transactions at once, and the lease ends when it did: on PostgreSQL the process that takes it
   * waits for all of them.
   */
  async hold({ id, holder }: ImportLease): Promise<void> {
    const lock = this.tx.dialect === 'postgres' ? ' FOR SHARE' : '';
    const found = await this.tx.get(
      `SELECT id FROM running_imports WHERE tenant_id = ? AND id = ? AND holder = ?${lock}`,
      [this.call.tenantId, id, holder],
    );
    if (!found) throw this.taken();
  }

  /** Takes an interrupted import over; returns whether nobody else has. */
  take({ id, holder }: ImportLease, by: string): Promise<boolean> {
    const leasedUntil = this.leaseEnd();
    this.recorder.due.at('imports', leasedUntil);
    return this.internally(
      async () =>
        (await this.tx.run(
          'UPDATE running_imports SET holder = ?, leased_until = ?, attempts = attempts + 1 WHERE tenant_id = ? AND id = ? AND holder = ?',
          [by, leasedUntil, this.call.tenantId, id, holder],
        )) > 0,
    );
  }

  /** Lets others take over at once. An attempt that was stopped from outside does not count. */
  async release({ id, holder }: ImportLease, { counts }: { readonly counts: boolean }): Promise<void> {
    const now = this.clock.now();
    this.recorder.due.at('imports', now);
    await this.internally(() =>
      this.tx.run(
        'UPDATE running_imports SET leased_until = ?, attempts = attempts - ? WHERE tenant_id = ? AND id = ? AND holder = ?',
        [now, counts ? 0 : 1, this.call.tenantId, id, holder],
      ),
    );
  }

  /** Removes an import of which nothing was entered, if it still is one. */
  async discard(lease: ImportLease): Promise<void> {
    await this.removed(lease, "AND state = 'staging'");
  }

  /** Removes an import that has ended. Throws as `renew` does. */
  async remove(lease: ImportLease): Promise<void> {
    if (!(await this.removed(lease))) throw this.taken();
  }

  async addPart(
    { id }: Pick<ImportLease, 'id'>,
    { kind, position, content }: { readonly kind: PartKind; readonly position: number; readonly content: Uint8Array },
  ): Promise<void> {
    await this.internally(() =>
      this.tx.run(
        'INSERT INTO running_import_parts (tenant_id, import_id, kind, position, content) VALUES (?, ?, ?, ?, ?)',
        [this.call.tenantId, id, kind, position, this.keyRing.seal(content, this.sealContext({ id, kind, position }))],
      ),
    );
  }

  /** The first position after those of all parts: of several that were written at once, some may be missing. */
  async nextPosition({ id }: Pick<ImportLease, 'id'>, kind: PartKind): Promise<number> {
    const row = await this.tx.get(
      'SELECT max(position) AS last FROM running_import_parts WHERE tenant_id = ? AND import_id = ? AND kind = ?',
      [this.call.tenantId, id, kind],
    );
    return Number(row?.['last'] ?? -1) + 1;
  }

  /** The parts in their order. */
  async parts({ id }: Pick<ImportLease, 'id'>, kind: PartKind): Promise<Uint8Array[]> {
    const rows = await this.tx.all(
      'SELECT position, content FROM running_import_parts WHERE tenant_id = ? AND import_id = ? AND kind = ? ORDER BY position',
      [this.call.tenantId, id, kind],
    );
    return rows.map(({ position, content }) =>
      this.keyRing.open(String(content), this.sealContext({ id, kind, position: Number(position) })),
    );
  }

  private async held(change: "state = 'entering'" | 'attempts = 1', { id, holder }: ImportLease): Promise<void> {
    const renewed = await this.internally(() =>
      this.tx.run(
        `UPDATE running_imports SET ${change}, leased_until = ? WHERE tenant_id = ? AND id = ? AND holder = ?`,
        [this.leaseEnd(), this.call.tenantId, id, holder],
      ),
    );
    if (renewed === 0) throw this.taken();
  }

  /** Removes an import with its parts; returns whether it was there, and leased to this holder. */
  private removed({ id, holder }: ImportLease, condition: '' | "AND state = 'staging'" = ''): Promise<boolean> {
    const { tenantId } = this.call;
    return this.internally(async () => {
      const found = await this.tx.run(
        `DELETE FROM running_imports WHERE tenant_id = ? AND id = ? AND holder = ? ${condition}`,
        [tenantId, id, holder],
      );
      if (found === 0) return false;
      await this.tx.run('DELETE FROM running_import_parts WHERE tenant_id = ? AND import_id = ?', [tenantId, id]);
      return true;
    });
  }

  private leaseEnd(): number {
    return this.clock.now() + IMPORT_LEASE_MS;
  }

  private taken() {
    const { idempotency, requestId } = this.call;
    return fail('DATA_PLANE_OUTCOME_UNKNOWN', { operationId: idempotency?.key ?? requestId });
  }

  private sealContext({ id, kind, position }: { id: string; kind: PartKind; position: number }): string {
    return `running_import_parts.content.${this.call.tenantId}.${id}.${kind}.${position}`;
  }

  /** The import's own progress is no contract data. */
  private async internally<T>(write: () => Promise<T>): Promise<T> {
    const before = this.tx.writes;
    const result = await write();
    this.recorder.internalWrites += this.tx.writes - before;
    return result;
  }
}
