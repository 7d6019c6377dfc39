import type { Value } from '../../../data-plane-agent/base/database/database.js';
import { FILES_AT_ONCE } from '../../../data-plane-agent/plane/contract/records/moving.js';
import { EXPORTED, type ExportedKind } from '../../../data-plane-agent/plane/tables/exported.js';
import type { OnProgress } from '../moving/copy-rows.js';
import type { Source } from '../moving/sides.js';
import type { KindSummary, Manifest } from './format.js';
import { recordOf, type ArchiveRecord } from './records.js';
import type { FolderWriter } from './write-folder.js';

export interface Reading {
  readonly source: Source;
  readonly moveId: string;
  readonly folder: FolderWriter;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
}

/** A file of the organisation as its record has it. */
interface KnownFile {
  readonly sha256: string;
  readonly extension: string;
}

/** Writes the records of all kinds of contract data, and the bytes of files. The data must be frozen. */
export async function readSource(
  reading: Reading,
): Promise<{ readonly records: KindSummary[]; readonly files: Manifest['files'] }> {
  const known = new Map<string, KnownFile>();
  const records: KindSummary[] = [];
  for (const kind of EXPORTED)
    records.push(
      await readKind(reading, kind, (record) => {
        if (kind.kind === 'files') known.set(String(record['id']), knownFile(record));
      }),
    );
  return { records, files: await readFiles(reading, known) };
}

const knownFile = ({ sha256, fileName }: ArchiveRecord): KnownFile => ({
  sha256: String(sha256),
  extension: (/\.[a-z0-9]{1,10}$/i.exec(String(fileName))?.[0] ?? '').toLowerCase(),
});

async function readKind(
  { source, moveId, folder, signal, onProgress }: Reading,
  kind: ExportedKind,
  seen: (record: ArchiveRecord) => void,
): Promise<KindSummary> {
  const table = kind.table.name;
  const lines = await folder.lines(kind.kind);
  let count = 0;
  for (let after: string | null = null, isOver = false; !isOver;) {
    signal.throwIfAborted();
    const page: Awaited<ReturnType<Source['readRowsToMove']>> = await source.readRowsToMove({ moveId, table, after });
    const rows = JSON.parse(page.rows) as Value[][];
    for (const { column, from } of page.cut) {
      // A page with texts that are cut has one row.
      const at = kind.table.columns.indexOf(column);
      const rest = await restOfText({ source, moveId }, { table, key: page.after ?? '[]', column, from });
      for (const row of rows) row[at] = `${String(row[at])}${rest}`;
    }
    for (const row of rows) {
      const record = recordOf(kind, row);
      seen(record);
      await lines.write(record);
    }
    count += rows.length;
    if (rows.length > 0) onProgress(`${kind.kind}: ${count}`);
    after = page.after;
    isOver = after === null;
  }
  return lines.close();
}

async function restOfText(
  { source, moveId }: Pick<Reading, 'source' | 'moveId'>,
  { from: begin, ...place }: { table: string; key: string; column: string; from: number },
): Promise<string> {
  const pieces: string[] = [];
  for (let from: number | null = begin; from !== null;) {
    const piece: { text: string; next: number | null } = await source.readLongText({ moveId, ...place, from });
    pieces.push(piece.text);
    from = piece.next;
  }
  return pieces.join('');
}

async function readFiles(reading: Reading, known: ReadonlyMap<string, KnownFile>): Promise<Manifest['files']> {
  const { source, moveId, signal, onProgress } = reading;
  const read = { count: 0, bytes: 0, missing: [] as string[], different: [] as string[] };
  for (let after: string | null = null, isOver = false; !isOver;) {
    const { files }: { files: { id: string }[] } = await source.listFilesToMove({ moveId, after });
    for (const { id } of files) {
      signal.throwIfAborted();
      const file = known.get(id) ?? { sha256: '', extension: '' };
      const written = await readFile(reading, id, file.extension);
      if (written) {
        read.count += 1;
        read.bytes += written.bytes;
        if (written.sha256 !== file.sha256) read.different.push(id);
      } else read.missing.push(id);
      onProgress(`files: ${read.count} (${read.bytes} bytes)`);
      after = id;
    }
    isOver = files.length < FILES_AT_ONCE;
  }
  return read;
}

/** `undefined` if the object store has lost the bytes. */
async function readFile(
  { source, moveId, folder, signal }: Reading,
  fileId: string,
  extension: string,
): Promise<{ readonly bytes: number; readonly sha256: string } | undefined> {
  const file = await folder.file(fileId, extension);
  for (let part = 0, isOver = false; !isOver; part += 1) {
    signal.throwIfAborted();
    const { base64, isLast } = await source.readFilePart({ moveId, fileId, part });
    if (base64 === null) {
      await file.remove();
      return undefined;
    }
    await file.write(Buffer.from(base64, 'base64'));
    isOver = isLast;
  }
  return file.close();
}
