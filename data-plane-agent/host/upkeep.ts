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

/** Tenants that are worked on at once: one that is slow holds up a few others only. */
const AT_ONCE = 4;
/** Steps of one tenant in a round: one with much to do lets the others have their turn. */
const STEPS = 50;
/** What is asked for at once. */
const BATCH = 200;
/**
 * A process that died with some work is replaced after this time; a living one prolongs it. It is also the wait after a
 * failure.
 */
const LEASE_MS = 60_000;
/** Work of a tenant that nobody works for, since it is suspended or not known, is looked at again after this time. */
const PUT_OFF_MS = 3_600_000;
/** Before every id. */
const FIRST = '00000000-0000-0000-0000-000000000000';
/** It has its turn when the database is back. */
const AWAY = ['DATA_PLANE_NOT_CONNECTED', 'DATA_PLANE_UNAVAILABLE'] as const;

/**
 * Of these tenants, those that are worked for now. Whoever knows the tenants hands this in; the work of those that are
 * left out waits.
 */
export type TellTenants = (ids: readonly string[]) => Promise<readonly WorkedTenant[]>;

/** A step with one tenant's data plane, taken again while it says that there is more. */
export type Step = (plane: BoundPlane<Operations>, tenantId: string) => Promise<{ readonly more: boolean }>;

export interface UpkeepParts {
  readonly database: Database;
  readonly plane: DataPlane<Operations>;
  readonly clock: Clock;
  readonly log: Log;
  readonly tenants: TellTenants;
}

export interface Round {
  /** In whose name: the audit and the log tell it. */
  readonly job: string;
  readonly steps: Readonly<Partial<Record<WorkKind, Step>>>;
  readonly signal?: AbortSignal | undefined;
}

export interface Upkeep {
  /**
   * Does what is due of these kinds. It asks one question when there is nothing; of several processes each piece is
   * done by one.
   */
  round(round: Round): Promise<void>;
  /** Has work of a kind that comes later done in the next round, of every tenant that has any. */
  bringForward(kind: WorkKind, signal?: AbortSignal): Promise<void>;
}

export function createUpkeep({ database, plane, clock, log, tenants }: UpkeepParts): Upkeep {
  const writeOf = <T>({ tenantId }: Pick<DueWork, 'tenantId'>, work: (tx: Transaction) => Promise<T>): Promise<T> =>
    database.write({ tenantId }, work);

  async function round({ job, steps, signal }: Round): Promise<void> {
    const kinds = Object.keys(steps) as WorkKind[]; // as they are declared
    const seen = new Set<string>();
    // What is due again when it was worked on has its turn in the next round.
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
          tell({ error, job, due }),
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
      // What a stop has broken off is the next process's at once; what failed is repeated when the lease is over.
      if (!signal?.aborted) {
        await lease.end();
        tell({ error, job, due });
        return;
      }
    }
    const until = await lease.end();
    await writeOf(due, (tx) => {
      const now = clock.now();
      return settleDue(tx, { due, leasedUntil: until }, async () => {
        const next = await nextDue(due.kind, { tx, tenantId: due.tenantId, timeZone: tenant.timeZone, now });
        return next === null ? null : Math.max(next, now); // behind those that have waited longer
      });
    });
  }

  /** Holds the work, and holds it on until its end. */
  async function leased(due: DueWork): Promise<{ end(): Promise<number> } | undefined> {
    const now = clock.now();
    let until = now + LEASE_MS;
    if (!(await writeOf(due, (tx) => leaseDue(tx, due, { now, until })))) return undefined;
    let renewal: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
      renewal = (async () => {
        const to = clock.now() + LEASE_MS;
        // What a writer has put to another time is due anyway.
        if (await writeOf(due, (tx) => moveDue(tx, due, { from: until, to }))) until = to;
      })().catch((error: unknown) =>
        log.warn({ err: error, tenantId: due.tenantId, kind: due.kind }, 'due work not held on to'),
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

  function tell({ error, job, due }: { readonly error: unknown; readonly job: string; readonly due: DueWork }): void {
    if (!AWAY.some((code) => isFailure(error, code)))
      log.error({ err: error, job, tenantId: due.tenantId }, 'not done for this organisation');
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
