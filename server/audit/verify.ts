import type { AuditCheck, AuditFault } from '../../data-plane-agent/plane/contract/records/audit.js';
import type { Link } from '../../data-plane-agent/plane/domain/audit/chain.js';

/** A whole chain, checked. */
export interface Verified {
  /** Events in the chain. */
  readonly events: number;
  /** The hash of the last one: kept elsewhere, it proves later that nothing before it was changed. */
  readonly hash: string;
  readonly faults: readonly AuditFault[];
  /** Events that were not chained yet. */
  readonly waiting: number;
}

/** As many as anybody reads; a chain that was written anew has as many faults as rows. */
const MAX_FAULTS = 1_000;

/** Walks a chain to its end, stretch by stretch. `holdsSome`: there is at least one event in it, or it has been taken away whole. */
export async function verifyChain(check: (from: Link | undefined) => Promise<AuditCheck>, { holdsSome, onProgress = () => undefined }: { holdsSome: boolean; onProgress?: (events: number) => void }): Promise<Verified> {
  const faults: AuditFault[] = [];
  for (let from: Link | undefined; ; ) {
    const stretch: AuditCheck = await check(from);
    faults.push(...stretch.faults);
    from = { position: stretch.position, hash: stretch.hash };
    onProgress(stretch.position);
    if (!stretch.done && faults.length < MAX_FAULTS) continue;
    if (holdsSome && stretch.position === 0 && stretch.waiting === 0 && faults.length === 0) faults.push({ kind: 'cut', position: 1, eventId: null, count: 1 });
    return { events: stretch.position, hash: stretch.hash, faults: faults.slice(0, MAX_FAULTS), waiting: stretch.waiting };
  }
}

/** What a fault means, in a sentence. */
export function faultText({ kind, position, eventId, count }: AuditFault): string {
  const events = count === 1 ? 'event' : 'events';
  switch (kind) {
    case 'changed': return `event ${eventId ?? ''} at position ${position} is not what it was when it was chained`;
    case 'removed': return `${count} ${events} removed from position ${position} on, before the event ${eventId ?? ''}`;
    case 'repeated': return `event ${eventId ?? ''} has the position ${position}, which is taken`;
    case 'cut': return `${count} ${events} cut off at the end, from position ${position} on`;
    case 'head_altered': return `the count and hash kept beside the chain are not those that were sealed (position ${position})`;
  }
}
