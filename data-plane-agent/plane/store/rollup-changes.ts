import type { Row, Transaction } from '../../base/database/database.js';
import { fragment, type Fragment } from '../../base/database/fragments.js';
import { incrementsIn, type Increments } from '../domain/analytics/increments.js';
import { SLOTS } from './slots.js';

/** The version of each slot of a tenant's data version. */
export type Versions = ReadonlyMap<number, number>;

export async function versionsOf(tx: Transaction, tenantId: string): Promise<Versions> {
  const rows = await tx.all('SELECT slot, version FROM data_versions WHERE tenant_id = ?', [tenantId]);
  return new Map(rows.map(({ slot, version }) => [Number(slot), Number(version)]));
}

/**
 * What was added to the rollups since some versions, up to those that `tx` sees. `undefined` if it is not known of each
 * version in between: it was too much, or is deleted, or was written by the previous release, or a version was set back.
 */
export async function changesSince(
  tx: Transaction,
  tenantId: string,
  since: Versions,
): Promise<{ readonly versions: Versions; readonly increments: readonly Increments[] } | undefined> {
  const { sql, values } = SINCE[tx.dialect](since);
  const rows = await tx.all(sql, [...values, tenantId]);
  const versions = new Map<number, number>();
  const found = new Map<number, number>();
  const increments: Increments[] = [];
  for (const row of rows) {
    const slot = Number(row['slot']);
    versions.set(slot, Number(row['version']));
    const added = incrementsOf(row);
    if (!added) continue;
    found.set(slot, (found.get(slot) ?? 0) + 1);
    increments.push(...added);
  }
  for (const slot of new Set([...since.keys(), ...versions.keys()]))
    if ((versions.get(slot) ?? 0) - (since.get(slot) ?? 0) !== (found.get(slot) ?? 0)) return undefined;
  return { versions, increments };
}

const incrementsOf = ({ changes }: Row): Increments[] | undefined =>
  changes === null || changes === undefined ? undefined : incrementsIn(String(changes));

/** One row for each change, and one for each slot without any. `after` is the known version of the slot `v`. */
const joined = (versions: string, after: string): string =>
  `SELECT v.slot, v.version, c.changes FROM ${versions} LEFT JOIN rollup_changes c ` +
  `ON c.tenant_id = v.tenant_id AND c.slot = v.slot AND c.version > ${after} AND c.version <= v.version WHERE v.tenant_id = ?`;

const ON_SQLITE = joined('data_versions v', `coalesce(json_extract(?, '$."' || v.slot || '"'), 0)`);
// Under row-level security an index is searched by plain comparisons of columns only.
const ON_POSTGRES = joined(
  'data_versions v LEFT JOIN unnest(CAST(? AS integer[]), CAST(? AS bigint[])) AS known (slot, version) ON known.slot = v.slot',
  'known.version',
);

const SINCE = {
  sqlite: (since: Versions): Fragment => fragment(ON_SQLITE, JSON.stringify(Object.fromEntries(since))),
  postgres: (since: Versions): Fragment =>
    fragment(ON_POSTGRES, `{${EACH_SLOT.join(',')}}`, `{${EACH_SLOT.map((slot) => since.get(slot) ?? 0).join(',')}}`),
} as const;

const EACH_SLOT = Array.from({ length: SLOTS }, (_, slot) => slot);
