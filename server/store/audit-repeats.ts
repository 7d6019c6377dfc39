import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { networkOf } from '../../data-plane-agent/base/http/network.js';
import type { AuditEvent } from './audit-event.js';
import { numberOf } from './rows.js';

/** A repeated event, which is recorded when its hour is over. */
export interface Repeated {
  /** The first event, without the details that apply only to it. */
  readonly event: Omit<AuditEvent, 'at' | 'changes'> & { readonly changes: Readonly<Record<string, unknown>> };
  readonly times: number;
  /** The times of the first and the last counted event, in epoch milliseconds. */
  readonly since: number;
  readonly until: number;
}

/** Events are counted per clock hour, UTC. */
const HOUR_MS = 3_600_000;
/**
 * The maximum number of kinds of an event counted separately in an hour, by tenant and actor; others are counted
 * together. Refusals of members are always counted separately by route and code, so that none can be hidden among
 * others.
 */
const KINDS = { ofAnonymous: 20, ofMembers: 100 };
/**
 * The changes that distinguish events, in addition to actor, record and address; other changes are recorded only for
 * the first event.
 */
const DISTINGUISHING = ['reason', 'route', 'code', 'needs', 'template'];
/**
 * `needs` of FORBIDDEN is a permission, of which there are few. For other refusals it contains fields, stages and the
 * like, of which a caller can produce any number.
 */
const distinguishingOf = ({ action, changes = {} }: AuditEvent): readonly string[] =>
  action === 'access_refused' && changes['code'] !== 'FORBIDDEN'
    ? DISTINGUISHING.filter((name) => name !== 'needs')
    : DISTINGUISHING;

const REPEATING: ReadonlySet<string> = new Set([
  'login_failed',
  'login_code_refused',
  'password_change_refused',
  'access_refused',
  'mail_not_sent',
]);

/**
 * Whether a caller can cause the event any number of times: actions of unauthenticated callers, their consequences, and
 * refusals of members.
 */
export const isRepeating = ({ action, actor }: Pick<AuditEvent, 'action' | 'actor'>): boolean =>
  REPEATING.has(action) || (actor.kind === 'user' && actor.id === null);

/** The key of events that are counted together. */
export function repeatKey(event: AuditEvent): string {
  const { recordKind, recordId, actor, action, changes = {} } = event;
  // The address matters for guessed passwords of a member, but not for requests of a member that are refused.
  const from = actor.ip === null || (action === 'access_refused' && actor.id !== null) ? null : networkOf(actor.ip);
  // The record of placeholder mail is the mail itself, which is new each time.
  return sha256Hex(
    JSON.stringify([
      familyOf(event),
      recordKind,
      recordKind === 'mail' ? null : recordId,
      from,
      ...distinguishingOf(event).map((name) => changes[name] ?? null),
      isLock(event),
    ]),
  );
}

/** The end of the hour of an event. */
export const hourEnd = (at: number): number => (Math.floor(at / HOUR_MS) + 1) * HOUR_MS;

/** Counts events in the platform database, for all replicas and across restarts. */
export class AuditRepeatStore {
  constructor(private readonly tx: Transaction) {}

  /**
   * Counts an event, or `times` events. Returns whether it is the first of its kind in the hour and must be recorded
   * now. The same statements run in both cases, so that timing does not reveal whether an account exists.
   */
  async count(event: AuditEvent): Promise<boolean> {
    const { times = 1, until = event.at } = event;
    const key = repeatKey(event);
    const family = familyOf(event);
    const known = await this.tx.run(
      'UPDATE audit_repeats SET times = times + ?, until = ?, request_id = ? WHERE key = ?',
      [times, until, event.actor.requestId, key],
    );
    const kinds = Number(
      (await this.tx.get('SELECT count(*) AS n FROM audit_repeats WHERE family = ?', [family]))?.['n'],
    );
    const isFull = kinds >= mostOf(event);
    const counted = isFull ? times : times - 1;
    const row = await this.tx.get(INSERT, [
      isFull ? `${family} others` : key,
      family,
      hourEnd(event.at),
      counted,
      event.at,
      until,
      event.actor.requestId,
      JSON.stringify(isFull ? othersOf(event) : commonPartOf(event)),
      known === 0 ? 1 : 0,
      times, // if a concurrent transaction has inserted the row
    ]);
    return row !== undefined && !isFull && numberOf(row, 'times') === counted;
  }

  /** Deletes and returns events that ended before an instant. */
  async takeEnded({ before, limit }: { before: number; limit: number }): Promise<Repeated[]> {
    const rows = await this.tx.all(
      'DELETE FROM audit_repeats WHERE key IN (SELECT key FROM audit_repeats WHERE ends_at <= ? ORDER BY ends_at, key LIMIT ?) RETURNING times, since, until, request_id, event',
      [before, limit],
    );
    return rows.map(repeatedOf);
  }
}

const INSERT = `INSERT INTO audit_repeats (key, family, ends_at, times, since, until, request_id, event) SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE ? = 1
  ON CONFLICT (key) DO UPDATE SET times = audit_repeats.times + ?, until = excluded.until, request_id = excluded.request_id
  RETURNING times`;

const mostOf = ({ action, actor }: AuditEvent): number =>
  actor.id === null ? KINDS.ofAnonymous : action === 'access_refused' ? Infinity : KINDS.ofMembers;

/** The group of events of one action, tenant and actor in an hour, whose number of kinds is limited. */
const familyOf = ({ action, tenantId, actor, at }: AuditEvent): string =>
  sha256Hex(JSON.stringify([action, tenantId, actor.kind, actor.id, hourEnd(at)]));

/** A failure that causes a lock is distinguished. */
const isLock = ({ changes = {} }: AuditEvent): boolean => 'lockedForSeconds' in changes;

type CommonPart = Repeated['event'];

const commonPartOf = (event: AuditEvent): CommonPart => {
  const {
    tenantId,
    actor: { kind, id, name, ip, requestId },
    action,
    recordKind,
    recordId,
    changes = {},
  } = event;
  const distinguishing = Object.fromEntries(
    distinguishingOf(event).flatMap((field) => (changes[field] === undefined ? [] : [[field, changes[field]]])),
  );
  return {
    tenantId,
    actor: { kind, id, name, ip, requestId },
    action,
    recordKind,
    recordId,
    changes: { ...distinguishing, ...(isLock(event) ? { locked: true } : {}) },
  };
};

const othersOf = (event: AuditEvent): CommonPart => {
  const common = commonPartOf(event);
  return { ...common, actor: { ...common.actor, ip: null }, recordId: null, changes: { others: true } };
};

function repeatedOf(row: Row): Repeated {
  const event = JSON.parse(String(row['event'])) as CommonPart; // as `count` wrote it
  return {
    event: { ...event, actor: { ...event.actor, requestId: String(row['request_id']) } },
    times: numberOf(row, 'times'),
    since: numberOf(row, 'since'),
    until: numberOf(row, 'until'),
  };
}
