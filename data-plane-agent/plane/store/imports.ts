import type { Clock } from '../../base/clock.js';
import type { Transaction } from '../../base/database/database.js';
import { isId } from '../../base/ids.js';
import { stringifyYielding } from '../../base/json-pieces.js';
import type { Call } from '../contract/call.js';
import { BATCH_DAYS } from '../contract/records/imports.js';
import { importBatches, type ImportBatchRow } from '../tables/imports.js';
import type { ChangeRecorder } from './change-recorder.js';

const KEPT_MS = BATCH_DAYS * 24 * 60 * 60 * 1000;

/** Reports of imports. They are visible to the importing user, and to administrators without a scope. */
export class ImportStore {
  private readonly clock: Clock;
  private readonly recorder: ChangeRecorder;

  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    { clock, recorder }: { readonly clock: Clock; readonly recorder: ChangeRecorder },
  ) {
    this.clock = clock;
    this.recorder = recorder;
  }

  /** Each import also deletes some expired reports, more than it adds. */
  async insert(batch: Pick<ImportBatchRow, 'id' | 'report' | 'rejected'>): Promise<void> {
    const { tenantId, actor } = this.call;
    const now = this.clock.now();
    await this.tx.run(
      'DELETE FROM import_batches WHERE tenant_id = ? AND id IN (SELECT id FROM import_batches WHERE tenant_id = ? AND expires_at <= ? LIMIT 10)',
      [tenantId, tenantId, now],
    );
    // Both may take megabytes: they are serialized step by step, yielding to the event loop, and not with the row.
    const [report, rejected] = [await stringifyYielding(batch.report), await stringifyYielding(batch.rejected)];
    const { report: summary } = batch;
    await importBatches.insert(this.tx, tenantId, [
      {
        id: batch.id,
        report: { ...summary, rows: [] },
        rejected: { ...batch.rejected, rows: [] },
        createdBy: actor.id,
        createdAt: now,
        expiresAt: now + KEPT_MS,
      },
    ]);
    await this.tx.run('UPDATE import_batches SET report = ?, rejected = ? WHERE tenant_id = ? AND id = ?', [
      report,
      rejected,
      tenantId,
      batch.id,
    ]);
    this.recorder.due.at('expiry', now + KEPT_MS);
    const { total, created, failed, skipped, contracts } = summary;
    this.recorder.recordFact({
      record: 'import_batch',
      id: batch.id,
      before: null,
      after: { total, created, failed, skipped, contracts },
    });
  }

  async find(id: string): Promise<ImportBatchRow | undefined> {
    if (!isId(id)) return undefined;
    const { tenantId, actor, rights, subjectScope, ownerScope } = this.call;
    const row = await this.tx.get(
      `SELECT ${importBatches.columnNames} FROM import_batches WHERE tenant_id = ? AND id = ? AND expires_at > ?`,
      [tenantId, id, this.clock.now()],
    );
    if (!row) return undefined;
    const seesAll = rights.admin && subjectScope === null && ownerScope === null;
    return seesAll || (actor.id !== null && row['created_by'] === actor.id) ? importBatches.decode(row) : undefined;
  }
}
