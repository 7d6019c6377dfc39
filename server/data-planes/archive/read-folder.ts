import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isId } from '../../../data-plane-agent/base/ids.js';
import { ArchiveFault } from './archive-fault.js';
import {
  fileOfKind,
  FILES,
  KINDS,
  manifestOf,
  MANIFEST,
  MAX_LINE_BYTES,
  RECORDS,
  SUMS,
  type Manifest,
} from './format.js';
import { FieldFault, type ArchiveRecord } from './records.js';

/** A folder that an export has written. What is read is compared with its hash; throws TENANT_DATA_DAMAGED. */
export interface FolderReader {
  readonly manifest: Manifest;
  /** The records of a kind. `work` may throw FieldFault, which becomes a fault with the file and the line. */
  each(kind: string, work: (record: ArchiveRecord) => Promise<void> | void): Promise<void>;
  /** The bytes of a file, if the export has them. */
  file(id: string): FileInFolder | undefined;
  /** Reads all files of the organisation, and compares each with its hash. */
  checkFiles(onProgress: (text: string) => void): Promise<void>;
}

export interface FileInFolder {
  readonly name: string;
  readonly sha256: string;
  /** Throws TENANT_DATA_DAMAGED at the end if the bytes are others. */
  read(): AsyncIterable<Buffer>;
}

const damaged = (message: string, options?: ErrorOptions): ArchiveFault =>
  new ArchiveFault('TENANT_DATA_DAMAGED', message, options);
const invalid = (message: string, options?: ErrorOptions): ArchiveFault =>
  new ArchiveFault('TENANT_DATA_INVALID', message, options);

const MANIFEST_BYTES = 64 * 1024 * 1024;
const FILE_NAME = /^files\/([0-9a-f-]{36})(?:\.[a-z0-9]{1,10})?$/;

/**
 * Opens a folder: its manifest, and whether it has the files that SHA256SUMS lists, and no others. Throws
 * TENANT_DATA_INVALID, TENANT_DATA_VERSION and TENANT_DATA_DAMAGED.
 */
export async function readFolder(folder: string): Promise<FolderReader> {
  const sums = await sumsOf(folder);
  await compareNames(folder, sums);
  const text = await textOf(folder, MANIFEST);
  if (createHash('sha256').update(text).digest('hex') !== sums.get(MANIFEST))
    throw damaged(`${MANIFEST} has another hash than in ${SUMS}`);
  const manifest = manifestOf(text.toString('utf8'));
  compareKinds(manifest, sums);
  const files = new Map(
    [...sums].flatMap(([name, sha256]) => {
      const id = FILE_NAME.exec(name)?.[1];
      return id === undefined ? [] : [[id, { name, sha256, read: () => bytesOf(folder, name, sha256) }] as const];
    }),
  );

  return {
    manifest,
    async each(kind, work) {
      const summary = manifest.records.find((one) => one.kind === kind);
      if (!summary) throw invalid(`${MANIFEST}: the kind ${kind} is missing`);
      const { file, sha256, count } = summary;
      let line = 0;
      for await (const bytes of linesOf(bytesOf(folder, file, sha256), file)) {
        line += 1;
        try {
          await work(recordIn(bytes));
        } catch (error) {
          throw error instanceof FieldFault
            ? invalid(`${file}, line ${line}: ${error.message}`, { cause: error })
            : error;
        }
      }
      if (line !== count) throw damaged(`${file} has ${line} lines; ${MANIFEST} says ${count}`);
    },
    file: (id) => files.get(id),
    async checkFiles(onProgress) {
      let checked = 0;
      for (const { read } of files.values()) {
        for await (const _piece of read());
        onProgress(`checking files: ${(checked += 1)} of ${files.size}`);
      }
    },
  };
}

async function textOf(folder: string, name: string): Promise<Buffer> {
  try {
    if ((await stat(join(folder, name))).size > MANIFEST_BYTES * 4) throw invalid(`${name} is too large`);
    return await readFile(join(folder, name));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw invalid(`${folder} has no ${name}: it is no export, or one that was interrupted`, { cause: error });
    throw error;
  }
}

