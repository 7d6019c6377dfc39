import type { Row, Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import { segmentsWith, type DayFigures, type Segment } from '../domain/analytics/segments.js';
import { groupsOf, NO_TALLIES, talliesWith, type Group, type Tallies } from '../domain/analytics/tallies.js';
import type { Increments } from '../domain/analytics/increments.js';
import { EVERY, PART, type DayCount, type DaySum } from '../tables/rollups.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { together } from '../../base/together.js';
import type { Asked, FigureMemory } from './figure-memory.js';
import { waitingIn } from './waiting-figures.js';

/**
 * Reads the rollups within the caller's scope and, where given, of one subject company. It reads days and groups, never
 * payment lines, and with a memory only what has changed since it read them before.
 */
export class FigureStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Pick<Call, 'tenantId' | 'subjectScope' | 'ownerScope'>,
    /** None for a transaction that writes: on PostgreSQL its statements do not see one snapshot. */
    private readonly memory?: FigureMemory,
  ) {}

  /**
   * The figures of all days, added up between the cuts: a cut begins the next segment. Cuts must ascend, and their
   * number must be constant for each kind of answer, to keep the number of distinct statements small. Segments without
   * figures of a currency may be missing.
   */
  days<const C extends DayCount, const S extends DaySum>({
    subjectId,
    ...asked
  }: DayFigures<C, S> & { readonly subjectId: string | null }): Promise<readonly Segment<C | S>[]> {
    const columns = asked.counts.length + asked.sums.length;
    return this.figures({
      key: JSON.stringify(['days', this.scope(subjectId), asked]),
      read: async () => {
        const [segments, waiting] = await this.withWaiting(() => this.segments(subjectId, asked));
        return segmentsWith(segments, waiting, { scope: this.scope(subjectId), asked });
      },
      add: (segments: readonly Segment<C | S>[], increments: readonly Increments[]) =>
        segmentsWith(segments, increments, { scope: this.scope(subjectId), asked }),
      bytes: (segments) => segments.length * (SEGMENT_BYTES + columns * FIGURE_BYTES),
    });
  }

  /** The contracts, counted by each dimension. */
  tallies(subjectId: string | null): Promise<Tallies> {
    return this.figures({
      key: JSON.stringify(['tallies', this.scope(subjectId)]),
      read: async () => {
        const [groups, waiting] = await this.withWaiting(() => this.groups(subjectId));
        return talliesWith(NO_TALLIES, [...groups, ...groupsOf(waiting, this.scope(subjectId))]);
      },
      add: (tallies: Tallies, increments: readonly Increments[]) =>
        talliesWith(tallies, groupsOf(increments, this.scope(subjectId))),
      bytes: (tallies) => Object.values(tallies).flat().length * TALLY_BYTES,
    });
  }

  private figures<F extends object>(asked: Asked<F>): Promise<F> {
    return this.memory ? this.memory.figures(this.tx, this.call.tenantId, asked) : asked.read();
  }

  /** What is read from the rollups, with what is still to be added to it. */
  private async withWaiting<T>(read: () => Promise<T>): Promise<readonly [T, readonly Increments[]]> {
    const { tenantId } = this.call;
    if (this.memory) return together(read(), waitingIn(this.tx, tenantId, { writes: false }));
    const waiting = await waitingIn(this.tx, tenantId, { writes: true });
    return [await read(), waiting];
  }

  private scope(subjectId: string | null) {
    const { subjectScope, ownerScope } = this.call;
    return { subjectScope, ownerScope, subjectId };
  }

  private async segments<const C extends DayCount, const S extends DaySum>(
    subjectId: string | null,
    { cuts, counts, sums }: DayFigures<C, S>,
  ): Promise<Segment<C | S>[]> {
    const segment = fragment(
      `CASE ${cuts.map((_, i) => `WHEN day < ? THEN ${i} `).join('')}ELSE ${cuts.length} END`,
      ...cuts,
    );
    const where = this.daysInScope(subjectId);
    const columns = [...counts.map((name) => `sum(${name}) AS ${name}`), ...sums.flatMap(summed)];
    const rows = await this.tx.all(
      `SELECT currency_code, ${segment.sql} AS segment, ${columns.join(', ')} FROM receivable_days WHERE ${where.sql} GROUP BY 1, 2 ORDER BY 1, 2`,
      [...segment.values, ...where.values],
    );
    return rows.map((row) => {
      const figures: Partial<Record<C | S, bigint>> = {};
      for (const name of counts) figures[name] = BigInt(row[name] ?? 0);
      for (const name of sums) figures[name] = exact(row, name);
      return {
        currencyCode: String(row['currency_code']),
        index: Number(row['segment']),
        figures: figures as Record<C | S, bigint>,
      }; // each figure was just set
    });
  }

  private async groups(subjectId: string | null): Promise<Group[]> {
    const where = this.groupsInScope(subjectId);
    const keys = 'subject_id, owner_id, currency_code, type, status, stage, payment_status';
    const rows = await this.tx.all(
      `SELECT ${keys}, sum(contracts) AS contracts, ${[...summed('total'), ...summed('outstanding')].join(', ')} FROM contract_groups WHERE ${where.sql} GROUP BY ${keys}`,
      where.values,
    );
    return rows.map((row) => ({
      currencyCode: String(row['currency_code']),
      keys: {
        type: String(row['type']),
        status: String(row['status']),
        stage: String(row['stage']),
        owner: String(row['owner_id']),
        subject: String(row['subject_id']),
        paymentStatus: String(row['payment_status']),
      },
      contracts: Number(row['contracts']),
      total: exact(row, 'total'),
      outstanding: exact(row, 'outstanding'),
    }));
  }

  /**
   * Without a scope, the rows of the whole tenant; with a subject scope, those of the subject companies; with an owner
   * scope, those of the person in each company.
   */
  private daysInScope(subjectId: string | null): Fragment {
    const { tenantId, subjectScope, ownerScope } = this.call;
    const subjects =
      this.subjects(subjectId) ??
      (ownerScope === null && subjectScope === null && subjectId === null
        ? fragment('subject_id = ?', EVERY)
        : undefined);
    return allOf([
      fragment('tenant_id = ? AND person_id = ?', tenantId, ownerScope ?? EVERY),
      ...(subjects ? [subjects] : []),
    ]);
  }

  private groupsInScope(subjectId: string | null): Fragment {
    const { tenantId, ownerScope } = this.call;
    const subjects = this.subjects(subjectId);
    return allOf([
      fragment('tenant_id = ?', tenantId),
      ...(subjects ? [subjects] : []),
      ...(ownerScope === null ? [] : [fragment('(owner_id = ? OR superior_id = ?)', ownerScope, ownerScope)]),
    ]);
  }

  private subjects(subjectId: string | null): Fragment | undefined {
    const { subjectScope } = this.call;
    if (subjectId !== null) return fragment('subject_id = ?', subjectId);
    return subjectScope === null ? undefined : isOneOf(this.tx.dialect, 'subject_id', subjectScope);
  }
}

/** What a kept segment, a figure of it and a tally take, about. */
const SEGMENT_BYTES = 200;
const FIGURE_BYTES = 32;
const TALLY_BYTES = 160;

/** The days late × amount may exceed 64 bits: the high part is itself added in two parts. */
const summed = (name: string): string[] =>
  name === 'late'
    ? [`sum(late_high / ${PART}) AS late_top`, `sum(late_high % ${PART}) AS late_high`, 'sum(late_low) AS late_low']
    : [`sum(${name}_high) AS ${name}_high`, `sum(${name}_low) AS ${name}_low`];

const exact = (row: Row, name: string): bigint =>
  (BigInt(row[`${name}_top`] ?? 0) * BigInt(PART) + BigInt(row[`${name}_high`] ?? 0)) * BigInt(PART) +
  BigInt(row[`${name}_low`] ?? 0);
