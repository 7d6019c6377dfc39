import type { Database } from '../../../data-plane-agent/base/database/database.js';
import { isId } from '../../../data-plane-agent/base/ids.js';
import type { OpenLine } from '../../../data-plane-agent/plane/contract/records/open-lines.js';
import { isAway } from '../../data-planes/away.js';
import type { Plane } from '../../data-planes/plane.js';
import { CalendarConnectionStore, type CalendarConnection } from '../../store/calendar-connections.js';
import { CalendarEventStore, type CalendarEventRecord } from '../../store/calendar-events.js';
import { digestOf, eventOf, type EventStyle } from './event.js';
import { GrantError, TOKEN_REFUSED } from './oauth.js';
import { CalendarFault, isFault, type CalendarEvent, type RemoteCalendar } from './provider.js';

/** What a run did. `errors` has the first ones. */
export interface RunResult {
  readonly created: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly errors: readonly RunError[];
  /** False if the run ended before all lines were looked at, so that another one has to continue. */
  readonly complete: boolean;
}

export interface RunError {
  /** `null` for an error that concerns no single line. */
  readonly paymentId: string | null;
  readonly message: string;
}

export interface RunOptions {
  readonly connection: CalendarConnection;
  /** Identifies the run, which holds the connection. */
  readonly token: string;
  readonly database: Database;
  readonly calendar: RemoteCalendar;
  /** The open lines that the member who connected the calendar may see. */
  readonly plane: Pick<Plane, 'listOpenLines'>;
  readonly style: EventStyle;
  readonly digestKey: Uint8Array;
  /** Extends the lease; its end, in epoch milliseconds. */
  leaseEnd(): number;
  now(): number;
  /** Whether the time of the run is over. */
  isOver(): boolean;
}

/** Microsoft allows four concurrent requests for one mailbox. */
const AT_ONCE = 4;
/** After so many events in a row that the provider could not process, it is not asked any more in this run. */
const MOST_FAULTS = 3;
const MOST_ERRORS = 20;
/** Of a calendar with more events of ours than this (250 000) the rest is not compared after a crash. */
const MOST_PAGES = 1_000;
const KNOWN_BATCH = 1_000;

/** The connection has ended, or another run holds it. */
export class RunReplaced extends Error {
  override readonly name = 'RunReplaced';
}

/**
 * Makes the calendar show the open lines: creates, changes and removes events, and records each of them when it is done.
 * Throws GrantError if the grant has ended, RunReplaced, and failures of the data plane.
 */
export async function runSync(options: RunOptions): Promise<RunResult & { readonly settled: boolean }> {
  const { connection, plane, style, digestKey, calendar } = options;
  const counts = { created: 0, updated: 0, removed: 0, unchanged: 0, failed: 0 };
  const errors: RunError[] = [];
  let faultsInARow = 0;
  let stopped = false;
  /** An event may exist that is not recorded. */
  let unsure = false;
  const mayGoOn = (): boolean => !stopped && !options.isOver();
  const inWrite = inWritesOf(options);

  const failedWith = (fault: CalendarFault, paymentId: string | null): void => {
    if (fault.kind === 'unauthorized') throw new GrantError(TOKEN_REFUSED, 'refused', { cause: fault });
    if (paymentId !== null) counts.failed += 1;
    if (errors.length < MOST_ERRORS) errors.push({ paymentId, message: fault.message });
    faultsInARow += 1;
    stopped ||= isFault(fault, 'unreachable', 'denied') || faultsInARow >= MOST_FAULTS;
  };

  const apply = async ({ lineId, known, event }: Step): Promise<void> => {
    try {
      if (event === undefined) {
        if (known) await calendar.remove(known.eventId);
        await inWrite((events) => events.delete(lineId));
        counts.removed += 1;
      } else {
        const { eventId, isNew } = await shown(event, known);
        await inWrite((events) =>
          events.put({ lineId, eventId, digest: digestOf(event, digestKey), at: options.now() }),
        );
        counts[isNew && !known ? 'created' : 'updated'] += 1;
      }
      faultsInARow = 0;
    } catch (error) {
      if (!(error instanceof CalendarFault)) throw error;
      // Without an answer the event may have been created, and a refused one may exist under another id.
      unsure ||= isFault(error, 'unreachable', 'throttled', 'exists');
      failedWith(error, lineId);
    }
  };

  /** An event that was deleted in the calendar is created again when its line changes. */
  const shown = async (event: CalendarEvent, known: CalendarEventRecord | undefined) => {
    try {
      if (known) {
        await calendar.update(known.eventId, event);
        return { eventId: known.eventId, isNew: false };
      }
    } catch (error) {
      if (!isFault(error, 'gone')) throw error;
    }
    return { eventId: await calendar.create(event, options.token), isNew: true };
  };

  const onLines = async (lines: readonly OpenLine[], after: string | null, until: string | null): Promise<void> => {
    const known = await knownBetween(options, { after, until });
    const steps: Step[] = [];
    for (const line of lines) {
      const event = eventOf(line, style);
      const record = known.get(line.paymentId);
      known.delete(line.paymentId);
      if (record?.digest === digestOf(event, digestKey)) counts.unchanged += 1;
      else steps.push({ lineId: line.paymentId, known: record, event });
    }
    for (const record of known.values()) steps.push({ lineId: record.lineId, known: record, event: undefined });
    const waiting = steps[Symbol.iterator]();
    const worker = async (): Promise<void> => {
      try {
        for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
          if (!mayGoOn()) return void (stopped = true);
          await apply(next.value);
        }
      } catch (error) {
        stopped = true;
        throw error;
      }
    };
    // Settled, so that no request is under way when the run ends.
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  };

  try {
    if (!connection.settled) await takeInventory(options, inWrite);
    await inWrite(async (_events, connections) => connections.setSettled({ ...connection, settled: false }));
    for (let after: string | null = null; ;) {
      if (!mayGoOn()) {
        stopped = true;
        break;
      }
      const { lines, next } = await plane.listOpenLines({ after });
      await onLines(lines, after, next);
      if (next === null) break;
      after = next;
    }
  } catch (error) {
    // What was done before counts, although the access token could not be renewed.
    if (error instanceof GrantError && !error.isRevoked) errors.push({ paymentId: null, message: errorText(error) });
    else if (error instanceof CalendarFault) failedWith(error, null);
    else throw error;
    unsure = true;
    stopped = true;
  }
  return { ...counts, errors, complete: !stopped, settled: !unsure };
}

