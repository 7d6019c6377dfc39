import { createHmac } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { addDays, todayIn, type Day } from '../base/day.js';
import { iso } from '../base/instants.js';
import type { Log } from '../base/log.js';
import type { KeyRing } from '../base/secrets.js';
import { mapYielding } from '../base/yielding.js';
import {
  beginningOf,
  dayFiles,
  logFolder,
  nextHash,
  readHead,
  tailOf,
  writeHead,
  type Position,
} from './operation-log-files.js';
import { privateFolder } from './stored-files.js';

/** One operation that the control plane asked for. No contents: only names, ids, times and sizes. */
export interface LoggedOperation {
  /** `null` for a request that was refused before its operation was known. */
  readonly operation: string | null;
  readonly actorKind: string | null;
  /** The member on whose behalf it was made. */
  readonly actorId: string | null;
  readonly requestId: string | null;
  /** Of the trace that the client named, if it did. */
  readonly traceId?: string | undefined;
  /** Ids of records in the request, by field. */
  readonly ids?: Readonly<Record<string, string>> | undefined;
  /** `ok`, the code of a failure, `fault` for an internal error, or `refused:` and why the request was not accepted. */
  readonly outcome: string;
  readonly ms: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/**
 * The agent's own audit. Written to the disk at least once a second, unless that takes longer, and when the agent stops;
 * operations do not wait for it.
 */
export interface OperationLog {
  add(operation: LoggedOperation): void;
  /** Entries could not be written for a while: the agent serves no operation that it cannot log. */
  readonly isFull: boolean;
  /** Resolves once what was added before has been written, or could not be. */
  flush(): Promise<void>;
  /** Removes files older than the retention. Returns how many. */
  removeOld(): number;
  /** Writes what waits, and ends. */
  close(): Promise<void>;
}

const FLUSH_MS = 1_000;
/** Entries that may wait while the disk does not take them. */
const MOST_WAITING = 10_000;

/** Opens the log of operations for writing; only the process that holds the lock of the data directory may. */
export function openOperationLog({
  dataDir,
  keyRing,
  days,
  clock,
  log,
}: {
  readonly dataDir: string;
  readonly keyRing: KeyRing;
  /** Retention, in days. */
  readonly days: number;
  readonly clock: Clock;
  readonly log: Log;
}): OperationLog {
  const folder = privateFolder(logFolder(dataDir));
  const key = chainKey(keyRing);
  let waiting: object[] = [];
  /** Those that are being written. */
  let writing: readonly object[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let file: { readonly day: Day; readonly handle: FileHandle } | undefined;
  let written: Promise<void> = Promise.resolve();
  let at = resumed({ folder, key, log, add: (event) => waiting.push(event), clock });

  /** Opens the file of the day, and begins it with the end of the file before. */
  const fileOf = async (day: Day): Promise<FileHandle> => {
    if (file?.day === day) return file.handle;
    const before = file?.handle;
    file = undefined;
    await before?.close();
    const handle = await open(join(folder, `${day}.jsonl`), 'a', 0o600);
    try {
      if ((await handle.stat()).size === 0) await handle.appendFile(`${JSON.stringify(beginningOf(day, at, key))}\n`);
    } catch (error) {
      await handle.close();
      throw error;
    }
    file = { day, handle };
    return handle;
  };

  /** One at a time: each continues the chain of the one before. Never rejects. */
  const write = async (): Promise<void> => {
    if (waiting.length === 0) return;
    writing = waiting;
    waiting = [];
    let size: number | undefined;
    let handle: FileHandle | undefined;
    try {
      const today = todayIn('UTC', clock.now());
      // A clock that was set back does not reopen the file of a day that ended.
      handle = await fileOf(file && file.day > today ? file.day : today);
      size = (await handle.stat()).size;
      let position: Position = at;
      const lines = await mapYielding(writing, (entry) => {
        const line = { n: position.n + 1, ...entry };
        position = { n: line.n, hash: nextHash(position, line, key) };
        return `${JSON.stringify({ ...line, hash: position.hash })}\n`;
      });
      await handle.appendFile(lines.join(''));
      await handle.datasync();
      at = position;
      writing = [];
      await writeHead(folder, at, key);
    } catch (error) {
      // A part of the lines may have been written.
      if (handle && size !== undefined && writing.length > 0) await cut(handle, size);
      waiting = [...writing, ...waiting];
      writing = [];
      log.error({ err: error, waiting: waiting.length }, 'the log of operations cannot be written');
      if (waiting.length > 0 && !closed) later();
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return (written = written.then(write));
  };
  const later = (): void => {
    timer ??= setTimeout(() => void flush(), FLUSH_MS);
  };

  return {
    add: ({ ids, ...operation }) => {
      waiting.push({ at: iso(clock.now()), ...operation, ...(ids === undefined ? {} : { ids }) });
      later();
    },
    get isFull() {
      return waiting.length + writing.length >= MOST_WAITING;
    },
    flush,
    removeOld: () => {
      const first = addDays(todayIn('UTC', clock.now()), 1 - days);
      const old = dayFiles(folder).filter(({ day }) => day < first);
      for (const { path } of old) rmSync(path);
      return old.length;
    },
    close: async () => {
      closed = true;
      await flush();
      await file?.handle.close();
      file = undefined;
    },
  };
}

/** The key of the chain. It does not change when a new key is added to the ring. */
export const chainKey = (keyRing: Pick<KeyRing, 'derive'>): Uint8Array => keyRing.derive('agent operation log');

/** Where the chain continues. What is wrong with its end becomes an entry of the log itself. */
function resumed({
  folder,
  key,
  log,
  add,
  clock,
}: {
  readonly folder: string;
  readonly key: Uint8Array;
  readonly log: Log;
  readonly add: (event: object) => void;
  readonly clock: Clock;
}): Position {
  const head = readHead(folder, key);
  const last = dayFiles(folder).at(-1);
  const tail = last ? tailOf(last.path) : undefined;
  const at = iso(clock.now());
  if (last && tail && tail.tornBytes > 0) {
    const fd = openSync(last.path, 'r+');
    try {
      ftruncateSync(fd, tail.wholeBytes);
    } finally {
      closeSync(fd);
    }
    log.warn({ file: last.path, bytes: tail.tornBytes }, 'the last line of the log of operations was incomplete');
    add({ at, event: 'torn_line', bytes: tail.tornBytes });
  }
  const position = tail?.position ??
    head ?? { n: 0, hash: createHmac('sha256', key).update('begin').digest('base64url') };
  if (head && head.n > position.n) {
    log.error({ entries: head.n - position.n }, 'the end of the log of operations is missing');
    add({ at, event: 'missing_end', entries: head.n - position.n });
  }
  return position;
}

/** Best effort: what remains is found as an incomplete or repeated line. */
async function cut(handle: FileHandle, size: number): Promise<void> {
  try {
    await handle.truncate(size);
  } catch {
    // the error of the write is the one to report
  }
}
