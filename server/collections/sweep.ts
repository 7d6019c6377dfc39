import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { ReminderSweepInput } from '../../data-plane-agent/plane/contract/records/collections.js';
import { MOST_REMINDED } from '../../data-plane-agent/plane/contract/records/reminder-messages.js';
import type { ReminderStatus } from '../../data-plane-agent/plane/contract/vocabulary.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { adapterOf } from '../notifications/channels/index.js';
import { ChannelStore } from '../store/channels.js';

/** A run of automatic reminders over the lines in the scope of a call. */
export interface SweepRun {
  readonly runId: string;
  /** The number of lines that were looked at. */
  readonly evaluated: number;
  /** False if the signal ended it before the last line. */
  readonly isComplete: boolean;
}

export interface Swept {
  readonly tenantId: string;
  /** Bound to one day for the whole run. */
  readonly plane: Pick<BoundPlane<Operations>, 'decideReminders'>;
  readonly signal?: AbortSignal | undefined;
}

/** The statuses that a decision may have at first. */
export const DECIDED_STATUSES = ['queued', 'skipped', 'superseded'] as const satisfies readonly ReminderStatus[];
/** Called with the number of decisions of each status that a page has. */
export type OnDecided = (status: (typeof DECIDED_STATUSES)[number], count: number) => void;

export type Sweep = (swept: Swept) => Promise<SweepRun>;

export interface SweepParts {
  readonly database: Database;
  readonly onDecided: OnDecided;
}

/**
 * Lines per transaction: few, because other writes of an SQLite file wait for the transaction, and other requests of the
 * process for its statements.
 */
const PAGE = 100;

/**
 * Decides which reminders are due and queues their messages for the default channel, page by page. Each decision is made
 * once, however often and in however many processes it runs: what an interrupted run has left, the next one decides.
 */
export const createSweep =
  ({ database, onDecided }: SweepParts): Sweep =>
  async ({ tenantId, plane, signal }) => {
    const channel = await defaultChannel(database, tenantId);
    const runId = newId();
    let evaluated = 0;
    let after: ReminderSweepInput['after'] = null;
    do {
      if (signal?.aborted) return { runId, evaluated, isComplete: false };
      const page = await plane.decideReminders({ runId, channel, after, limit: PAGE });
      evaluated += page.evaluated;
      for (const one of DECIDED_STATUSES) onDecided(one, page.decided.filter(({ status }) => status === one).length);
      after = page.next;
      await nextTurn(); // requests that have arrived meanwhile
    } while (after !== null);
    return { runId, evaluated, isComplete: true };
  };

const defaultChannel = async (database: Database, tenantId: string): Promise<ReminderSweepInput['channel']> => {
  const channels = await database.read({ tenantId: null }, (tx) => new ChannelStore(tx, tenantId).all());
  const channel = channels.find(({ isDefault }) => isDefault);
  if (!channel) return null;
  const { id, kind, enabled } = channel;
  return { id, kind, enabled, digest: adapterOf(kind).digests ? MOST_REMINDED : 1 };
};
