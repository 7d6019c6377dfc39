import type { Row, Transaction } from '../database/database.js';
import { SealError, type KeyRing } from '../secrets.js';
import type { AuditCheck, AuditFilter, AuditHead, AuditRow } from './records.js';
import { beginningOf, checkHead, isSame, linkAfter, walk, type ChainedEvent, type Link } from './chain.js';
import { allOf, arrayLiteral, fragment, type Fragment } from '../database/fragments.js';

/**
 * One audit trail: a tenant's in the platform or the tenant database, or the platform's own events, which belong to no
 * tenant.
 */
export interface TrailName {
  /** The tenant's id, or `platform`. */
  readonly chain: string;
  /** The trail's rows in `audit_log`. */
  readonly rows: Fragment;
  /** The key column of its head in `audit_heads`. */
  readonly headKey: 'tenant_id' | 'chain';
  /** Limits which events the caller may see; all of them when absent. The chain always covers all events. */
  readonly visible?: () => readonly Fragment[];
}

/** The number of events chained, checked or exported per transaction. */
const BATCH = 200;
/** Events are read together up to these numbers: one can be megabytes long, and reading it blocks other work. */
const PORTION = { events: 32, bytes: 64 * 1024 } as const;

/** An event to be chained, and the length of its changes. */
interface Waiting {
  readonly id: string;
  readonly bytes: number;
}

/** A link of the chain, and the id of its event. */
interface EventLink extends Link {
  readonly id: string;
}

function portions(waiting: readonly Waiting[]): string[][] {
  const found: string[][] = [];
  let bytes = 0;
  for (const event of waiting) {
    const last = found.at(-1);
    bytes += event.bytes;
    if (last && last.length < PORTION.events && bytes <= PORTION.bytes) last.push(event.id);
    else {
      found.push([event.id]);
      ({ bytes } = event);
    }
  }
  return found;
}

/**
 * Reads an audit trail and chains its events. Writers only insert rows; ordering and hashing happen here, later, so
 * that writers do not wait for each other. Count and head hash are stored beside the rows under a seal: truncating the
 * events, even with the head set back to match, is detected.
 */
export class AuditTrail {
  constructor(
    private readonly tx: Transaction,
    private readonly keyRing: KeyRing,
    private readonly name: TrailName,
  ) {}

