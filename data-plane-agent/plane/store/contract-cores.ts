import type { Transaction } from '../../base/database/database.js';
import { isOneOf } from '../../base/database/fragments.js';
import { ExpiringCache } from '../../base/expiring-cache.js';
import { jsonTextOf, type JsonText } from '../../base/json-text.js';
import { mapYielding } from '../../base/yielding.js';
import type { ContractCore } from '../contract/records/contracts.js';
import { contractCore } from '../domain/contracts/presenter.js';
import { contracts } from '../tables/contracts.js';

/** How many bytes a process caches, at two a character: the cores of some twenty thousand contracts. */
const KEPT = 64 * 1024 * 1024;
/** One that no list had for this time, in milliseconds, is dropped. */
const KEPT_MS = 10 * 60_000;

type Versioned = { readonly id: string; readonly version: number };

/**
 * The cores of contracts as JSON text, made once per version of a contract. A version is read in the same snapshot as
 * the core that is made of it, so a cached core is valid on every replica and in every transaction. There is one
 * instance per database, shared by all readers.
 */
export class ContractCores {
  private readonly cores = new ExpiringCache<{ readonly version: number; readonly json: JsonText<ContractCore> }>({
    maxSize: KEPT,
    sizeOf: ({ json }, key) => 2 * (json.length + key.length),
    keptMs: KEPT_MS,
    since: 'use',
  });

  /** By id, of contracts that `tx` has read. */
  async of(
    tx: Transaction,
    tenantId: string,
    wanted: readonly Versioned[],
  ): Promise<ReadonlyMap<string, JsonText<ContractCore>>> {
    const found = new Map<string, JsonText<ContractCore>>();
    const missing: string[] = [];
    for (const { id, version } of wanted) {
      const kept = this.cores.get(keyOf(tenantId, id));
      if (kept?.version === version) found.set(id, kept.json);
      else missing.push(id);
    }
    if (missing.length === 0) return found;
    const among = isOneOf(tx.dialect, 'contracts.id', missing);
    const rows = await tx.all(
      `SELECT ${contracts.columnNames} FROM contracts WHERE contracts.tenant_id = ? AND ${among.sql}`,
      [tenantId, ...among.values],
    );
    await mapYielding(rows, (row) => {
      const contract = contracts.decode(row);
      const json = jsonTextOf(contractCore(contract));
      found.set(contract.id, json);
      // Uncommitted changes of this transaction may be rolled back, and others may then have the same version.
      if (tx.writes === 0) this.cores.set(keyOf(tenantId, contract.id), { version: contract.version, json });
    });
    return found;
  }
}

const keyOf = (tenantId: string, id: string): string => `${tenantId}/${id}`;
