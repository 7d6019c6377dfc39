import type { Transaction } from '../../base/database/database.js';
import type { YieldIfDue } from '../../base/yielding.js';
import type { ContractRow } from '../tables/contracts.js';
import { caseFold } from '../domain/search.js';
import { INDEXED_FROM, grams, searchText } from '../domain/search.js';
import { arrayLiteral, fragment, isOneOf, type Fragment } from '../../base/database/fragments.js';
import { Insertion } from '../../base/database/insertion.js';

export const SEARCHED = [
  'archiveCode',
  'contractNo',
  'projectName',
  'partyA',
  'partyB',
  'equipmentName',
  'equipmentModel',
  'remark',
] as const;
/** What the search reads of a contract. */
export type SearchedRow = Pick<ContractRow, 'id' | (typeof SEARCHED)[number]>;

/** The text that `q` searches. */
const textOf = (row: SearchedRow): string => searchText(SEARCHED.map((field) => row[field]));

/** Updates the search text of a contract and the index over it. With `before`, unchanged text is not written. */
export async function indexText(
  tx: Transaction,
  tenantId: string,
  { row, before }: { readonly row: SearchedRow; readonly before?: SearchedRow | undefined },
): Promise<void> {
  if (before && SEARCHED.every((field) => row[field] === before[field])) return; // as after each receipt
  const text = textOf(row);
  if (before) {
    if (textOf(before) === text) return;
    await removeText(tx, tenantId, row.id);
  }
  if (tx.dialect === 'postgres') {
    await tx.insert(TEXTS, [[tenantId, row.id, text]]);
    await tx.insert(GRAMS, [[tenantId, row.id, arrayLiteral(grams(tenantId, text))]]);
    return;
  }
  const doc = await nextDoc(tx);
  await tx.run('INSERT INTO contract_texts (tenant_id, contract_id, text, doc) VALUES (?, ?, ?, ?)', [
    tenantId,
    row.id,
    text,
    doc,
  ]);
  await tx.run('INSERT INTO contract_search (rowid, text) VALUES (?, ?)', [doc, text]);
}

const TEXTS = new Insertion('contract_texts (tenant_id, contract_id, text)', '(?, ?, ?)', ['uuid', 'uuid', 'text']);
const GRAMS = new Insertion('contract_grams (tenant_id, contract_id, grams)', '(?, ?, ?::int[])', [
  'uuid',
  'uuid',
  'int[]',
]);

/**
 * Indexes the contracts of an import. SQLite collects index entries in memory. In the statement that exceeds a limit it
 * writes them and merges them with earlier ones, which takes up to fifty milliseconds. Therefore the limit is lowered for
 * long texts, and the merging is done in steps of a few pages between the contracts. Both settings are stored in the
 * database and restored in the same transaction.
 */
export async function indexTexts(
  tx: Transaction,
  tenantId: string,
  { rows, yieldIfDue }: { readonly rows: readonly SearchedRow[]; readonly yieldIfDue: YieldIfDue },
): Promise<void> {
  const characters = rows.reduce((sum, row) => sum + textOf(row).length, 0);
  const inSteps = tx.dialect === 'sqlite' && characters > LONG_TEXTS;
  if (inSteps) await setIndex(tx, { hashsize: 256 * 1024, automerge: 0 });
  for (const [i, row] of rows.entries()) {
    await yieldIfDue();
    await indexText(tx, tenantId, { row });
    if (inSteps && i % ROWS_PER_STEP === 0) await setIndex(tx, { merge: PAGES_PER_STEP });
  }
  if (inSteps) await setIndex(tx, { hashsize: 1024 * 1024, automerge: 4 }); // the defaults
}

/** Characters of texts, whose entries take several times as many bytes. */
const LONG_TEXTS = 16 * 1024;
const ROWS_PER_STEP = 8;
/** Four times as many pages as eight contracts with long remarks fill. */
const PAGES_PER_STEP = 16;

async function setIndex(tx: Transaction, settings: Readonly<Record<string, number>>): Promise<void> {
  // The driver would pass a number as REAL, which FTS5 refuses.
  for (const [name, value] of Object.entries(settings))
    await tx.run('INSERT INTO contract_search (contract_search, rank) VALUES (?, CAST(? AS INTEGER))', [name, value]);
}

export const removeText = (tx: Transaction, tenantId: string, contractId: string): Promise<void> =>
  removeTexts(tx, tenantId, [contractId]);

