import { sha256Hex } from '../secrets.js';
import type { AuditFault } from './records.js';

/** An audit event as stored in its row. */
export interface AuditEvent {
  /** `null` for events that belong to no tenant. */
  readonly tenantId: string | null;
  readonly id: string;
  readonly at: number;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly actorName: string;
  readonly ip: string | null;
  readonly requestId: string;
  readonly action: string;
  readonly recordKind: string;
  readonly recordId: string | null;
  /** JSON, byte for byte as it was written. */
  readonly changes: string;
}

/** A point in a chain: the number of events up to it and the hash of the last one. */
export interface Link {
  readonly position: number;
  readonly hash: string;
}

/** An event with its position and hash as stored in the row. */
export type ChainedEvent = AuditEvent & Link;

/** The start of a chain; `chain` is a tenant's id or `platform`. */
export const beginningOf = (chain: string): Link => ({
  position: 0,
  hash: sha256Hex(`duebook audit chain v1 ${chain}`),
});

/**
 * The link after this one: SHA-256 over the JSON of `['v1', previous hash, position, tenant, id, at, actor kind, actor
 * id, actor name, ip, request id, action, record kind, record id, changes]`, so that anyone who has the rows can
 * recompute it. Frozen: existing chains depend on it.
 */
export function linkAfter({ position, hash }: Link, event: AuditEvent): Link {
  const { tenantId, id, at, actorKind, actorId, actorName, ip, requestId, action, recordKind, recordId, changes } =
    event;
  const next = position + 1;
  return {
    position: next,
    hash: sha256Hex(
      JSON.stringify([
        'v1',
        hash,
        next,
        tenantId,
        id,
        at,
        actorKind,
        actorId,
        actorName,
        ip,
        requestId,
        action,
        recordKind,
        recordId,
        changes,
      ]),
    ),
  };
}

/** Verifies the events that follow a link, in the order of their positions, and returns the faults found. */
export function walk(
  from: Link,
  events: readonly ChainedEvent[],
): { readonly link: Link; readonly faults: readonly AuditFault[] } {
  const faults: AuditFault[] = [];
  let link = from;
  for (const event of events) {
    const { position, hash, id } = event;
    const missing = position - link.position - 1;
    if (missing > 0) faults.push({ kind: 'removed', position: link.position + 1, eventId: id, count: missing });
    else if (missing < 0) faults.push({ kind: 'repeated', position, eventId: id, count: 1 });
    else if (linkAfter(link, event).hash !== hash) faults.push({ kind: 'changed', position, eventId: id, count: 1 });
    // Continue from the stored values of this row, so that one fault is reported once.
    link = { position, hash };
  }
  return { link, faults };
}

/**
 * Verifies the head after the chain was walked to `link`. `sealed` is the head inside the seal, `undefined` when the
 * seal cannot be opened.
 */
export function checkHead(
  link: Link,
  { head, sealed }: { head: Link | undefined; sealed: Link | undefined },
): AuditFault[] {
  if (!head)
    return link.position === 0 ? [] : [{ kind: 'head_altered', position: link.position, eventId: null, count: 1 }];
  if (!isSame(head, sealed)) return [{ kind: 'head_altered', position: head.position, eventId: null, count: 1 }];
  if (link.position < head.position)
    return [{ kind: 'cut', position: link.position + 1, eventId: null, count: head.position - link.position }];
  return isSame(link, head) ? [] : [{ kind: 'head_altered', position: head.position, eventId: null, count: 1 }];
}

export const isSame = (link: Link, other: Link | undefined): boolean =>
  link.position === other?.position && link.hash === other.hash;
