import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { networkOf } from '../../data-plane-agent/base/http/network.js';
import type { AuditEvent } from './audit.js';
import { numberOf } from './rows.js';

/** What came again, and is told once its hour is over. */
export interface Repeated {
  /** As the first was told, but for what was the first's alone. */
  readonly event: Omit<AuditEvent, 'at' | 'changes'> & { readonly changes: Readonly<Record<string, unknown>> };
  readonly times: number;
  /** Of the first and of the last that was counted, in epoch milliseconds. */
  readonly since: number;
  readonly until: number;
}

/** Events are counted within the hours of the clock, UTC. */
const HOUR_MS = 3_600_000;
/**
 * Kinds of an event that are told apart in an hour, by tenant and actor; what goes beyond is counted together. What a
 * member is refused has as many kinds as there are routes and codes, and each of them is told: nobody hides one behind
 * others.
 */
const KINDS = { ofStrangers: 20, ofMembers: 100 };
/** What tells two events apart beside actor, record and address; whatever else they say is told of the first alone. */
const TELLING = ['reason', 'route', 'code', 'needs', 'template'];
/**
 * What a refusal says was missing is ours to choose where it is a right of the role; of fields, stages and the like the
 * caller makes as many as they like.
 */
const tellingOf = ({ action, changes = {} }: AuditEvent): readonly string[] =>
  action === 'access_refused' && changes['code'] !== 'FORBIDDEN' ? TELLING.filter((name) => name !== 'needs') : TELLING;

const REPEATING: ReadonlySet<string> = new Set([
  'login_failed',
  'login_code_refused',
  'access_refused',
  'mail_not_sent',
]);

/**
 * Whether the event is one that somebody can cause as often as they like: whatever a stranger does and what comes of
 * it, and what a member is refused.
 */
export const isRepeating = ({ action, actor }: Pick<AuditEvent, 'action' | 'actor'>): boolean =>
  REPEATING.has(action) || (actor.kind === 'user' && actor.id === null);

/** The same for events that are counted together. */
export function repeatKey(event: AuditEvent): string {
  const { recordKind, recordId, actor, action, changes = {} } = event;
  // A member's address tells where somebody guesses their password; that they are refused something is the same from
  // everywhere.
  const from = actor.ip === null || (action === 'access_refused' && actor.id !== null) ? null : networkOf(actor.ip);
  // Of a mail to nobody the record is the mail itself, another one each time.
  return sha256Hex(
    JSON.stringify([
      familyOf(event),
      recordKind,
      recordKind === 'mail' ? null : recordId,
      from,
      ...tellingOf(event).map((name) => changes[name] ?? null),
      isLock(event),
    ]),
  );
}

/** When the hour of an event is over. */
export const hourEnd = (at: number): number => (Math.floor(at / HOUR_MS) + 1) * HOUR_MS;

/** Counts of events in the platform database, which holds for all replicas; and none is lost with a process. */
export class AuditRepeatStore {
  constructor(private readonly tx: Transaction) {}

  /**
   * Counts an event, or `times` of them. Answers whether it is the first of its kind in the hour, and is to be told
   * now. The statements are the same in either case, so that nobody can time by them whether an account is there.
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
      JSON.stringify(isFull ? othersOf(event) : toldOf(event)),
      known === 0 ? 1 : 0,
      times, // where another transaction was quicker
    ]);
    return row !== undefined && !isFull && numberOf(row, 'times') === counted;
  }

  /** Takes out some of what ended before an instant. */
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
  actor.id === null ? KINDS.ofStrangers : action === 'access_refused' ? Infinity : KINDS.ofMembers;

/** All of one action, tenant and actor within the hour: so many kinds of them are told apart. */
const familyOf = ({ action, tenantId, actor, at }: AuditEvent): string =>
  sha256Hex(JSON.stringify([action, tenantId, actor.kind, actor.id, hourEnd(at)]));

/** The failure that brought a lock is told by itself. */
const isLock = ({ changes = {} }: AuditEvent): boolean => 'lockedForSeconds' in changes;

type Told = Repeated['event'];

const toldOf = (event: AuditEvent): Told => {
  const {
    tenantId,
    actor: { kind, id, name, ip, requestId },
    action,
    recordKind,
    recordId,
    changes = {},
  } = event;
  const telling = Object.fromEntries(
    tellingOf(event).flatMap((field) => (changes[field] === undefined ? [] : [[field, changes[field]]])),
  );
  return {
    tenantId,
    actor: { kind, id, name, ip, requestId },
    action,
    recordKind,
    recordId,
    changes: { ...telling, ...(isLock(event) ? { locked: true } : {}) },
  };
};

const othersOf = (event: AuditEvent): Told => {
  const told = toldOf(event);
  return { ...told, actor: { ...told.actor, ip: null }, recordId: null, changes: { others: true } };
};

function repeatedOf(row: Row): Repeated {
  const event = JSON.parse(String(row['event'])) as Told; // as `count` wrote it
  return {
    event: { ...event, actor: { ...event.actor, requestId: String(row['request_id']) } },
    times: numberOf(row, 'times'),
    since: numberOf(row, 'since'),
    until: numberOf(row, 'until'),
  };
}
