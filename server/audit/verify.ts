import type { AuditCheck, AuditFault } from '../../data-plane-agent/base/audit/records.js';
import type { Link } from '../../data-plane-agent/base/audit/chain.js';

/** What does not fit in a chain; or to a head of it that was kept elsewhere. */
export type ChainFault =
  | AuditFault
  | {
      readonly kind: 'shorter_than_kept' | 'other_than_kept' | 'lost';
      readonly position: number;
      readonly eventId: null;
      readonly count: number;
    };

/** A whole chain, checked. */
export interface Verified {
  /** Events in the chain. */
  readonly events: number;
  /** The hash of the last one: kept elsewhere, it proves later that nothing before it was changed. */
  readonly hash: string;
  readonly faults: readonly ChainFault[];
  /** Events that were not chained yet. */
  readonly waiting: number;
}

/** How far a chain had come once: what is kept elsewhere. */
export interface KeptHead {
  readonly events: number;
  readonly hash: string;
}

/** As many as anybody reads; a chain that was written anew has as many faults as rows. */
const MAX_FAULTS = 1_000;

/** Checks a stretch of a chain; see `AuditTrail`. */
export type CheckStretch = (from: Link | undefined, until: number | undefined) => Promise<AuditCheck>;

/**
 * Walks a chain to its end, stretch by stretch, and looks at each kept head on the way: whoever has the database can
 * put back the head that stands in it, but not those. `holdsSome`: there is at least one event in the chain, or it has
 * been taken away whole.
 */
export async function verifyChain(
  check: CheckStretch,
  {
    holdsSome,
    kept = [],
    onProgress = () => undefined,
  }: { holdsSome: boolean; kept?: readonly KeptHead[]; onProgress?: (events: number) => void },
): Promise<Verified> {
  const faults: ChainFault[] = [];
  const marks = kept.filter(({ events }) => events > 0).toSorted((a, b) => a.events - b.events);
  for (let from: Link | undefined, next = 0; ;) {
    const mark = marks[next];
    const stretch: AuditCheck = await check(from, mark?.events);
    faults.push(...stretch.faults);
    if (mark && stretch.position === mark.events) {
      if (stretch.hash !== mark.hash)
        faults.push({ kind: 'other_than_kept', position: mark.events, eventId: null, count: 1 });
      while (marks[next]?.events === mark.events) next += 1;
    } else if (mark && stretch.position === (from?.position ?? 0)) {
      // Nothing between here and there: what comes after it, if anything does, tells how much was removed.
      faults.push({
        kind: 'shorter_than_kept',
        position: mark.events,
        eventId: null,
        count: mark.events - stretch.position,
      });
      next += 1;
    }
    from = { position: stretch.position, hash: stretch.hash };
    onProgress(stretch.position);
    if (!stretch.done && faults.length < MAX_FAULTS) continue;
    if (holdsSome && stretch.position === 0 && stretch.waiting === 0 && faults.length === 0)
      faults.push({ kind: 'cut', position: 1, eventId: null, count: 1 });
    return {
      events: stretch.position,
      hash: stretch.hash,
      faults: faults.slice(0, MAX_FAULTS),
      waiting: stretch.waiting,
    };
  }
}

/** What a fault means, in a sentence. */
export function faultText({ kind, position, eventId, count }: ChainFault): string {
  const events = count === 1 ? 'event' : 'events';
  switch (kind) {
    case 'changed':
      return `event ${eventId ?? ''} at position ${position} is not what it was when it was chained`;
    case 'removed':
      return `${count} ${events} removed from position ${position} on, before the event ${eventId ?? ''}`;
    case 'repeated':
      return `event ${eventId ?? ''} has the position ${position}, which is taken`;
    case 'cut':
      return `${count} ${events} cut off at the end, from position ${position} on`;
    case 'head_altered':
      return `the count and hash kept beside the chain are not those that were sealed (position ${position})`;
    case 'shorter_than_kept':
      return `the head that was kept elsewhere is at position ${position}, where there is no event any more: ${count} ${events} missing`;
    case 'other_than_kept':
      return `the head that was kept elsewhere has another hash at position ${position}: the history up to there was written anew`;
    case 'lost':
      return `a head of ${position} ${position === 1 ? 'event' : 'events'} was kept elsewhere, and the chain is not there any more`;
  }
}
