import type { Transaction } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import type { Call } from '../contract/call.js';
import {
  extractionFieldReviews,
  extractionReviews,
  extractionRuns,
  type ExtractionRunRow,
  type FieldReviewRow,
  type ReviewRow,
} from '../tables/extractions.js';
import type { ChangeRecorder } from './change-recorder.js';
import type { Fragment } from '../../base/database/fragments.js';
import { withinScope } from './scope.js';

/** How long a run that was not applied is kept after its last review; each new run removes a few older ones. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;
const REMOVED_AT_ONCE = 10;

/**
 * Extraction runs with their reviews. A run for a contract is visible to callers who may see the contract; any other
 * run is visible to its creator and to administrators without a scope.
 */
export class ExtractionStore {
  private readonly scope: Fragment;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly recorder: ChangeRecorder,
  ) {
    this.scope = withinScope(call, tx.dialect, 'contracts');
  }

  async find(
    id: string,
    { forUpdate = false }: { readonly forUpdate?: boolean } = {},
  ): Promise<ExtractionRunRow | undefined> {
    if (!isId(id)) return undefined;
    const lock = forUpdate && this.tx.dialect === 'postgres' ? ' FOR UPDATE' : '';
    const found = await this.tx.get(
      `SELECT ${extractionRuns.columnNames} FROM extraction_runs WHERE tenant_id = ? AND id = ?${lock}`,
      [this.call.tenantId, id],
    );
    const row = found && extractionRuns.decode(found);
    return row && (await this.isSeen(row)) ? row : undefined;
  }

  /** Without a scope check: for the reading of the run's document. */
  async byId(
    id: string,
    { forUpdate = false }: { readonly forUpdate?: boolean } = {},
  ): Promise<ExtractionRunRow | undefined> {
    const lock = forUpdate && this.tx.dialect === 'postgres' ? ' FOR UPDATE' : '';
    const row = await this.tx.get(
      `SELECT ${extractionRuns.columnNames} FROM extraction_runs WHERE tenant_id = ? AND id = ?${lock}`,
      [this.call.tenantId, id],
    );
    return row && extractionRuns.decode(row);
  }

  /** Runs whose document is to be read now, the longest waiting first. */
  async toRead(now: number, limit: number): Promise<ExtractionRunRow[]> {
    const rows = await this.tx.all(
      `SELECT ${extractionRuns.columnNames} FROM extraction_runs WHERE tenant_id = ? AND reading_due_at <= ? ORDER BY reading_due_at LIMIT ?`,
      [this.call.tenantId, now, limit],
    );
    return rows.map((row) => extractionRuns.decode(row));
  }

  /** Claims the reading of a run's document until `until`; returns whether the caller now has it. */
  async claimReading({ id, readingDueAt }: ExtractionRunRow, until: number): Promise<boolean> {
    return (
      (await this.tx.run(
        'UPDATE extraction_runs SET reading_due_at = ?, reading_tries = reading_tries + 1 WHERE tenant_id = ? AND id = ? AND reading_due_at = ?',
        [until, this.call.tenantId, id, readingDueAt],
      )) > 0
    );
  }

  /** Postpones a reading that could not begin; it does not count as a try. */
  async putOffReading({ id }: ExtractionRunRow, until: number): Promise<void> {
    this.recorder.due.at('documents', until);
    await this.tx.run(
      "UPDATE extraction_runs SET reading_due_at = ?, reading_tries = CASE WHEN reading_tries > 0 THEN reading_tries - 1 ELSE 0 END WHERE tenant_id = ? AND id = ? AND status = 'processing'",
      [until, this.call.tenantId, id],
    );
  }

  /** The latest run for a contract that the caller has already found. */
  async latestOf(contractId: string): Promise<ExtractionRunRow | undefined> {
    // SQLite, which has no statistics, would rather read all runs in the order of their ids than sort a few.
    const by = this.tx.dialect === 'sqlite' ? ' INDEXED BY extraction_runs_by_contract' : '';
    const row = await this.tx.get(
      `SELECT ${extractionRuns.columnNames} FROM extraction_runs${by} WHERE tenant_id = ? AND contract_id = ? ORDER BY id DESC LIMIT 1`,
      [this.call.tenantId, contractId],
    );
    return row && extractionRuns.decode(row);
  }

  private async isSeen({ contractId, createdBy }: ExtractionRunRow): Promise<boolean> {
    const { actor, rights, subjectScope, ownerScope } = this.call;
    if (contractId === null)
      return (
        (createdBy !== null && createdBy === actor.id) || (rights.admin && subjectScope === null && ownerScope === null)
      );
    return (
      (await this.tx.get(
        `SELECT id FROM contracts WHERE ${this.scope.sql} AND contracts.id = ? AND contracts.deleted_at IS NULL`,
        [...this.scope.values, contractId],
      )) !== undefined
    );
  }

  async insert(row: ExtractionRunRow): Promise<void> {
    await extractionRuns.insert(this.tx, this.call.tenantId, [row]);
    if (row.readingDueAt !== null) this.recorder.due.at('documents', row.readingDueAt);
    this.recordChange(row.id, null, auditFacts(row));
  }

  /**
   * `reviewed` lists the reviewed fields and their decisions for the audit. The overriding values are audited with the
   * contract that is created from the run.
   */
  async update(
    before: ExtractionRunRow,
    after: ExtractionRunRow,
    reviewed: Readonly<Record<string, string>>,
  ): Promise<void> {
    await extractionRuns.update(this.tx, this.call.tenantId, { id: before.id, before, after });
    this.recordChange(before.id, auditFacts(before), {
      ...auditFacts(after),
      ...(Object.keys(reviewed).length > 0 ? { reviewed } : {}),
    });
  }

  /** Reviews by field key. */
  async fieldReviews(runId: string): Promise<Map<string, FieldReviewRow>> {
    const rows = await this.tx.all(
      `SELECT ${extractionFieldReviews.columnNames} FROM extraction_field_reviews WHERE tenant_id = ? AND run_id = ?`,
      [this.call.tenantId, runId],
    );
    return new Map(rows.map((row) => extractionFieldReviews.decode(row)).map((review) => [review.fieldKey, review]));
  }

  /** Replaces the current reviews of fields; the latest review counts. */
  async putFieldReviews(rows: readonly FieldReviewRow[]): Promise<void> {
    const { tenantId } = this.call;
    for (const { runId, fieldKey } of rows)
      await this.tx.run('DELETE FROM extraction_field_reviews WHERE tenant_id = ? AND run_id = ? AND field_key = ?', [
        tenantId,
        runId,
        fieldKey,
      ]);
    await extractionFieldReviews.insert(this.tx, tenantId, rows);
  }

  /** The latest reviews, newest first. */
  async reviews(runId: string, limit: number): Promise<ReviewRow[]> {
    const rows = await this.tx.all(
      `SELECT ${extractionReviews.columnNames} FROM extraction_reviews WHERE tenant_id = ? AND run_id = ? ORDER BY id DESC LIMIT ?`,
      [this.call.tenantId, runId, limit],
    );
    return rows.map((row) => extractionReviews.decode(row));
  }

  async insertReview(row: ReviewRow): Promise<void> {
    await extractionReviews.insert(this.tx, this.call.tenantId, [row]);
  }

  /** Removes a few runs that were not applied and have not changed for `KEPT_MS`. */
  async removeOld(now: number): Promise<void> {
    const { tenantId } = this.call;
    const rows = await this.tx.all(
      "SELECT id FROM extraction_runs WHERE tenant_id = ? AND updated_at < ? AND status <> 'applied' ORDER BY updated_at LIMIT ?",
      [tenantId, now - KEPT_MS, REMOVED_AT_ONCE],
    );
    for (const id of rows.map((row) => String(row['id']))) {
      for (const table of ['extraction_reviews', 'extraction_field_reviews'])
        await this.tx.run(`DELETE FROM ${table} WHERE tenant_id = ? AND run_id = ?`, [tenantId, id]);
      await this.tx.run('DELETE FROM extraction_runs WHERE tenant_id = ? AND id = ?', [tenantId, id]);
      this.recordChange(id, { status: 'expired' }, null);
    }
  }

  private recordChange(id: string, before: object | null, after: object | null): void {
    this.recorder.recordFact({ record: 'extraction', id, before, after });
  }
}

/** The audit trail records the status of a run, but not the values that were read. */
const auditFacts = ({
  status,
  sourceKind,
  fileId,
  fileName,
  engineName,
  engineVersion,
  overallConfidence,
  fields,
}: ExtractionRunRow) => ({
  status,
  sourceKind,
  fileId,
  fileName,
  engine: `${engineName} ${engineVersion}`,
  overallConfidence: overallConfidence / 100,
  fieldsFound: fields.length,
});
