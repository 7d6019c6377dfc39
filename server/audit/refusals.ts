import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import { actorOf, anonymousActor } from '../access/actor.js';
import type { Refusal } from '../access/refusal.js';
import { hourEnd, repeatKey } from '../store/audit-repeats.js';
import { AuditStore } from '../store/audit.js';
import type { AuditEvent } from '../store/audit-event.js';

/**
 * Records refused requests. The first refusal of a kind in an hour is written before `record` resolves. Repeated ones
 * are counted in memory, so that they cost no write, and are written every minute and at shutdown. A failure to record
 * never changes the refusal.
 */
export interface Refusals {
  record(refusal: Refusal): Promise<void>;
  /** Writes the counts to the database; counts that cannot be written are kept. */
  flush(): Promise<void>;
}

/** The kinds of refusals counted in memory; others are written individually, and the database counts them. */
const MOST = 5_000;
/** Events per transaction. */
const BATCH = 50;

interface Counted {
  readonly event: AuditEvent;
  times: number;
  until: number;
  requestId: string;
}

export function createRefusals({
  database,
  clock,
  log,
  most = MOST,
}: {
  database: Database;
  clock: Clock;
  log: Log;
  /** For tests. */ most?: number;
}): Refusals {
  const counted = new Map<string, Counted>();
  const write = (events: readonly AuditEvent[]): Promise<void> =>
    database.write({ tenantId: null }, async (tx) => {
      const audit = new AuditStore(tx);
      for (const event of events) await audit.append(event);
    });
  const tryWrite = async (events: readonly AuditEvent[]): Promise<boolean> => {
    try {
      await write(events);
      return true;
    } catch (error) {
      log.error({ err: error, refusals: events.length }, 'refusals not recorded');
      return false;
    }
  };

  return {
    record: async (refusal) => {
      const event = eventOf(refusal, { at: clock.now() });
      const key = repeatKey(event);
      const known = counted.get(key);
      if (known) return count(known, { times: 1, until: event.at, requestId: event.actor.requestId });
      const first: Counted = { event, times: 0, until: event.at, requestId: event.actor.requestId };
      if (counted.size < most) counted.set(key, first);
      if (!(await tryWrite([event]))) count(first, { times: 1, until: event.at, requestId: event.actor.requestId });
    },

    flush: async () => {
      const waiting = [...counted.values()].filter(({ times }) => times > 0);
      for (let from = 0; from < waiting.length; from += BATCH) {
        const batch = waiting.slice(from, from + BATCH).map((entry) => ({ entry, taken: { ...entry } }));
        for (const { entry } of batch) entry.times = 0;
        const events = batch.map(({ taken: { event, times, until, requestId } }) => ({
          ...event,
          actor: { ...event.actor, requestId },
          times,
          until,
        }));
        if (!(await tryWrite(events))) for (const { entry, taken } of batch) entry.times += taken.times;
      }
      const now = clock.now();
      for (const [key, { event, times }] of counted) if (times === 0 && hourEnd(event.at) <= now) counted.delete(key);
    },
  };
}

const eventOf = ({ principal, request, route, code, needs, reason }: Refusal, { at }: { at: number }): AuditEvent => ({
  tenantId: principal?.tenant.id ?? null,
  at,
  actor: principal ? actorOf(principal.user, request) : anonymousActor(request),
  action: 'access_refused',
  recordKind: 'endpoint',
  recordId: null,
  changes: { route, code, needs, reason, sessionId: principal?.sessionId },
});

function count(entry: Counted, { times, until, requestId }: Pick<Counted, 'times' | 'until' | 'requestId'>): void {
  Object.assign(entry, { times: entry.times + times, until, requestId });
}
