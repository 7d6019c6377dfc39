import type { Clock } from '../../data-plane-agent/base/clock.js';
import { iso } from '../../data-plane-agent/base/instants.js';
import { newestEventAt } from '../../server/audit/newest-event.js';
import { databasesOf } from '../../server/databases.js';
import { stateOf, withDatabase, type LookedAt } from '../installation.js';
import { check, reasonOf, type Check } from './check.js';

/** Clocks of replicas may differ by as much. */
const MAX_BEHIND_MS = 5_000;

/**
 * The clock of this machine is not behind the newest event that was recorded: codes of authenticators, sessions and due
 * days depend on it. Servers of databases and of the object store have checks of their own.
 */
export async function clockCheck(
  { values }: Pick<LookedAt, 'values'>,
  { clock }: { readonly clock: Clock },
): Promise<Check> {
  const { platform } = databasesOf(values);
  const now = iso(clock.now());
  try {
    if ((await stateOf(platform, values)).applied.length === 0)
      return check.ok('clock', `${now}; no event was recorded yet to compare it with`);
    const newest = await withDatabase(platform, values, newestEventAt);
    const behindMs = (newest ?? 0) - clock.now();
    if (behindMs <= MAX_BEHIND_MS) return check.ok('clock', `${now}, not before the newest recorded event`);
    return check.fail(
      'clock',
      `${now}, ${Math.round(behindMs / 1_000)} s before the newest recorded event (${iso(newest ?? 0)})`,
      'synchronise the clock of this machine (NTP)',
    );
  } catch (error) {
    return check.warn(
      'clock',
      `${now}; not compared with the recorded events (${reasonOf(error)})`,
      'make the platform database readable first',
    );
  }
}
