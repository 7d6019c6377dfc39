import Type from 'typebox';
import { s, type Static } from '../schema.js';

const count = () => s.integer({ max: Number.MAX_SAFE_INTEGER });
/** Epoch milliseconds. */
const epochMs = () => s.integer({ max: Number.MAX_SAFE_INTEGER });
/** Whatever the field holds. */
const anything = (about: string) => Type.Unsafe<unknown>({ description: about });

export const ACTOR_KINDS = ['user', 'system', 'cli'] as const;

/** How many changed fields of an event are shown in a list; an export has all of them. */
export const SHOWN_CHANGES = 200;

export const AuditChange = s.object(
  {
    recordKind: s.text(),
    recordId: s.nullable(s.text()),
    field: s.text({ about: 'As requests and answers name it.' }),
    before: anything(
      'The value before, as answers give it; null where there was none. Secrets are never here, account numbers are masked.',
    ),
    after: anything('The value after; null where there is none.'),
    currencyCode: s.omittable(
      s.text({
        max: 3,
        about:
          'Of amounts alone: the currency of `after`, or of `before` where there is nothing after. Where it changed, that is one of the changes too.',
      }),
    ),
  },
  { title: 'AuditChange' },
);
export type AuditChange = Static<typeof AuditChange>;

export const AuditEntry = s.object(
  {
    id: s.id(),
    createdAt: s.instant(),
    actorKind: s.enum(ACTOR_KINDS),
    actorId: s.nullable(s.id()),
    actorName: s.text(),
    ip: s.nullable(s.text({ max: 64 })),
    requestId: s.text({ max: 128 }),
    action: s.text(),
    recordKind: s.text(),
    recordId: s.nullable(s.id()),
    changes: s.list(AuditChange, SHOWN_CHANGES, `The first ${SHOWN_CHANGES} changed fields.`),
    changeCount: s.integer({ about: 'How many fields changed in all.' }),
    position: s.nullable(
      s.integer({
        min: 1,
        max: Number.MAX_SAFE_INTEGER,
        about: 'The place in the chain; null until the event has been chained, within ten seconds.',
      }),
    ),
    hash: s.nullable(s.text({ max: 64, about: 'SHA-256 over the hash of the event before it and this event.' })),
  },
  { title: 'AuditEntry' },
);
export type AuditEntry = Static<typeof AuditEntry>;

/** Which events are asked for: from an instant on, before another. */
export const AuditFilter = s.object({
  actorId: s.optional(s.id()),
  recordId: s.optional(s.id()),
  action: s.optional(s.text({ max: 64 })),
  from: s.optional(epochMs()),
  before: s.optional(epochMs()),
});
export type AuditFilter = Static<typeof AuditFilter>;

/**
 * An event whole, as it is exported; `changes` is JSON to the letter as it was written, so that the hash can be
 * computed again.
 */
export const AuditRow = s.object({
  tenantId: s.nullable(s.id()),
  id: s.id(),
  at: epochMs(),
  actorKind: s.text(),
  actorId: s.nullable(s.id()),
  actorName: s.verbatim({ min: 0, max: 1_000 }),
  ip: s.nullable(s.verbatim({ max: 128 })),
  requestId: s.verbatim({ max: 256 }),
  action: s.text(),
  recordKind: s.text(),
  recordId: s.nullable(s.text()),
  changes: s.verbatim({ max: 64 * 1024 * 1024 }),
  position: s.nullable(count()),
  hash: s.nullable(s.text({ max: 64 })),
});
export type AuditRow = Static<typeof AuditRow>;

/**
 * What does not fit in a chain. `changed`: the event is not what it was when it was chained; `removed`: `count` events
 * are missing before this one;
 * `repeated`: a position is there twice; `cut`: the last `count` events are missing; `head_altered`: count and head
 * hash are not those that were sealed.
 */
export const AuditFault = s.object({
  kind: s.enum(['changed', 'removed', 'repeated', 'cut', 'head_altered']),
  position: count(),
  /** The event at which it shows, where there is one. */
  eventId: s.nullable(s.id()),
  count: count(),
});
export type AuditFault = Static<typeof AuditFault>;

/** The end of a chain: how many events are in it, the hash of the last, and how many wait to be chained. */
export const AuditHead = s.object({ position: count(), hash: s.text({ max: 64 }), waiting: count() });
export type AuditHead = Static<typeof AuditHead>;

/** A stretch of a chain that was checked. */
export const AuditCheck = s.object({
  position: count(),
  hash: s.text({ max: 64 }),
  /** The end of the chain was reached, and its head compared. */
  done: s.flag(),
  faults: s.list(AuditFault, 10_000),
  /** Events that wait to be chained. */
  waiting: count(),
});
export type AuditCheck = Static<typeof AuditCheck>;
