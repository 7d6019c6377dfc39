import type { Value } from '../../../data-plane-agent/base/database/database.js';
import { FILE_PART_BYTES } from '../../../data-plane-agent/plane/contract/records/moving.js';
import {
  beginningOfDigest,
  digestAfter,
  type RowDigest,
} from '../../../data-plane-agent/plane/domain/moving/row-digest.js';
import { fileKey, quarantineKey } from '../../../data-plane-agent/plane/files/objects/object-store.js';
import { EXPORTED, type ExportedKind } from '../../../data-plane-agent/plane/tables/exported.js';
import type { OnProgress } from '../moving/copy-rows.js';
import type { Target } from '../moving/sides.js';
import { digestOf } from '../moving/verify.js';
import { ArchiveFault } from './archive-fault.js';
import { withIdentities, type Identities } from './identities.js';
import type { FileInFolder, FolderReader } from './read-folder.js';
import { rowOf, type ArchiveRecord } from './records.js';

export interface Writing {
  readonly target: Target;
  readonly moveId: string;
  readonly tenantId: string;
  readonly folder: FolderReader;
  readonly identities: Identities;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
}

export interface Written {
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
}

/** Rows of one request, and characters in all of them together; of a larger row each text is cut to `CUT`. */
const ROWS = 1_000;
const CHARACTERS = 500_000;
const CUT = 100_000;

/** Writes all records and files, and compares what the data plane has afterwards with what was sent. */
export async function writeTarget(writing: Writing): Promise<Written> {
  const files: { id: string; file: FileInFolder }[] = [];
  let rows = 0;
  for (const kind of EXPORTED)
    rows += await writeKind(writing, kind, (record) => {
      const id = String(record['id']);
      const file = kind.kind === 'files' ? writing.folder.file(id) : undefined;
      if (file) files.push({ id, file });
    });
  let bytes = 0;
  for (const [at, { id, file }] of files.entries()) {
    bytes += await writeFile(writing, id, file);
    writing.onProgress(`files: ${at + 1} of ${files.length}`);
  }
  return { rows, files: files.length, bytes };
}

async function writeKind(writing: Writing, kind: ExportedKind, seen: (record: ArchiveRecord) => void): Promise<number> {
  const { target, moveId, folder, signal, onProgress } = writing;
  const table = kind.table.name;
  let digest = beginningOfDigest(table);
  let waiting: Value[][] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    signal.throwIfAborted();
    if (waiting.length > 0) await sendRows(writing, kind, waiting);
    waiting = [];
    characters = 0;
    onProgress(`${kind.kind}: ${digest.rows}`);
  };
  const put = async (row: Value[]): Promise<void> => {
    digest = digestAfter(digest, kind.table, row);
    const length = lengthOf(row);
    if (waiting.length >= ROWS || characters + length > CHARACTERS) await flush();
    waiting.push(row);
    characters += length;
  };
  const reordered: Value[][] = [];
  const isReordered = kind.table.key.some((column) => OF_MEMBERS.has(column)) && writing.identities.size > 0;
  await folder.each(kind.kind, async (record) => {
    seen(record);
    const row = rowHere(writing, kind, record);
    if (isReordered) reordered.push(row);
    else await put(row);
  });
  for (const row of reordered.toSorted(byKey(kind))) await put(row);
  await flush();
  await compare({ target, moveId, table }, digest);
  return digest.rows;
}

/** Columns of keys with ids of members, by which rows are ordered. */
const OF_MEMBERS = new Set(['person_id', 'owner_id', 'superior_id']);

const byKey =
  ({ table: { key, columns } }: ExportedKind) =>
  (one: readonly Value[], other: readonly Value[]): number => {
    for (const column of key) {
      const at = columns.indexOf(column);
      const [a, b] = [one[at] ?? '', other[at] ?? ''];
      if (a !== b) return a < b ? -1 : 1;
    }
    return 0;
  };

