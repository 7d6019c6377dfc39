import Type from 'typebox';
import { s, type Static } from '../schema.js';

const count = () => s.integer({ max: Number.MAX_SAFE_INTEGER });
/** Epoch milliseconds. */
const epochMs = () => s.integer({ max: Number.MAX_SAFE_INTEGER });
/** A value of any type. */
const anything = (about: string) => Type.Unsafe<unknown>({ description: about });

export const ACTOR_KINDS = ['user', 'system', 'cli'] as const;

/** How many changed fields of an event a list shows; an export contains all of them. */
export const SHOWN_CHANGES = 200;

export const AuditChange = s.object(
  {
    recordKind: s.text(),
    recordId: s.nullable(s.text()),
    field: s.text({ about: 'The field name as used in requests and responses.' }),
    before: anything(
      'The value before, in the format of responses; null if there was none. Secrets are never included; account numbers are masked.',
    ),
    after: anything('The value after, in the format of responses; null if there is none.'),
    currencyCode: s.omittable(
      s.text({
        max: 3,
        about:
          'Only for amounts: the currency of `after`, or of `before` if `after` is null. A changed currency is listed as a change as well.',
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
    changeCount: s.integer({ about: 'The total number of changed fields.' }),
    position: s.nullable(
      s.integer({
        min: 1,
        max: Number.MAX_SAFE_INTEGER,
        about: 'The position in the chain; null until the event is chained, which takes up to ten seconds.',
      }),
    ),
    hash: s.nullable(s.text({ max: 64, about: 'SHA-256 over the hash of the previous event and this event.' })),
  },
  { title: 'AuditEntry' },
);
export type AuditEntry = Static<typeof AuditEntry>;

/** Filters events: `from` is inclusive, `before` is exclusive. */
export const AuditFilter = s.object({
  actorId: s.optional(s.id()),
  recordId: s.optional(s.id()),
  action: s.optional(s.text({ max: 64 })),
  from: s.optional(epochMs()),
  before: s.optional(epochMs()),
});
export type AuditFilter = Static<typeof AuditFilter>;

/**
 * A complete event, as exported. `changes` is JSON byte for byte as it was written, so that the hash can be recomputed.
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
 * A fault in a chain. `changed`: the event differs from what was chained; `removed`: `count` events before this one are
 * missing; `repeated`: a position occurs twice; `cut`: the last `count` events are missing; `head_altered`: the count
 * and hash of the head are not the sealed ones.
 */
export const AuditFault = s.object({
  kind: s.enum(['changed', 'removed', 'repeated', 'cut', 'head_altered']),
  position: count(),
  /** The event at which the fault was found, if any. */
  eventId: s.nullable(s.id()),
  count: count(),
});
export type AuditFault = Static<typeof AuditFault>;

/**
 * The end of a chain: the number of chained events, the hash of the last one, and the number of events still to be
 * chained.
 */
export const AuditHead = s.object({ position: count(), hash: s.text({ max: 64 }), waiting: count() });
export type AuditHead = Static<typeof AuditHead>;

/** The result of checking a range of a chain. */
export const AuditCheck = s.object({
  position: count(),
  hash: s.text({ max: 64 }),
  /** True when the end of the chain was reached and its head compared. */
  done: s.flag(),
  faults: s.list(AuditFault, 10_000),
  /** The number of events still to be chained. */
  waiting: count(),
});
export type AuditCheck = Static<typeof AuditCheck>;
