import type { Row, Transaction } from '../../base/database/database.js';
import type { Day } from '../../base/day.js';
import type { Call } from '../contract/call.js';
import type { ContractStatus, ContractType, PaymentStatus, WorkflowStage } from '../contract/vocabulary.js';
import { EVERY, PART, type DayCount, type DaySum } from '../tables/rollups.js';
import { allOf, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';

/** Figures of one currency on the days between two cuts. */
export interface Segment<F extends DayCount | DaySum> {
  readonly currencyCode: string;
  /** The number of cuts on or before these days. */
  readonly index: number;
  readonly figures: Readonly<Record<F, bigint>>;
}

/** Contracts with equal values in all dimensions of a distribution. */
export interface Group {
  readonly subjectId: string;
  readonly ownerId: string;
  readonly currencyCode: string;
  readonly type: ContractType;
  readonly status: ContractStatus;
  readonly stage: WorkflowStage;
  readonly paymentStatus: PaymentStatus;
  readonly contracts: number;
  readonly total: bigint;
  readonly outstanding: bigint;
}

/**
 * Reads the rollups within the caller's scope and, where given, of one subject company. It reads days and groups, never
 * payment lines.
 */
export class FigureStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Pick<Call, 'tenantId' | 'subjectScope' | 'ownerScope'>,
  ) {}

  /**
   * The figures of all days, added up between `cuts`: a cut begins the next segment. Cuts must ascend, and their number
   * must be constant for each kind of answer, to keep the number of distinct statements small. Segments without figures
   * of a currency may be missing.
   */
  async days<const C extends DayCount, const S extends DaySum>({
    subjectId,
    cuts,
    counts,
    sums,
  }: {
    readonly subjectId: string | null;
    readonly cuts: readonly Day[];
    readonly counts: readonly C[];
    readonly sums: readonly S[];
  }): Promise<Segment<C | S>[]> {
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

  async groups(subjectId: string | null): Promise<Group[]> {
    const where = this.groupsInScope(subjectId);
    const keys = 'subject_id, owner_id, currency_code, type, status, stage, payment_status';
    const rows = await this.tx.all(
      `SELECT ${keys}, sum(contracts) AS contracts, ${[...summed('total'), ...summed('outstanding')].join(', ')} FROM contract_groups WHERE ${where.sql} GROUP BY ${keys}`,
      where.values,
    );
    return rows.map((row) => ({
      subjectId: String(row['subject_id']),
      ownerId: String(row['owner_id']),
      currencyCode: String(row['currency_code']),
      type: String(row['type']) as ContractType, // closed vocabularies, checked when the contract was written
      status: String(row['status']) as ContractStatus,
      stage: String(row['stage']) as WorkflowStage,
      paymentStatus: String(row['payment_status']) as PaymentStatus,
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

/** The days late × amount may exceed 64 bits: the high part is itself added in two parts. */
const summed = (name: string): string[] =>
  name === 'late'
    ? [`sum(late_high / ${PART}) AS late_top`, `sum(late_high % ${PART}) AS late_high`, 'sum(late_low) AS late_low']
    : [`sum(${name}_high) AS ${name}_high`, `sum(${name}_low) AS ${name}_low`];

const exact = (row: Row, name: string): bigint =>
  (BigInt(row[`${name}_top`] ?? 0) * BigInt(PART) + BigInt(row[`${name}_high`] ?? 0)) * BigInt(PART) +
  BigInt(row[`${name}_low`] ?? 0);