/** What is to be done for one line: without an event its event is removed. */
interface Step {
  readonly lineId: string;
  readonly known: CalendarEventRecord | undefined;
  readonly event: CalendarEvent | undefined;
}

type InWrite = (
  work: (events: CalendarEventStore, connections: CalendarConnectionStore) => Promise<void>,
) => Promise<void>;

/** Every record is written together with the extension of the lease, so that a replaced run records nothing. */
const inWritesOf =
  ({ connection, token, database, leaseEnd }: RunOptions): InWrite =>
  (work) =>
    database.write({ tenantId: null }, async (tx) => {
      const connections = new CalendarConnectionStore(tx);
      if (!(await connections.renew({ ...connection, token, until: leaseEnd() }))) throw new RunReplaced();
      await work(new CalendarEventStore(tx, connection), connections);
    });

async function knownBetween(
  { connection, database }: RunOptions,
  { after, until }: { after: string | null; until: string | null },
): Promise<Map<string, CalendarEventRecord>> {
  const known = new Map<string, CalendarEventRecord>();
  for (let from = after; ;) {
    const batch = await database.read({ tenantId: null }, (tx) =>
      new CalendarEventStore(tx, connection).between({ after: from, until, limit: KNOWN_BATCH }),
    );
    for (const record of batch) known.set(record.lineId, record);
    const last = batch.at(-1);
    if (batch.length < KNOWN_BATCH || !last) return known;
    from = last.lineId;
  }
}

/**
 * Finds the events that an earlier connection or an interrupted run left in the calendar. Events of one line that exist
 * twice are removed but for the recorded one.
 */
async function takeInventory({ calendar, now, isOver }: RunOptions, inWrite: InWrite): Promise<void> {
  let page: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    if (isOver()) throw new CalendarFault('throttled', 'The events in the calendar could not be listed in time.');
    const { events: found, next } = await calendar.list(page);
    const events = found.filter(({ lineId }) => isId(lineId));
    const others: string[] = [];
    await inWrite(async (records) => {
      others.length = 0;
      for (const { eventId, lineId } of events)
        if (!(await records.adopt({ lineId, eventId, at: now() })) && (await records.find(lineId))?.eventId !== eventId)
          others.push(eventId);
    });
    for (const eventId of others) await calendar.remove(eventId);
    if (next === null || next === page) return;
    page = next;
  }
}

/** The sentence that the status shows for an error that ended a run. */
export function errorText(error: unknown): string {
  if (error instanceof GrantError)
    return error.kind === 'unreachable'
      ? 'The calendar provider does not answer.'
      : error.isRevoked
        ? 'The calendar provider no longer accepts the consent: it was withdrawn or has expired. Connect the calendar again.'
        : `The calendar provider refuses the application of this installation (${error.reason}).`;
  if (isAway(error)) return "The organisation's contract data was not available.";
  return 'An internal error ended the run.';
}