async function sumsOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const sums = new Map<string, string>();
  const lines = (await textOf(folder, SUMS)).toString('utf8').split('\n');
  if (lines.pop() !== '') throw damaged(`${SUMS} is cut off`);
  for (const [at, line] of lines.entries()) {
    const [, sha256 = '', name = ''] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
    const isKnown = name === MANIFEST || KINDS.some((kind) => fileOfKind(kind) === name) || isFileName(name);
    if (!isKnown || sums.has(name))
      throw invalid(
        `${SUMS}, line ${at + 1}: is not the hash of a file of an export${name === '' ? '' : ` (${name})`}`,
      );
    sums.set(name, sha256);
  }
  if (!sums.has(MANIFEST)) throw damaged(`${SUMS} does not list ${MANIFEST}: it is cut off`);
  return sums;
}

const isFileName = (name: string): boolean => isId(FILE_NAME.exec(name)?.[1] ?? '');

async function compareNames(folder: string, sums: ReadonlyMap<string, string>): Promise<void> {
  const there = new Set<string>();
  for (const part of [RECORDS, FILES]) for (const name of await namesIn(folder, part)) there.add(`${part}/${name}`);
  for (const name of sums.keys()) if (name !== MANIFEST && !there.delete(name)) throw damaged(`${name} is missing`);
  const [more] = there;
  if (more !== undefined) throw invalid(`${more} is not in ${SUMS}`);
}

async function namesIn(folder: string, part: string): Promise<string[]> {
  try {
    return await readdir(join(folder, part));
  } catch (error) {
    throw damaged(`the folder ${part} cannot be read`, { cause: error });
  }
}

/** Each kind that this program knows once, in its own file, with the hash that SHA256SUMS has. */
function compareKinds({ records }: Manifest, sums: ReadonlyMap<string, string>): void {
  for (const { kind, file, sha256 } of records) {
    if (!KINDS.includes(kind)) throw invalid(`${MANIFEST}: ${kind} is not a kind of record`);
    if (file !== fileOfKind(kind) || records.filter((one) => one.kind === kind).length > 1)
      throw invalid(`${MANIFEST}: the kind ${kind} is not one file ${fileOfKind(kind)}`);
    if (sums.get(file) !== sha256) throw damaged(`${file} has another hash in ${MANIFEST} than in ${SUMS}`);
  }
  const missing = KINDS.find((kind) => !records.some((one) => one.kind === kind));
  if (missing !== undefined) throw invalid(`${MANIFEST}: the kind ${missing} is missing`);
}

async function* bytesOf(folder: string, name: string, sha256: string): AsyncIterable<Buffer> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(join(folder, name)) as AsyncIterable<Buffer>) {
    hash.update(piece);
    yield piece;
  }
  if (hash.digest('hex') !== sha256) throw damaged(`${name} has another hash than in ${SUMS}`);
}

/** Lines without their ends. */
async function* linesOf(pieces: AsyncIterable<Buffer>, name: string): AsyncIterable<Buffer> {
  let begun: Buffer[] = [];
  let length = 0;
  let line = 1;
  const isCutOff = (options?: ErrorOptions): ArchiveFault => damaged(`${name}, line ${line}: is cut off`, options);
  try {
    for await (const piece of pieces) {
      let from = 0;
      for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
        yield Buffer.concat([...begun, piece.subarray(from, end)]);
        begun = [];
        length = 0;
        line += 1;
        from = end + 1;
      }
      begun.push(piece.subarray(from));
      length += piece.length - from;
      if (length > MAX_LINE_BYTES) break;
    }
  } catch (error) {
    // Of a file that was cut off, the hash is another one as well.
    throw length > 0 && error instanceof ArchiveFault ? isCutOff({ cause: error }) : error;
  }
  if (length > MAX_LINE_BYTES) throw invalid(`${name}, line ${line}: is longer than ${MAX_LINE_BYTES} bytes`);
  if (length > 0) throw isCutOff();
}

function recordIn(bytes: Buffer): ArchiveRecord {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    throw new FieldFault('is not JSON', { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new FieldFault('is not a JSON object');
  return value as ArchiveRecord;
}
