import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { altered, damaged, indexLine, type Indexed } from './format.js';

/**
 * The hashes of what was read from a backup, kept on disk: a backup can have millions of members. The index of the
 * backup comes after them.
 */
export interface ReadIndex {
  note(indexed: Indexed): Promise<void>;
  /** Compares with the index that the backup has. Throws BACKUP_ALTERED, naming the first member that differs. */
  compare(indexPath: string): Promise<void>;
  readonly members: number;
  readonly bytes: number;
  close(): Promise<void>;
}

export async function createReadIndex(path: string): Promise<ReadIndex> {
  const file: FileHandle = await open(path, 'wx', 0o600);
  const totals = { members: 0, bytes: 0 };
  return {
    get members() {
      return totals.members;
    },
    get bytes() {
      return totals.bytes;
    },
    note: async (indexed) => {
      totals.members += 1;
      totals.bytes += indexed.size;
      await file.writeFile(indexLine(indexed));
    },
    compare: async (indexPath) => {
      const found = linesOf(path);
      for await (const expected of linesOf(indexPath)) {
        const { value, done } = await found.next();
        if (done) throw damaged(`${nameIn(expected)} is missing`);
        if (value !== expected)
          throw altered(
            nameIn(value) === nameIn(expected)
              ? `${nameIn(expected)} is not what was backed up`
              : `${nameIn(value)} is in the place of ${nameIn(expected)}`,
          );
      }
      const more = await found.next();
      if (!more.done) throw altered(`${nameIn(more.value)} was added`);
    },
    close: () => file.close(),
  };
}

async function* linesOf(path: string): AsyncGenerator<string, undefined> {
  yield* createInterface({ input: createReadStream(path), crlfDelay: Infinity });
}

/** The name in a line of an index, for a message. */
function nameIn(line: string): string {
  const name = /^\{"name":"([^"]{1,600})"/.exec(line)?.[1];
  return name ?? 'a member';
}