  /** Newest first. */
  async page(
    filter: AuditFilter,
    { page, pageSize }: { page: number; pageSize: number },
  ): Promise<{ rows: AuditRow[]; total: number }> {
    const where = this.seen(filter);
    const total = Number(
      (await this.tx.get(`SELECT count(*) AS n FROM audit_log WHERE ${where.sql}`, where.values))?.['n'],
    );
    const offset = (page - 1) * pageSize;
    if (offset >= total) return { rows: [], total };
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM audit_log WHERE ${where.sql} ORDER BY id DESC LIMIT ? OFFSET ?`,
      [...where.values, pageSize, offset],
    );
    return { rows: rows.map(rowOf), total };
  }

  /** The next events in the order of their ids, chained or not. */
  async following(afterId: string, filter: AuditFilter): Promise<AuditRow[]> {
    const where = allOf([this.seen(filter), fragment('id > ?', afterId)]);
    return (
      await this.tx.all(`SELECT ${COLUMNS} FROM audit_log WHERE ${where.sql} ORDER BY id LIMIT ?`, [
        ...where.values,
        BATCH,
      ])
    ).map(rowOf);
  }

  /** Chains the oldest unchained events. Returns how many it chained, and whether there may be more. */
  async chain(): Promise<{ chained: number; more: boolean }> {
    if ((await this.waiting(1)).length === 0) return { chained: 0, more: false };
    const head = await this.lockHead();
    const waiting = await this.waiting(BATCH);
    let link: Link = head.link;
    for (const ids of portions(waiting)) {
      const links: EventLink[] = [];
      for (const event of await this.events(ids)) {
        link = linkAfter(link, event);
        links.push({ ...link, id: event.id });
      }
      await this.writeLinks(links);
    }
    await this.moveHead(link, head);
    return { chained: waiting.length, more: waiting.length === BATCH };
  }

  private async writeLinks(links: readonly EventLink[]): Promise<void> {
    const { sql, values } = this.name.rows;
    if (this.tx.dialect === 'postgres') {
      await this.tx.defer(
        `UPDATE audit_log SET position = link.at_position, hash = link.link_hash FROM unnest(?::uuid[], ?::bigint[], ?::text[]) AS link (event_id, at_position, link_hash) WHERE ${sql} AND id = link.event_id AND ${IS_UNCHAINED}`,
        [
          arrayLiteral(links.map(({ id }) => id)),
          arrayLiteral(links.map(({ position }) => position)),
          arrayLiteral(links.map(({ hash }) => hash)),
          ...values,
        ],
      );
      return;
    }
    for (const { id, position, hash } of links)
      await this.tx.defer(`UPDATE audit_log SET position = ?, hash = ? WHERE ${sql} AND id = ? AND position IS NULL`, [
        position,
        hash,
        ...values,
        id,
      ]);
  }

  /** The stored head, and the number of unchained events. */
  async headNow(): Promise<AuditHead> {
    const { head = beginningOf(this.name.chain) } = await this.head();
    return { ...head, waiting: await this.countWaiting() };
  }

  /**
   * Checks one batch of events after `from` (by default from the first event on). A check limited by `until`, the last
   * position to include, never reports `done`.
   */
  async check(from: Link = beginningOf(this.name.chain), until?: number): Promise<AuditCheck> {
    const rows = await this.tx.all(
      `SELECT ${COLUMNS} FROM audit_log WHERE ${this.name.rows.sql} AND position > ? AND position <= ? ORDER BY position, id LIMIT ?`,
      [...this.name.rows.values, from.position, until ?? Number.MAX_SAFE_INTEGER, BATCH],
    );
    const { link, faults } = walk(from, rows.map(rowOf) as ChainedEvent[]); // the condition leaves only rows that have a position
    const done = rows.length < BATCH && until === undefined;
    const waiting = done ? await this.countWaiting() : 0;
    return { ...link, done, faults: [...faults, ...(done ? checkHead(link, await this.head()) : [])], waiting };
  }

  private seen(filter: AuditFilter): Fragment {
    return allOf([this.name.rows, ...filtered(filter), ...(this.name.visible?.() ?? [])]);
  }

  private async countWaiting(): Promise<number> {
    return Number(
      (
        await this.tx.get(
          `SELECT count(*) AS n FROM audit_log WHERE ${this.name.rows.sql} AND position IS NULL`,
          this.name.rows.values,
        )
      )?.['n'],
    );
  }

  private async waiting(limit: number): Promise<Waiting[]> {
    const { sql, values } = this.name.rows;
    return (
      await this.tx.all(
        `SELECT id, octet_length(changes) AS bytes FROM audit_log WHERE ${sql} AND position IS NULL ORDER BY id LIMIT ?`,
        [...values, limit],
      )
    ).map((row) => ({ id: text(row, 'id'), bytes: Number(row['bytes']) }));
  }

  private async events(ids: readonly string[]): Promise<AuditRow[]> {
    const { sql, values } = this.name.rows;
    // Each by its key: for a set of ids PostgreSQL may look through an index of all events, if it takes it for small.
    const [found, given] =
      this.tx.dialect === 'postgres'
        ? [
            `unnest(?::uuid[]) AS named (event_id) CROSS JOIN LATERAL (SELECT * FROM audit_log WHERE id = event_id AND ${sql} LIMIT 1) AS event`,
            arrayLiteral(ids),
          ]
        : [
            `(SELECT value AS event_id FROM json_each(?)) CROSS JOIN audit_log ON id = event_id AND ${sql}`,
            JSON.stringify(ids),
          ];
    const rows = await this.tx.all(`SELECT ${COLUMNS} FROM ${found} ORDER BY id`, [given, ...values]);
    if (rows.length < ids.length) throw new Error(`audit events of ${ids.join(', ')} do not exist`);
    return rows.map(rowOf);
  }

  /** Reads the head and locks it until the transaction ends. SQLite needs no lock: it has a single writer. */
  private async lockHead(): Promise<{ link: Link; intact: boolean }> {
    const start = beginningOf(this.name.chain);
    await this.tx.defer(
      `INSERT INTO audit_heads (${this.name.headKey}, position, hash, seal) VALUES (?, ?, ?, ?) ON CONFLICT (${this.name.headKey}) DO NOTHING`,
      [this.name.chain, start.position, start.hash, this.seal(start)],
    );
    const { head, sealed } = await this.head(this.tx.dialect === 'postgres' ? ' FOR UPDATE' : '');
    if (!head) throw new Error(`the audit chain ${this.name.chain} has no head`);
    return { link: head, intact: isSame(head, sealed) };
  }

  private async head(lock: '' | ' FOR UPDATE' = ''): Promise<{ head: Link | undefined; sealed: Link | undefined }> {
    const row = await this.tx.get(
      `SELECT position, hash, seal FROM audit_heads WHERE ${this.name.headKey} = ?${lock}`,
      [this.name.chain],
    );
    if (!row) return { head: undefined, sealed: undefined };
    return {
      head: { position: Number(row['position']), hash: String(row['hash']) },
      sealed: this.opened(String(row['seal'])),
    };
  }

  /**
   * A head that does not match its seal keeps the old seal, so that chaining further events does not hide the
   * tampering.
   */
  private async moveHead(to: Link, { intact }: { intact: boolean }): Promise<void> {
    const { chain, headKey } = this.name;
    if (intact)
      await this.tx.defer(`UPDATE audit_heads SET position = ?, hash = ?, seal = ? WHERE ${headKey} = ?`, [
        to.position,
        to.hash,
        this.seal(to),
        chain,
      ]);
    else
      await this.tx.defer(`UPDATE audit_heads SET position = ?, hash = ? WHERE ${headKey} = ?`, [
        to.position,
        to.hash,
        chain,
      ]);
  }

  private seal({ position, hash }: Link): string {
    return this.keyRing.seal(`${position}:${hash}`, headContext(this.name.chain));
  }

  private opened(seal: string): Link | undefined {
    try {
      const [position = '', hash = ''] = this.keyRing.openText(seal, headContext(this.name.chain)).split(':');
      return { position: Number(position), hash };
    } catch (error) {
      // Without the key the seal can neither be verified nor replaced, so the error is thrown. Any other seal error is
      // a fault of the chain and is reported as one.
      if (error instanceof SealError && error.code !== 'SEAL_KEY_UNKNOWN') return undefined;
      throw error;
    }
  }
}

/** The seal context of the head of a chain. */
export const headContext = (chain: string): string => `audit_heads.seal.${chain}`;

/**
 * On PostgreSQL, of an event that is found by its key. Written as `IS NULL` it would be found in the index of those
 * that wait, in which all that were chained since the table was last vacuumed still are.
 */
const IS_UNCHAINED = 'coalesce(position, 0) = 0';

const COLUMNS =
  'tenant_id, id, at, actor_kind, actor_id, actor_name, ip, request_id, action, record_kind, record_id, changes, position, hash';

const filtered = ({ actorId, recordId, action, from, before }: AuditFilter): Fragment[] => [
  ...(actorId ? [fragment('actor_id = ?', actorId)] : []),
  ...(recordId ? [fragment('record_id = ?', recordId)] : []),
  ...(action ? [fragment('action = ?', action)] : []),
  ...(from === undefined || from === null ? [] : [fragment('at >= ?', from)]),
  ...(before === undefined || before === null ? [] : [fragment('at < ?', before)]),
];

const text = (row: Row, column: string): string => String(row[column]);
const textOrNull = (row: Row, column: string): string | null => (row[column] === null ? null : String(row[column]));

const rowOf = (row: Row): AuditRow => ({
  tenantId: textOrNull(row, 'tenant_id'),
  id: text(row, 'id'),
  at: Number(row['at']),
  actorKind: text(row, 'actor_kind'),
  actorId: textOrNull(row, 'actor_id'),
  actorName: text(row, 'actor_name'),
  ip: textOrNull(row, 'ip'),
  requestId: text(row, 'request_id'),
  action: text(row, 'action'),
  recordKind: text(row, 'record_kind'),
  recordId: textOrNull(row, 'record_id'),
  changes: text(row, 'changes'),
  position: row['position'] === null ? null : Number(row['position']),
  hash: textOrNull(row, 'hash'),
});
