import { createHmac } from 'node:crypto';
import { closeSync, createReadStream, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Day } from '../base/day.js';
import { isMissing, readIfThere } from './stored-files.js';

/** A point in the chain of entries: how many there are, and the hash of the last one. */
export interface Position {
  readonly n: number;
  readonly hash: string;
}

/** An entry as it is stored. The first line of a file has `begins`, and repeats the end of the file before. */
export type StoredEntry = Readonly<Record<string, unknown>> & Position;

export const logFolder = (dataDir: string): string => join(dataDir, 'operations');

/** The hash after an entry: HMAC-SHA256 over the hash before it and its JSON without its own hash. */
export const nextHash = ({ hash }: Position, entry: object, key: Uint8Array): string =>
  createHmac('sha256', key).update(hash).update('\n').update(JSON.stringify(entry)).digest('base64url');

/** The first line of a day's file: the chain continues from the file before, which the retention may have removed. */
export function beginningOf(day: Day, { n, hash }: Position, key: Uint8Array): object {
  const begins = { begins: day, n, hash };
  return { ...begins, seal: sealOf(begins, key) };
}

const sealOf = (sealed: object, key: Uint8Array): string =>
  createHmac('sha256', key).update('seal\n').update(JSON.stringify(sealed)).digest('base64url');

export interface DayFile {
  readonly day: Day;
  readonly path: string;
}

/** The files of the log, oldest first. */
export function dayFiles(folder: string): DayFile[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  return names
    .filter((name) => /^\d{4}-\d{2}-\d{2}\.jsonl$/.test(name))
    .toSorted()
    .map((name) => ({ day: name.slice(0, 10), path: join(folder, name) }));
}

const headPath = (folder: string): string => join(folder, 'head.json');

/** Without a flush to the disk: after a power failure the head may be older than the entries, which is no fault. */
export async function writeHead(folder: string, { n, hash }: Position, key: Uint8Array): Promise<void> {
  const draft = `${headPath(folder)}.tmp`;
  await writeFile(draft, `${JSON.stringify({ n, hash, seal: sealOf({ n, hash }, key) })}\n`, { mode: 0o600 });
  await rename(draft, headPath(folder));
}

/** The sealed end of the chain; undefined if there is none, or if it was altered. */
export function readHead(folder: string, key: Uint8Array): Position | undefined {
  const head = parsedLine(readIfThere(headPath(folder)) ?? '');
  if (!head) return undefined;
  const { n, hash } = head;
  return head['seal'] === sealOf({ n, hash }, key) ? { n, hash } : undefined;
}

/** The end of a file: its last complete line, and the bytes of an incomplete one after it. */
export function tailOf(path: string): {
  readonly position: Position | undefined;
  readonly wholeBytes: number;
  readonly tornBytes: number;
} {
  const size = statSync(path).size;
  const from = Math.max(0, size - LONGEST_LINE);
  const content = Buffer.alloc(size - from);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, content, 0, content.length, from);
  } finally {
    closeSync(fd);
  }
  const end = content.lastIndexOf(NEWLINE) + 1;
  const start = end < 2 ? 0 : content.lastIndexOf(NEWLINE, end - 2) + 1;
  const entry = parsedLine(content.subarray(start, end).toString('utf8'));
  return {
    position: entry && { n: entry.n, hash: entry.hash },
    wholeBytes: from + end,
    tornBytes: content.length - end,
  };
}

const NEWLINE = 0x0a;
/** Much more than two lines have, in bytes. */
const LONGEST_LINE = 64 * 1024;

/** What is wrong at a place of the log. */
export interface LogFault {
  readonly day: Day;
  readonly line: number;
  readonly problem: string;
}

export interface VerifiedLog {
  readonly entries: number;
  readonly firstDay: Day | null;
  readonly lastDay: Day | null;
  readonly faults: readonly LogFault[];
  /** Whether the last line is incomplete: the agent was killed, or the power failed, while it was written. */
  readonly torn: boolean;
}

const MOST_FAULTS = 100;

/** Checks that no entry was changed, removed or added since it was written. */
export async function verifyLog(
  folder: string,
  key: Uint8Array,
  onProgress: (entries: number) => void = () => undefined,
): Promise<VerifiedLog> {
  const files = dayFiles(folder);
  const faults: LogFault[] = [];
  const fault = (found: LogFault): void => {
    if (faults.length < MOST_FAULTS) faults.push(found);
  };
  let at: Position | undefined;
  let entries = 0;
  let torn = false;
  for (const { day, path } of files) {
    let line = 0;
    for await (const { text, isWhole } of linesOf(path)) {
      line += 1;
      const entry = isWhole ? parsedLine(text) : undefined;
      if (!entry) {
        if (!isWhole && path === files.at(-1)?.path) torn = true;
        else fault({ day, line, problem: 'is not an entry' });
        continue;
      }
      const problem = line === 1 ? beginningFault(entry, { day, at, key }) : entryFault(entry, at, key);
      if (problem !== undefined) fault({ day, line, problem });
      if (line > 1) onProgress((entries += 1));
      // Continues from the stored values, so that one fault is reported once.
      at = { n: entry.n, hash: entry.hash };
    }
  }
  const head = readHead(folder, key);
  const day = files.at(-1)?.day ?? '';
  if (head && head.n > (at?.n ?? 0))
    fault({ day, line: 0, problem: `the last ${head.n - (at?.n ?? 0)} entries were removed` });
  if (!head && at !== undefined && at.n > 0) fault({ day, line: 0, problem: 'the head is missing or was altered' });
  return { entries, firstDay: files[0]?.day ?? null, lastDay: files.at(-1)?.day ?? null, faults, torn };
}

function beginningFault(
  entry: StoredEntry,
  { day, at, key }: { readonly day: Day; readonly at: Position | undefined; readonly key: Uint8Array },
): string | undefined {
  const { begins, n, hash, seal } = entry;
  if (begins !== day || seal !== sealOf({ begins, n, hash }, key)) return 'the beginning of the file was altered';
  if (at && (at.n !== n || at.hash !== hash))
    return `entries before it were removed or added (${at.n} instead of ${n})`;
  return undefined;
}

function entryFault({ hash, ...entry }: StoredEntry, at: Position | undefined, key: Uint8Array): string | undefined {
  if (at && entry.n !== at.n + 1) return `entries before it were removed or added (${entry.n} follows ${at.n})`;
  return at && nextHash(at, entry, key) === hash ? undefined : 'was altered';
}

/** The lines of a file. The last one is incomplete if the file does not end with a newline. */
export async function* linesOf(path: string): AsyncGenerator<{ readonly text: string; readonly isWhole: boolean }> {
  const { size } = statSync(path);
  if (size === 0) return;
  // Reads only what was there at the beginning: a running agent writes more.
  const input = createReadStream(path, { end: size - 1 });
  let bytes = 0;
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    bytes += Buffer.byteLength(text) + 1;
    yield { text, isWhole: bytes <= size };
  }
}

/** Undefined if the text is no entry. */
export function parsedLine(text: string): StoredEntry | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isEntry = (value: unknown): value is StoredEntry =>
  typeof value === 'object' &&
  value !== null &&
  'n' in value &&
  typeof value.n === 'number' &&
  'hash' in value &&
  typeof value.hash === 'string';
