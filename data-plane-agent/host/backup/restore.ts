import { createReadStream, mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { CommandError } from '../../base/command-line/errors.js';
import type { ManagedDatabase } from '../../base/database/managed.js';
import type { ObjectStore } from '../../plane/files/objects/object-store.js';
import { hashed, membersOf, textOf, type Member } from './archive-reader.js';
import { altered, indexLine, MEMBERS, type Header, type Manifest, type Secrets } from './format.js';
import { restoreDatabase, refuseUnfit, type RestoreDatabase } from './restore-target.js';
import { readBackup, type ReadOptions } from './verify.js';

/** What an agent restores besides databases, files and keys. */
export interface RestoreAgentFiles {
  /** Throws if the target has another identity. Called before anything is changed. */
  refuseOther(identity: Secrets['identity'], how: { readonly isResumed: boolean; readonly force: boolean }): void;
  writeOperations(name: string, content: Buffer): void;
  writePolicy(content: Buffer): void;
  /** Completes what was written, once the database has been restored, and stores the identity. */
  finish(identity: Secrets['identity']): void;
}

export interface RestoreTarget {
  readonly product: Header['product'];
  readonly databases: readonly ManagedDatabase[];
  /** Temporary files are put here. Created if missing. */
  readonly dataDir: string;
  readonly objects: ObjectStore;
  readonly keys: {
    /** The keys of the target in the format of SECRET_KEYS; undefined if it has none. */
    readonly present: string | undefined;
    /** Stores those of the backup, if it has none. */
    write(text: string): void;
  };
  readonly agent?: RestoreAgentFiles;
}

export interface RestoreOptions extends ReadOptions {
  /** Replaces what is there. */
  readonly force: boolean;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly files: number;
  /** Whether the keys of the backup were stored; the target had them otherwise. */
  readonly keysWritten: boolean;
  /**
   * Files that the contract data refers to and the store does not have, if the backup does not contain files: at most
   * 20, and how many there are.
   */
  readonly missing: { readonly count: number; readonly keys: readonly string[] };
}

/**
 * Restores a backup. Everything is read and verified before anything is changed. From then on until the end, the
 * databases are marked, and programs refuse to use them: after an interruption, the same restore is run again.
 */
export async function restoreBackup(path: string, target: RestoreTarget, options: RestoreOptions): Promise<Restored> {
  const { force, tools, onProgress } = options;
  mkdirSync(target.dataDir, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(resolve(target.dataDir), '.restore-'));
  const databases = target.databases.map((managed) => restoreDatabase(managed, { folder, tools }));
  try {
    const isResumed = await refuseTarget(databases, { force });
    for (const { staged } of databases) mkdirSync(dirname(resolve(staged)), { recursive: true, mode: 0o700 });
    const backup = await readBackup(path, {
      ...options,
      folder,
      placeOf: (name) => databases.find((one) => one.name === name)?.staged ?? join(folder, name),
      onHeader: ({ product }) => refuseOtherProduct(product, target.product),
    });
    const { manifest, secrets } = backup;
    refuseUnfit(manifest, { managed: target.databases, targets: databases });
    refuseOtherKeys(secrets, target);
    if (manifest.files.copied && !force && !isResumed) await refuseFullStore(target);
    target.agent?.refuseOther(secrets.identity, { isResumed, force });

    for (const database of databases) await database.mark();
    // A program that started before the mark is found here; one that starts later refuses the mark.
    for (const database of databases) await database.refuseUsed();
    const keysWritten = target.keys.present === undefined;
    if (keysWritten) target.keys.write(secrets.secretKeys);
    const placed = await placeFiles(path, { target, manifest, indexPath: backup.indexPath, onProgress });
    for (const database of databases) {
      onProgress(`restoring the ${database.name} database`);
      await database.replace();
    }
    target.agent?.finish(secrets.identity);
    for (const database of databases) await database.unmark();
    return { manifest, keysWritten, ...placed };
  } finally {
    for (const { staged } of databases) await rm(staged, { force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

/** Refuses a target that is used or, without `force`, not empty. Returns whether a restore into it was interrupted. */
async function refuseTarget(
  databases: readonly RestoreDatabase[],
  { force }: { readonly force: boolean },
): Promise<boolean> {
  for (const database of databases) await database.refuseUsed();
  const states = [];
  for (const database of databases) states.push({ name: database.name, ...(await database.state()) });
  const isResumed = states.some(({ isMarked }) => isMarked);
  if (force || isResumed) return isResumed;
  const full = states.filter(({ isEmpty }) => !isEmpty).map(({ name }) => `its ${name} database has tables`);
  if (full.length > 0) throw notEmpty(full.join('; '));
  return false;
}

async function refuseFullStore({ objects }: RestoreTarget): Promise<void> {
  for await (const _ of objects.list('')) throw notEmpty('its object store has files');
}

const notEmpty = (what: string): CommandError =>
  new CommandError(
    'TARGET_NOT_EMPTY',
    `the installation is not empty: ${what}. Nothing was changed. Restore into empty databases and an empty store, or replace what is there with --force`,
  );

function refuseOtherProduct(found: Header['product'], ours: Header['product']): void {
  if (found !== ours)
    throw new CommandError('BACKUP_UNFIT', `the backup is of ${found}: restore it with "${found} restore"`);
}

/** The keys of the target must be able to open everything that the backup has sealed. */
function refuseOtherKeys({ secretKeys }: Secrets, { keys: { present } }: RestoreTarget): void {
  if (present === undefined) return;
  const ours = new Set(present.split(',').map((key) => key.trim()));
  const lacking = secretKeys.split(',').filter((key) => !ours.has(key));
  // Some values are derived from the oldest key, which is the last one.
  const isOldest = secretKeys.split(',').at(-1) === present.split(',').at(-1)?.trim();
  if (lacking.length === 0 && isOldest) return;
  throw new CommandError(
    'KEYS_DIFFER',
    `the keys of this installation are not those of the backup (${lacking.map((key) => key.split(':')[0]).join(', ') || 'the oldest one differs'}), so that its secrets could not be opened. Nothing was changed. Write the keys of the backup to a file with --keys-out FILE and set SECRET_KEYS_FILE to it; or, if the keys here protect nothing, delete DATA_DIR/secret-keys; then run the restore again`,
  );
}

interface Placing {
  readonly target: RestoreTarget;
  readonly manifest: Manifest;
  readonly indexPath: string;
  readonly onProgress: (text: string) => void;
}

/** Reads the backup a second time and places what is in no database, each member verified again. */
async function placeFiles(
  path: string,
  { target, manifest, indexPath, onProgress }: Placing,
): Promise<Pick<Restored, 'files' | 'missing'>> {
  const lines = createInterface({ input: createReadStream(indexPath), crlfDelay: Infinity })[Symbol.asyncIterator]();
  let files = 0;
  const missing: { count: number; keys: string[] } = { count: 0, keys: [] };
  for await (const member of membersOf(path)) {
    if (member.name === MEMBERS.index) break;
    const take = async (content: AsyncIterable<Uint8Array>): Promise<void> => {
      const read = { ...member, content };
      if (member.name.startsWith(MEMBERS.files)) {
        await placeFile(read, target.objects);
        files += 1;
        if (files % 20 === 0) onProgress(`${files} of ${manifest.files.count} files`);
      } else if (member.name === MEMBERS.objects && !manifest.files.copied) await findMissing(content, target, missing);
      else await placeSmall(read, target);
    };
    const indexed = await hashed(member, take);
    const { value } = await lines.next();
    if (`${String(value)}\n` !== indexLine(indexed)) throw altered(`${member.name}, while it was restored`);
  }
  return { files, missing };
}

/** Durable and atomic for each file; its content type is in the database, from which links take it. */
const placeFile = ({ name, size, content }: Member, objects: ObjectStore): Promise<unknown> =>
  objects.write(name.slice(MEMBERS.files.length), Readable.from(content, { objectMode: false }), {
    sizeBytes: size,
    contentType: 'application/octet-stream',
  });

async function placeSmall(member: Member, { agent }: RestoreTarget): Promise<void> {
  const { name, content } = member;
  if (agent && name.startsWith(MEMBERS.operations))
    agent.writeOperations(name.slice(MEMBERS.operations.length), await textOf(member, MOST_LOG));
  else if (agent && name === MEMBERS.policy) agent.writePolicy(await textOf(member, MOST_LOG));
  else for await (const _ of content);
}

/** Of one day of the log of operations. */
const MOST_LOG = 2 ** 30;
const AT_ONCE = 16;
const MOST_NAMED = 20;

async function findMissing(
  content: AsyncIterable<Uint8Array>,
  { objects }: RestoreTarget,
  missing: { count: number; keys: string[] },
): Promise<void> {
  const look = async (line: string): Promise<void> => {
    const { key, sizeBytes } = JSON.parse(line) as { key: string; sizeBytes: number };
    if ((await objects.head(key))?.sizeBytes === sizeBytes) return;
    missing.count += 1;
    if (missing.keys.length < MOST_NAMED) missing.keys.push(key);
  };
  let batch: string[] = [];
  for await (const line of createInterface({ input: Readable.from(content, { objectMode: false }) })) {
    batch.push(line);
    if (batch.length < AT_ONCE) continue;
    await Promise.all(batch.map(look));
    batch = [];
  }
  await Promise.all(batch.map(look));
}
