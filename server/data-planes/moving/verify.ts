import { FILES_AT_ONCE } from '../../../data-plane-agent/plane/contract/records/moving.js';
import { MOVED_NAMES } from '../../../data-plane-agent/plane/tables/moved.js';
import { NO_PROGRESS } from '../../store/data-moves.js';
import { saveTable, tableProgress, type Copying } from './copy-rows.js';
import { MoveFault } from './move-fault.js';
import type { Sides } from './sides.js';

/** How many differences a message names. */
const NAMED = 10;

/**
 * Compares what both data planes have: the number of rows and a hash over all values for each table, size and hash for
 * each file. What differs is to be copied again. Throws DATA_MOVE_UNVERIFIED.
 */
export async function verify(copying: Copying): Promise<void> {
  const { journal } = copying;
  const tables = await differentTables(copying);
  for (const table of tables) await saveTable(copying, table, { rows: 0, after: null, isCopied: false, changed: 0 });
  // Rows of files decide which bytes are compared.
  const files = tables.includes('files') ? [] : await differentFiles(copying);
  if (tables.length + files.length === 0) return;
  await journal.save({
    phase: 'copying_rows',
    progress: {
      ...journal.move.progress,
      ...(tables.includes('files') || files.length > 0 ? { files: NO_PROGRESS.files } : {}),
    },
  });
  const named = [...tables, ...files.map((id) => `file ${id}`)];
  const more = named.length - NAMED;
  throw new MoveFault(
    'DATA_MOVE_UNVERIFIED',
    `what arrived differs from what was sent: ${named.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}. Nothing was switched. Run the command again to copy these again, or with --cancel to end the move`,
  );
}

async function differentTables(copying: Copying): Promise<string[]> {
  const { sides, journal, onProgress } = copying;
  const different: string[] = [];
  for (const table of MOVED_NAMES) {
    const copied = tableProgress(journal, table);
    if (copied.hash !== undefined) continue;
    const [sent, arrived] = await Promise.all(
      [sides.source, sides.target].map((side) => digestOf(side, { moveId: journal.move.id, table })),
    );
    if (sent && sent.rows === arrived?.rows && sent.hash === arrived.hash)
      await saveTable(copying, table, { ...copied, rows: sent.rows, hash: sent.hash, changed: sent.rows });
    else different.push(table);
    onProgress(`verifying ${table}`);
  }
  return different;
}

export async function digestOf(
  side: Pick<Sides['source'], 'digestRows'>,
  asked: { readonly moveId: string; readonly table: string },
): Promise<{ readonly rows: number; readonly hash: string }> {
  for (let from: { rows: number; hash: string; after: string } | null = null; ;) {
    const { after, ...digest }: { rows: number; hash: string; after: string | null } = await side.digestRows({
      ...asked,
      from,
    });
    if (after === null) return digest;
    from = { ...digest, after };
  }
}

async function differentFiles({ sides: { source, target }, journal, onProgress }: Copying): Promise<string[]> {
  const moveId = journal.move.id;
  const different: string[] = [];
  for (let now = journal.move.progress.files; !now.isVerified;) {
    const { files } = await source.listFilesToMove({ moveId, after: now.verifiedAfter });
    for (const { id: fileId } of files) {
      const [sent, arrived] = await Promise.all([
        source.hashFile({ moveId, fileId }),
        target.hashFile({ moveId, fileId }),
      ]);
      if (sent.sha256 !== arrived.sha256 || sent.sizeBytes !== arrived.sizeBytes) different.push(fileId);
      now = { ...now, verified: now.verified + 1, verifiedAfter: fileId };
      onProgress(`verifying files: ${now.verified}`);
    }
    if (different.length > 0 && files.length < FILES_AT_ONCE) return different;
    now = { ...now, isVerified: files.length < FILES_AT_ONCE && different.length === 0 };
    // Differences that were found must not be skipped by a process that continues.
    if (different.length === 0) await journal.progress({ files: now });
  }
  return different;
}