/** The row as the data plane is to have it: with the ids of its organisation, and what exports leave out. */
function rowHere(
  { identities, tenantId, folder }: Pick<Writing, 'identities' | 'tenantId' | 'folder'>,
  kind: ExportedKind,
  record: ArchiveRecord,
): Value[] {
  const row = withIdentities(identities, rowOf(kind, record));
  const set = (column: string, value: Value): void => {
    row[kind.table.columns.indexOf(column)] = value;
  };
  if (kind.kind === 'files') {
    const id = String(record['id']);
    const isInfected = record['scanStatus'] === 'infected';
    const key = isInfected ? quarantineKey(tenantId, id) : fileKey(tenantId, id, String(record['createdAt']));
    set('object_key', folder.file(id) ? key : '');
    set('etag', '');
  }
  // The message that carries it stays where it was queued.
  if (kind.kind === 'reminders' && record['status'] === 'queued') {
    set('status', 'superseded');
    set('next_attempt_at', null);
  }
  // The chain begins anew: its hashes are of the other organisation.
  if (kind.kind === 'auditEvents') {
    set('position', null);
    set('hash', null);
  }
  return row;
}

const lengthOf = (row: readonly Value[]): number => row.reduce<number>((sum, value) => sum + String(value).length, 0);

async function sendRows(
  { target, moveId }: Pick<Writing, 'target' | 'moveId'>,
  { table: { name: table, key, columns } }: ExportedKind,
  rows: readonly Value[][],
): Promise<void> {
  const [large] = rows;
  if (rows.length > 1 || !large || lengthOf(large) <= CHARACTERS) {
    await target.receiveRows({ moveId, table, rows: JSON.stringify(rows) });
    return;
  }
  const rest: { column: string; text: string }[] = [];
  const cut = large.map((value, at) => {
    if (typeof value !== 'string' || value.length <= CUT) return value;
    const [first, ...others] = piecesOf(value);
    rest.push(...others.map((text) => ({ column: columns[at] ?? '', text })));
    return first ?? '';
  });
  await target.receiveRows({ moveId, table, rows: JSON.stringify([cut]) });
  const rowKey = JSON.stringify(key.map((column) => large[columns.indexOf(column)] ?? null));
  const sent = new Map<string, number>();
  for (const { column, text } of rest) {
    const from = sent.get(column) ?? charactersOf(String(cut[columns.indexOf(column)]));
    await target.receiveLongText({ moveId, table, key: rowKey, column, from, text });
    sent.set(column, from + charactersOf(text));
  }
}

/** Not cut between the two halves of a character outside the basic plane. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const end = from + CUT;
    const code = text.charCodeAt(end - 1);
    const to = end < text.length && code >= 0xd8_00 && code <= 0xdb_ff ? end - 1 : end;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

/** As databases count them. */
const charactersOf = (text: string): number => text.length - (text.match(/[\u{10000}-\u{10ffff}]/gu)?.length ?? 0);

async function compare(
  { target, moveId, table }: Pick<Writing, 'target' | 'moveId'> & { readonly table: string },
  sent: RowDigest,
): Promise<void> {
  const arrived = await digestOf(target, { moveId, table });
  if (arrived.rows !== sent.rows || arrived.hash !== sent.hash)
    throw new ArchiveFault('TENANT_DATA_REFUSED', `what arrived in ${table} differs from what was sent`);
}

async function writeFile({ target, moveId, signal }: Writing, fileId: string, file: FileInFolder): Promise<number> {
  let bytes = 0;
  let part = 0;
  let waiting = Buffer.alloc(0);
  const send = async (content: Buffer, isLast: boolean): Promise<void> => {
    signal.throwIfAborted();
    await target.receiveFilePart({ moveId, fileId, part, isLast, base64: content.toString('base64') });
    bytes += content.length;
    part += 1;
  };
  for await (const piece of file.read()) {
    waiting = Buffer.concat([waiting, piece]);
    // The last part is sent once it is known to be the last.
    if (waiting.length <= FILE_PART_BYTES) continue;
    await send(waiting.subarray(0, FILE_PART_BYTES), false);
    waiting = waiting.subarray(FILE_PART_BYTES);
  }
  await send(waiting, true);
  const arrived = await target.hashFile({ moveId, fileId });
  if (arrived.sha256 !== file.sha256 || arrived.sizeBytes !== bytes)
    throw new ArchiveFault('TENANT_DATA_REFUSED', `what arrived of the file ${fileId} differs from what was sent`);
  return bytes;
}
