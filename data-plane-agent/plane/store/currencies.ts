import type { Transaction } from '../../base/database/database.js';
import { isOneOf } from '../../base/database/fragments.js';
import type { Call } from '../contract/call.js';
import type { KeptChange } from '../domain/audit/kept.js';
import type { CurrencyOf } from '../domain/audit/changed-fields.js';
import { AUDITED } from '../tables/audited.js';

/** Currencies of records for audit events that do not contain them; older events lack the currency. */
export class CurrencyStore {
  constructor(
    private readonly tx: Transaction,
    private readonly call: Call,
  ) {}

  /**
   * The current currencies of the records in these changes; for a record that no longer exists, the tenant's currency.
   */
  async of(changes: readonly KeptChange[]): Promise<CurrencyOf> {
    const found = new Map<string, string>();
    for (const [record, { name, columns, audited }] of AUDITED) {
      const currency = columns.get('currencyCode')?.name;
      const hasMoney = ({ fields }: KeptChange): boolean =>
        Object.keys(fields).some((field) => audited.get(field)?.meaning === 'money');
      const ids = [
        ...new Set(
          changes
            .filter((change) => change.record === record && !change.currency && hasMoney(change))
            .map(({ id }) => id),
        ),
      ];
      if (!currency || ids.length === 0) continue;
      const among = isOneOf(this.tx.dialect, 'id', ids);
      for (const row of await this.tx.all(
        `SELECT id, ${currency} AS currency FROM ${name} WHERE tenant_id = ? AND ${among.sql}`,
        [this.call.tenantId, ...among.values],
      ))
        found.set(String(row['id']), String(row['currency']));
    }
    return (id) => found.get(id) ?? this.call.currencyCode;
  }
}
