import type { AuditCheck, AuditFault } from '../../data-plane-agent/base/audit/records.js';
import type { Link } from '../../data-plane-agent/base/audit/chain.js';

/** A fault in a chain, or a mismatch with a head that was saved elsewhere. */
export type ChainFault =
  | AuditFault
  | {
      readonly kind: 'shorter_than_kept' | 'other_than_kept' | 'lost';
      readonly position: number;
      readonly eventId: null;
      readonly count: number;
    };

/** The result of checking a whole chain. */
export interface Verified {
  /** Events in the chain. */
  readonly events: number;
  /** The hash of the last event: saved elsewhere, it later proves that no earlier event was changed. */
  readonly hash: string;
  readonly faults: readonly ChainFault[];
  /** Events that are not chained yet. */
  readonly waiting: number;
}

/** An earlier head of a chain, saved elsewhere. */
export interface KeptHead {
  readonly events: number;
  readonly hash: string;
}

/** A report limit: a chain that was rewritten has as many faults as events. */
const MAX_FAULTS = 1_000;

/** Checks a part of a chain; see `AuditTrail`. */
export type CheckStretch = (from: Link | undefined, until: number | undefined) => Promise<AuditCheck>;

/**
 * Checks a chain to its end, and compares each saved head: an attacker with access to the database can rewrite the
 * stored head, but not the saved ones. `holdsSome`: the chain should have at least one event; otherwise it was deleted
 * completely.
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
      // No events up to the saved position: later parts show how many were removed.
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

/** Describes a fault in a sentence. */
export function faultText({ kind, position, eventId, count }: ChainFault): string {
  const events = count === 1 ? 'event' : 'events';
  switch (kind) {
    case 'changed':
      return `event ${eventId ?? ''} at position ${position} was changed after it was chained`;
    case 'removed':
      return `${count} ${events} removed from position ${position} on, before the event ${eventId ?? ''}`;
    case 'repeated':
      return `event ${eventId ?? ''} has the position ${position}, which is already used`;
    case 'cut':
      return `${count} ${events} missing at the end, from position ${position} on`;
    case 'head_altered':
      return `the stored count and hash of the chain do not match their seal (position ${position})`;
    case 'shorter_than_kept':
      return `the saved head is at position ${position}, where there is no event: ${count} ${events} missing`;
    case 'other_than_kept':
      return `the saved head has another hash at position ${position}: the events up to it were rewritten`;
    case 'lost':
      return `a head of ${position} ${position === 1 ? 'event' : 'events'} was saved elsewhere, but the chain does not exist`;
  }
}
