import { addDays, instantOf, parseDay } from '../../data-plane-agent/base/day.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';

/** A period from an instant (inclusive) to another (exclusive), in epoch milliseconds. */
export interface Period {
  readonly from: number | null;
  readonly before: number | null;
}

/**
 * Parses `from` and `to`: a day in the time zone (`to` inclusive), or an instant with a UTC offset (`to` exclusive).
 * Throws INVALID_INPUT.
 */
export function periodOf(
  { from, to }: { from?: string | null | undefined; to?: string | null | undefined },
  timeZone: string,
): Period {
  const issues: Issue[] = [];
  const read = (path: string, text: string | null | undefined, daysOn: number): number | null => {
    if (text === null || text === undefined) return null;
    const instant = DAY.test(text)
      ? startOf(text, daysOn, timeZone)
      : INSTANT.test(text) && parseDay(text) !== undefined
        ? Date.parse(text)
        : undefined;
    if (instant === undefined || !(instant >= 0))
      issues.push({
        path,
        problem: 'must be a day like 2026-03-31 or an instant like 2026-03-31T12:00:00Z, from 1970 on',
      });
    return instant ?? null;
  };
  const period = { from: read('from', from, 0), before: read('to', to, 1) };
  if (issues.length > 0) throw fail('INVALID_INPUT', { issues });
  return period;
}

/** Years in which each day has neighbours, and no instant is before the epoch. */
const DAY = /^(197[1-9]|19[89]\d|[2-8]\d{3})-\d{2}-\d{2}$/;
const INSTANT = /^(19[7-9]\d|[2-8]\d{3})-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/i;

function startOf(text: string, daysOn: number, timeZone: string): number | undefined {
  const day = parseDay(text);
  return day === undefined ? undefined : instantOf(addDays(day, daysOn), 0, timeZone);
}
