import type { Clock } from '../base/clock.js';
import type { Database, Transaction } from '../base/database/database.js';
import { isFailure } from '../base/failures.js';
import { newId } from '../base/ids.js';
import type { Log } from '../base/log.js';
import { bind, type BoundPlane, type DataPlane } from '../plane/contract/data-plane.js';
import { OPERATIONS, type Operations } from '../plane/operations/index.js';
import { nextDue } from '../plane/store/due-next.js';
import {
  bringForward,
  findDue,
  leaseDue,
  moveDue,
  settleDue,
  tenantsAhead,
  type DueWork,
  type WorkKind,
} from '../plane/store/due-work.js';
import { systemCall, type WorkedTenant } from './system-call.js';

/** Tenants processed in parallel, so that a slow one delays only a few others. */
const AT_ONCE = 4;
/** The maximum number of steps per tenant and round, so that a tenant with much work does not delay the others. */
const STEPS = 50;
/** Due work fetched per query. */
const BATCH = 200;
/**
 * The lease of a process that died expires after this time; a running one renews it. Failed work is retried after it.
 */
const LEASE_MS = 60_000;
/** When to retry the work of a tenant that is suspended or unknown. */
const PUT_OFF_MS = 3_600_000;
/** Sorts before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';
/** Not logged: the work is retried when the database is available, or the data is no longer being moved. */
const UNAVAILABLE = ['DATA_PLANE_NOT_CONNECTED', 'DATA_PLANE_UNAVAILABLE', 'DATA_MOVING', 'DATA_MOVED'] as const;

/** Returns those of the given tenants that are to be worked for now; the work of the others is postponed. */
export type FindTenants = (ids: readonly string[]) => Promise<readonly WorkedTenant[]>;

/** A step on one tenant's data plane, repeated while it reports more work. */
export type Step = (plane: BoundPlane<Operations>, tenantId: string) => Promise<{ readonly more: boolean }>;

export interface UpkeepParts {
  readonly database: Database;
  readonly plane: DataPlane<Operations>;
  readonly clock: Clock;
  readonly log: Log;
  readonly tenants: FindTenants;
}

export interface Round {
  /** The name of the job, which appears in the audit and the log. */
  readonly job: string;
  readonly steps: Readonly<Partial<Record<WorkKind, Step>>>;
  readonly signal?: AbortSignal | undefined;
}

export interface Upkeep {
  /**
   * Does the due work of these kinds. If there is none, it costs one query. Each piece of work is done by one process.
   */
  round(round: Round): Promise<void>;
  /** Makes later work of a kind due now, for every tenant that has any. */
  bringForward(kind: WorkKind, signal?: AbortSignal): Promise<void>;
}

export function createUpkeep({ database, plane, clock, log, tenants }: UpkeepParts): Upkeep {
  const writeOf = <T>({ tenantId }: Pick<DueWork, 'tenantId'>, work: (tx: Transaction) => Promise<T>): Promise<T> =>
    database.write({ tenantId }, work);

  async function round({ job, steps, signal }: Round): Promise<void> {
    const kinds = Object.keys(steps) as WorkKind[]; // the keys of `steps`
    const seen = new Set<string>();
    // Work that becomes due again is left for the next round.
    for (;;) {
      const found = (await findDue(database, { kinds, now: clock.now(), limit: BATCH })).filter(
        (due) => !seen.has(keyOf(due)),
      );
      if (found.length === 0 || signal?.aborted) return;
      for (const due of found) seen.add(keyOf(due));
      const known = new Map(
        (await tenants([...new Set(found.map(({ tenantId }) => tenantId))])).map((tenant) => [tenant.id, tenant]),
      );
      await inParallel(found, signal, async (due) => {
        const tenant = known.get(due.tenantId);
        const step = steps[due.kind];
        if (!step) return;
        await (tenant ? work({ due, tenant, step, job, signal }) : putOff(due)).catch((error: unknown) =>
          logFailure({ error, job, due }),
        );
      });
    }
  }

  async function work({
    due,
    tenant,
    step,
    job,
    signal,
  }: {
    readonly due: DueWork;
    readonly tenant: WorkedTenant;
    readonly step: Step;
    readonly job: string;
    readonly signal: AbortSignal | undefined;
  }): Promise<void> {
    const lease = await leased(due);
    if (!lease) return; // another process has it
    try {
      const actor = { kind: 'system', id: null, name: job, ip: null } as const;
      for (let left = STEPS; left > 0 && !signal?.aborted; left -= 1) {
        const call = systemCall({ tenant, actor, requestId: newId(), at: clock.now() });
        if (!(await step(bind(plane, call, { operations: OPERATIONS, signal }), tenant.id)).more) break;
      }
    } catch (error) {
      // Work interrupted by shutdown is released for the next process; failed work is retried when its lease expires.
      if (!signal?.aborted) {
        await lease.end();
        logFailure({ error, job, due });
        return;
      }
    }
    const until = await lease.end();
    await writeOf(due, (tx) => {
      const now = clock.now();
      return settleDue(tx, { due, leasedUntil: until }, async () => {
        const next = await nextDue(due.kind, { tx, tenantId: due.tenantId, timeZone: tenant.timeZone, now });
        return next === null ? null : Math.max(next, now); // queued behind work that has waited longer
      });
    });
  }

  /** Leases the work and renews the lease until `end` is called. */
  async function leased(due: DueWork): Promise<{ end(): Promise<number> } | undefined> {
    const now = clock.now();
    let until = now + LEASE_MS;
    if (!(await writeOf(due, (tx) => leaseDue(tx, due, { now, until })))) return undefined;
    let renewal: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
      renewal = (async () => {
        const to = clock.now() + LEASE_MS;
        // If a writer has rescheduled the work, the lease is not renewed, since it is due anyway.
        if (await writeOf(due, (tx) => moveDue(tx, due, { from: until, to }))) until = to;
      })().catch((error: unknown) =>
        log.warn({ err: error, tenantId: due.tenantId, kind: due.kind }, 'lease of due work not renewed'),
      );
    }, LEASE_MS / 2);
    return {
      async end() {
        clearInterval(timer);
        await renewal;
        return until;
      },
    };
  }

  async function putOff(due: DueWork): Promise<void> {
    const now = clock.now();
    await writeOf(due, (tx) => leaseDue(tx, due, { now, until: now + PUT_OFF_MS }));
  }

  function logFailure({
    error,
    job,
    due,
  }: {
    readonly error: unknown;
    readonly job: string;
    readonly due: DueWork;
  }): void {
    if (!UNAVAILABLE.some((code) => isFailure(error, code)))
      log.error({ err: error, job, tenantId: due.tenantId }, 'scheduled work failed for an organisation');
  }

  return {
    round,
    async bringForward(kind, signal) {
      for (let after = FIRST; !signal?.aborted;) {
        const now = clock.now();
        const ids = await tenantsAhead(database, { kind, now, after, limit: BATCH });
        for (const tenantId of ids) await writeOf({ tenantId }, (tx) => bringForward(tx, { tenantId, kind }, now));
        const last = ids.at(-1);
        if (last === undefined || ids.length < BATCH) return;
        after = last;
      }
    },
  };
}

const keyOf = ({ tenantId, kind }: DueWork): string => `${tenantId}/${kind}`;

async function inParallel<T>(
  items: readonly T[],
  signal: AbortSignal | undefined,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true && !signal?.aborted; next = waiting.next())
      await work(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
