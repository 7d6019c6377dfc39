import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Transaction } from '../../base/database/database.js';
import type { Call } from '../contract/call.js';
import type { Values } from '../domain/fields/changed-values.js';
import { fieldForms, type FormsRow } from '../tables/fields.js';
import { contracts } from '../tables/contracts.js';
import { isOneOf } from '../../base/database/fragments.js';
import type { DueMarks } from './due-work.js';

/** A contract with its custom values. */
export interface ContractValues {
  readonly contractId: string;
  readonly contractNo: string;
  readonly values: Values;
  readonly remembered: FormsRow | undefined;
  /** Whether the contract is in the caller's scope. */
  readonly isInScope: boolean;
}

/**
 * The first and the largest number of contracts per step. The size is adapted so that the JSON of a step, measured in
 * UTF-16 units, takes some milliseconds to process.
 */
const FIRST_STEP = 25;
const STEP = 250;
const STEP_UNITS = 2_000_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/**
 * The custom values of all contracts of the tenant, including deleted ones and those outside the caller's scope, since
 * a definition applies to all of them. Steps yield to the event loop.
 */
export class FieldValueStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
    private readonly due: DueMarks,
  ) {}

  /** Every contract with custom values, then every contract without any that has former forms of this field. */
  async *walk(fieldId: string): AsyncGenerator<ContractValues[]> {
    // Without this SQLite reads all contracts by primary key.
    const walking = this.tx.dialect === 'sqlite' ? ' INDEXED BY contracts_with_values' : '';
    yield* this.steps(fieldId, (after, limit) =>
      this.tx.all(
        `SELECT ${COLUMNS} FROM contracts${walking} WHERE tenant_id = ? AND id > ? AND dynamic_fields <> '{}' ORDER BY id LIMIT ?`,
        [this.call.tenantId, after, limit],
      ),
    );
    yield* this.steps(fieldId, (after, limit) =>
      this.tx.all(
        `SELECT ${COLUMNS} FROM dynamic_field_forms f JOIN contracts ON contracts.tenant_id = f.tenant_id AND contracts.id = f.contract_id
         WHERE f.tenant_id = ? AND f.field_id = ? AND f.contract_id > ? AND contracts.dynamic_fields = '{}' ORDER BY f.contract_id LIMIT ?`,
        [this.call.tenantId, fieldId, after, limit],
      ),
    );
  }

  /** Writes the custom values of contracts. Their versions do not change, since no user has edited them. */
  async write(rows: readonly { readonly contractId: string; readonly values: Values }[]): Promise<void> {
    const { tenantId } = this.call;
    if (this.tx.dialect === 'sqlite') {
      for (const { contractId, values } of rows)
        await this.tx.run('UPDATE contracts SET dynamic_fields = ? WHERE tenant_id = ? AND id = ?', [
          JSON.stringify(values),
          tenantId,
          contractId,
        ]);
    } else if (rows.length > 0) {
      // One round trip for all of them.
      await this.tx.run(
        `UPDATE contracts SET dynamic_fields = given.fields FROM (SELECT (item->>0)::uuid AS id, item->>1 AS fields FROM json_array_elements(?::json) AS item) AS given
         WHERE contracts.tenant_id = ? AND contracts.id = given.id`,
        [JSON.stringify(rows.map(({ contractId, values }) => [contractId, JSON.stringify(values)])), tenantId],
      );
    }
  }

  /** Stores the former forms of contracts' values, replacing those stored before. */
  async remember(rows: readonly FormsRow[]): Promise<void> {
    for (const { expiresAt } of rows) this.due.at('expiry', expiresAt);
    const columns = 'INSERT INTO dynamic_field_forms (tenant_id, field_id, contract_id, forms, became, expires_at)';
    const instead =
      'ON CONFLICT (tenant_id, field_id, contract_id) DO UPDATE SET forms = excluded.forms, became = excluded.became, expires_at = excluded.expires_at';
    if (this.tx.dialect === 'sqlite') {
      for (const row of rows)
        await this.tx.run(`${columns} VALUES (?, ?, ?, ?, ?, ?) ${instead}`, [
          this.call.tenantId,
          ...fieldForms.values(row),
        ]);
    } else if (rows.length > 0) {
      await this.tx.run(
        `${columns} SELECT ?::uuid, (item->>0)::uuid, (item->>1)::uuid, item->>2, item->>3, (item->>4)::bigint FROM json_array_elements(?::json) AS item ${instead}`,
        [this.call.tenantId, JSON.stringify(rows.map((row) => fieldForms.values(row)))],
      );
    }
  }

  /** Deletes the stored forms of values that have been edited since. */
  async drop(fieldId: string, contractIds: readonly string[]): Promise<void> {
    if (contractIds.length === 0) return;
    const among = isOneOf(this.tx.dialect, 'contract_id', contractIds);
    await this.tx.run(`DELETE FROM dynamic_field_forms WHERE tenant_id = ? AND field_id = ? AND ${among.sql}`, [
      this.call.tenantId,
      fieldId,
      ...among.values,
    ]);
  }

  /** Deletes expired forms of all fields. */
  async forget(now: number): Promise<void> {
    await this.tx.run('DELETE FROM dynamic_field_forms WHERE tenant_id = ? AND expires_at <= ?', [
      this.call.tenantId,
      now,
    ]);
  }

  /** The names of files by their ids. */
  async fileNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const among = isOneOf(this.tx.dialect, 'id', ids);
    const rows = await this.tx.all(`SELECT id, file_name FROM files WHERE tenant_id = ? AND ${among.sql}`, [
      this.call.tenantId,
      ...among.values,
    ]);
    return new Map(rows.map((row) => [String(row['id']), String(row['file_name'])]));
  }

  private async *steps(
    fieldId: string,
    read: (after: string, limit: number) => ReturnType<Transaction['all']>,
  ): AsyncGenerator<ContractValues[]> {
    for (let after = BEFORE_ALL, limit = FIRST_STEP; ;) {
      const rows = await read(after, limit);
      const last = rows.at(-1);
      if (!last) return;
      const ids = rows.map((row) => String(row['id']));
      const remembered = await this.remembered(fieldId, ids);
      yield rows.map((row) => ({
        contractId: String(row['id']),
        contractNo: String(row['contract_no']),
        values: JSON.parse(String(row['dynamic_fields'])) as Values,
        remembered: remembered.get(String(row['id'])),
        isInScope: this.sees(row),
      }));
      if (rows.length < limit) return;
      after = String(last['id']);
      const units = rows.reduce((sum, row) => sum + String(row['dynamic_fields']).length, 0);
      limit = Math.min(STEP, Math.max(1, Math.floor((STEP_UNITS * rows.length) / units)));
      await yieldToEventLoop();
    }
  }

  private async remembered(fieldId: string, contractIds: readonly string[]): Promise<ReadonlyMap<string, FormsRow>> {
    const among = isOneOf(this.tx.dialect, 'contract_id', contractIds);
    const rows = await this.tx.all(
      `SELECT ${fieldForms.columnNames} FROM dynamic_field_forms WHERE tenant_id = ? AND field_id = ? AND ${among.sql}`,
      [this.call.tenantId, fieldId, ...among.values],
    );
    return new Map(rows.map((row) => fieldForms.decode(row)).map((form) => [form.contractId, form]));
  }

  private sees(row: Awaited<ReturnType<Transaction['all']>>[number]): boolean {
    const { subjectScope, ownerScope } = this.call;
    return (
      (subjectScope === null || subjectScope.includes(String(row['subject_id']))) &&
      (ownerScope === null || row['owner_id'] === ownerScope || row['owner_superior_id'] === ownerScope)
    );
  }
}

const COLUMNS = ['id', 'contract_no', 'dynamic_fields', 'subject_id', 'owner_id', 'owner_superior_id']
  .map((column) => `${contracts.name}.${column}`)
  .join(', ');
