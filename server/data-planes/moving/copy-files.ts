import { FILES_AT_ONCE } from '../../../data-plane-agent/plane/contract/records/moving.js';
import type { Copying } from './copy-rows.js';

/** Copies the bytes of all files, part by part; the rows of their records are there already. */
export async function copyFiles({ sides: { source, target }, journal, onProgress }: Copying): Promise<void> {
  const moveId = journal.move.id;
  for (let now = journal.move.progress.files; !now.isCopied;) {
    const { files } = await source.listFilesToMove({ moveId, after: now.after });
    for (const { id, sizeBytes } of files) {
      const isThere = await copyFile(id);
      now = {
        ...now,
        files: now.files + 1,
        bytes: now.bytes + (isThere ? sizeBytes : 0),
        missing: now.missing + (isThere ? 0 : 1),
        after: id,
      };
      await journal.progress({ files: now });
      onProgress(`files: ${now.files} (${now.bytes} bytes)`);
    }
    if (files.length === FILES_AT_ONCE) continue;
    now = { ...now, isCopied: true };
    await journal.progress({ files: now });
  }

  /** False if the object store where the file comes from has lost it. */
  async function copyFile(fileId: string): Promise<boolean> {
    for (let part = 0, isOver = false; !isOver; part += 1) {
      const { base64, isLast } = await source.readFilePart({ moveId, fileId, part });
      if (base64 === null) return false;
      await target.receiveFilePart({ moveId, fileId, part, isLast, base64 });
      isOver = isLast;
    }
    return true;
  }
}