export async function removeTexts(tx: Transaction, tenantId: string, contractIds: readonly string[]): Promise<void> {
  const among = isOneOf(tx.dialect, 'contract_id', contractIds);
  // On PostgreSQL the trigrams are deleted with their text.
  if (tx.dialect === 'sqlite') {
    await tx.run(
      `DELETE FROM contract_search WHERE rowid IN (SELECT doc FROM contract_texts WHERE tenant_id = ? AND ${among.sql})`,
      [tenantId, ...among.values],
    );
  }
  await tx.defer(`DELETE FROM contract_texts WHERE tenant_id = ? AND ${among.sql}`, [tenantId, ...among.values]);
}

/**
 * The search for contracts whose text contains `q`, in two forms: few matches are fetched through the trigram index;
 * many are found by walking the list in its order and checking each text. Terms shorter than three characters have no
 * index and are always searched in order.
 */
export class TextSearch {
  /** From this many matches on, the list is walked in its order. */
  static readonly FEW = 2_000;

  private constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
    readonly needle: string,
  ) {}

  /** Begins a search; at most one may be active in a transaction. */
  static async begin(tx: Transaction, tenantId: string, q: string): Promise<TextSearch> {
    const search = new TextSearch(tx, tenantId, caseFold(q));
    // The row policy of the trigrams reads this setting: under a policy PostgreSQL uses an index for the policy's own
    // conditions, but for other conditions only when their operator is leakproof, which array operators are not.
    if (tx.dialect === 'postgres' && search.isIndexed)
      await tx.get("SELECT set_config('duebook.grams', ?, true)", [arrayLiteral(grams(tenantId, search.needle))]);
    return search;
  }

  /** The number of matching texts, counted up to `FEW`. */
  async few(): Promise<number> {
    if (!this.isIndexed) return TextSearch.FEW;
    const matching = this.matching();
    const row = await this.tx.get(`SELECT count(*) AS matches FROM (${matching.sql} LIMIT ?) AS matching`, [
      ...matching.values,
      TextSearch.FEW,
    ]);
    return Number(row?.['matches']);
  }

  /** `column` has the id of the contract. */
  byIndex(column = 'contracts.id'): Fragment {
    const { sql, values } = this.matching();
    // PostgreSQL evaluates the array once and estimates it as short, so the plan starts from it regardless of
    // statistics.
    return fragment(
      this.tx.dialect === 'postgres' ? `${column} = ANY(ARRAY(${sql}))` : `${column} IN (${sql})`,
      ...values,
    );
  }

  /** `table` has the tenant's id, and in `column` that of the contract. */
  inOrder(table = 'contracts', column = 'id'): Fragment {
    return fragment(
      `EXISTS (SELECT 1 FROM contract_texts t WHERE t.tenant_id = ${table}.tenant_id AND t.contract_id = ${table}.${column} AND ${this.contains} > 0)`,
      this.needle,
    );
  }

  /** Counts all matches when there is no other filter: only live contracts have a text. */
  total(): Fragment {
    return fragment(
      `SELECT count(*) AS total FROM contract_texts t WHERE t.tenant_id = ? AND ${this.contains} > 0`,
      this.tenantId,
      this.needle,
    );
  }

  private get isIndexed(): boolean {
    return [...this.needle].length >= INDEXED_FROM;
  }

  private get contains(): string {
    return this.tx.dialect === 'postgres' ? 'strpos(t.text, ?)' : 'instr(t.text, ?)';
  }

  private matching(): Fragment {
    if (this.tx.dialect === 'postgres') {
      // Materialized separately from the texts, whose row policy would otherwise add a tenant condition that keeps the
      // index from being used.
      return fragment(
        `WITH hits AS MATERIALIZED (SELECT g.contract_id FROM contract_grams g WHERE g.tenant_id = ?)
         SELECT t.contract_id FROM hits JOIN contract_texts t ON t.contract_id = hits.contract_id WHERE t.tenant_id = ? AND ${this.contains} > 0`,
        this.tenantId,
        this.tenantId,
        this.needle,
      );
    }
    return fragment(
      'SELECT t.contract_id FROM contract_search s JOIN contract_texts t ON t.doc = s.rowid WHERE s.text MATCH ? AND t.tenant_id = ?',
      `"${this.needle.replaceAll('"', '""')}"`,
      this.tenantId,
    );
  }
}

/** SQLite has one writer at a time, so the number stays free until this transaction ends. */
async function nextDoc(tx: Transaction): Promise<number> {
  const row = await tx.get('SELECT coalesce(max(doc), 0) + 1 AS doc FROM contract_texts');
  return Number(row?.['doc']);
}
