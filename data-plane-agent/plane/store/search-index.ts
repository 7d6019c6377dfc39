import type { Transaction, Value } from '../../base/database/database.js';
import type { ContractRow } from '../domain/rows.js';
import { fold, grams, INDEXED_FROM, searchText } from '../domain/search.js';
import { fragment, type Fragment } from './scope.js';

/** The fields that `q` looks through. */
const textOf = (row: ContractRow): string =>
  searchText([row.archiveCode, row.contractNo, row.projectName, row.partyA, row.partyB, row.equipmentName, row.equipmentModel, row.remark]);

/** Keeps the searched text of a contract, and the index over it, in step with the contract. `before` spares an unchanged text. */
export async function indexText(tx: Transaction, tenantId: string, row: ContractRow, before?: ContractRow): Promise<void> {
  const text = textOf(row);
  if (before) {
    if (textOf(before) === text) return;
    await removeText(tx, tenantId, row.id);
  }
  if (tx.dialect === 'postgres') {
    await tx.run('INSERT INTO contract_texts (tenant_id, contract_id, text, grams) VALUES (?, ?, ?, ?::int[])', [tenantId, row.id, text, arrayLiteral(grams(tenantId, text))]);
    return;
  }
  const doc = await nextDoc(tx);
  await tx.run('INSERT INTO contract_texts (tenant_id, contract_id, text, doc) VALUES (?, ?, ?, ?)', [tenantId, row.id, text, doc]);
  await tx.run('INSERT INTO contract_search (rowid, text) VALUES (?, ?)', [doc, text]);
}

export async function removeText(tx: Transaction, tenantId: string, contractId: string): Promise<void> {
  if (tx.dialect === 'sqlite') {
    await tx.run('DELETE FROM contract_search WHERE rowid = (SELECT doc FROM contract_texts WHERE tenant_id = ? AND contract_id = ?)', [tenantId, contractId]);
  }
  await tx.run('DELETE FROM contract_texts WHERE tenant_id = ? AND contract_id = ?', [tenantId, contractId]);
}

/** Contracts whose text contains `q`. Two characters or fewer cannot use the index of three-character pieces: those look at each text. */
export function matches(tx: Transaction, tenantId: string, q: string): Fragment {
  const needle = fold(q);
  const long = [...needle].length >= INDEXED_FROM;
  if (tx.dialect === 'postgres') {
    const indexed: [string, Value[]] = long ? ['t.grams @> ?::int[] AND ', [arrayLiteral(grams(tenantId, needle))]] : ['', []];
    return fragment(`contracts.id IN (SELECT t.contract_id FROM contract_texts t WHERE t.tenant_id = ? AND ${indexed[0]}strpos(t.text, ?) > 0)`, tenantId, ...indexed[1], needle);
  }
  if (!long) return fragment('EXISTS (SELECT 1 FROM contract_texts t WHERE t.tenant_id = contracts.tenant_id AND t.contract_id = contracts.id AND instr(t.text, ?) > 0)', needle);
  return fragment(
    'contracts.id IN (SELECT t.contract_id FROM contract_search s JOIN contract_texts t ON t.doc = s.rowid WHERE s.text MATCH ? AND t.tenant_id = ?)',
    `"${needle.replaceAll('"', '""')}"`,
    tenantId,
  );
}

const arrayLiteral = (numbers: readonly number[]): string => `{${numbers.join(',')}}`;

/** SQLite has one writer at a time, so the next number is free until this transaction ends. */
async function nextDoc(tx: Transaction): Promise<number> {
  const row = await tx.get('SELECT coalesce(max(doc), 0) + 1 AS doc FROM contract_texts');
  return Number(row?.['doc']);
}
