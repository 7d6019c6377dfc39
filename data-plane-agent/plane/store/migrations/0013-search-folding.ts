import type { Exclusive, Row } from '../../../base/database/database.js';
import type { Migration } from '../../../base/database/migrator.js';

/**
 * Searched texts are in Unicode's full case folding, where they were in lower case. On PostgreSQL the pieces of a text are read by their own
 * tenant alone, like everything else: the policy has the pieces that are looked for among its conditions, since under a policy an
 * index serves the policy's own conditions whatever their operator. Where none are looked for, all of the tenant's are seen.
 */
export const searchFolding: Migration = {
  id: '0013-search-folding',
  statements: (t) =>
    t.dialect === 'postgres'
      ? [
          'DROP POLICY contract_grams_readable ON contract_grams',
          'DROP POLICY contract_grams_of_tenant ON contract_grams',
          // Within a query of its own the setting is not looked at by the planner, whose plans outlive it.
          `CREATE POLICY contract_grams_of_tenant ON contract_grams
            USING (${OF_TENANT} AND grams @> (SELECT coalesce(nullif(current_setting('duebook.grams', true), ''), '{}')::int[])) WITH CHECK (${OF_TENANT})`,
          'ALTER TABLE contract_grams DROP CONSTRAINT contract_grams_tenant_id_contract_id_fkey',
          // What a foreign key removes is removed whatever is being looked for.
          `ALTER TABLE contract_grams ADD CONSTRAINT contract_grams_tenant_id_contract_id_fkey
            FOREIGN KEY (tenant_id, contract_id) REFERENCES contract_texts (tenant_id, contract_id) ON DELETE CASCADE`,
        ]
      : [],
  async fill(connection) {
    for (const tenantId of await tenants(connection)) {
      for (let after: string | undefined = BEFORE_ALL; after !== undefined; ) {
        const from: string = after;
        after = await connection.transaction(() => foldSome(connection, { tenantId, after: from }));
      }
    }
  },
};

const OF_TENANT = "tenant_id = nullif(current_setting('duebook.tenant', true), '')::uuid";
/** Texts that are looked at in one transaction. */
const BATCH = 1_000;
/** No id is smaller. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

async function tenants(connection: Exclusive): Promise<string[]> {
  return connection.transaction(async () => {
    // PostgreSQL hides the rows of all tenants from the owner too, as long as row security is forced.
    const isPostgres = connection.dialect === 'postgres';
    if (isPostgres) await connection.run('ALTER TABLE contract_texts NO FORCE ROW LEVEL SECURITY');
    const found: string[] = [];
    for (let after = BEFORE_ALL; ; ) {
      const [next] = await connection.all('SELECT tenant_id FROM contract_texts WHERE tenant_id > ? ORDER BY tenant_id LIMIT 1', [after]);
      if (!next) break;
      after = String(next['tenant_id']);
      found.push(after);
    }
    if (isPostgres) await connection.run('ALTER TABLE contract_texts FORCE ROW LEVEL SECURITY');
    return found;
  });
}

/** Answers the last text that it looked at, if there may be more behind it. */
async function foldSome(connection: Exclusive, { tenantId, after }: { readonly tenantId: string; readonly after: string }): Promise<string | undefined> {
  if (connection.dialect === 'postgres') await connection.run("SELECT set_config('duebook.tenant', ?, true)", [tenantId]);
  const rows = await connection.all(`SELECT * FROM contract_texts WHERE tenant_id = ? AND contract_id > ? ORDER BY contract_id LIMIT ${BATCH}`, [tenantId, after]);
  for (const row of rows) {
    const text = fold(String(row['text']));
    if (text !== row['text']) await replace(connection, row, text);
  }
  return rows.length < BATCH ? undefined : String(rows.at(-1)?.['contract_id']);
}

async function replace(connection: Exclusive, { tenant_id: tenantId = null, contract_id: contractId = null, doc = null }: Row, text: string): Promise<void> {
  await connection.run('UPDATE contract_texts SET text = ? WHERE tenant_id = ? AND contract_id = ?', [text, tenantId, contractId]);
  if (connection.dialect === 'postgres') {
    const [tenant] = await connection.all("SELECT ('x' || encode(substring(sha256(convert_to(?, 'UTF8')) FROM 1 FOR 4), 'hex'))::bit(32)::int AS seed", [tenantId]);
    await connection.run('UPDATE contract_grams SET grams = ?::int[] WHERE tenant_id = ? AND contract_id = ?', [`{${grams(Number(tenant?.['seed']), text).join(',')}}`, tenantId, contractId]);
  } else {
    await connection.run('DELETE FROM contract_search WHERE rowid = ?', [doc]);
    await connection.run('INSERT INTO contract_search (rowid, text) VALUES (?, ?)', [doc, text]);
  }
}

/** Of a text in lower case, whose runs of combining marks are bounded. */
const fold = (text: string): string => text.split('ı').map((part) => part.toUpperCase().toLowerCase()).join('ı').replaceAll('ς', 'σ').normalize('NFC');

/** Hashes of the text's pieces of three characters, under the tenant's own seed. */
function grams(seed: number, text: string): number[] {
  const characters = [...text];
  const hashes = new Set<number>();
  for (let i = 0; i + 3 <= characters.length; i++) {
    let hash = seed;
    const piece = `${characters[i]}${characters[i + 1]}${characters[i + 2]}`;
    for (let at = 0; at < piece.length; at++) hash = Math.imul(hash ^ piece.charCodeAt(at), 16_777_619);
    hashes.add(hash | 0);
  }
  return [...hashes];
}
