import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../../base/command-line/errors.js';
import { constantTimeEqual } from '../../base/secrets.js';
import { hashed, membersOf, textOf, type Member } from './archive-reader.js';
import {
  altered,
  damaged,
  MEMBERS,
  readHeader,
  readManifest,
  readSecrets,
  SECRETS_CONTEXT,
  type Header,
  type Manifest,
  type SavedDatabase,
  type Secrets,
} from './format.js';
import { createReadIndex, type ReadIndex } from './index-check.js';
import { passkeyOf, refuseWrong, type Passkey } from './passphrase.js';
import { sha256Of } from './pieces.js';
import { postgresTools, type ToolSettings } from './postgres-tools.js';
import { faultsOfCopy } from './sqlite.js';

export interface ReadOptions {
  readonly passphrase: string;
  readonly tools: ToolSettings;
  readonly onProgress: (text: string) => void;
}

/** A backup that was read to its end and is what was written. */
export interface VerifiedBackup {
  readonly header: Header;
  readonly manifest: Manifest;
  readonly secrets: Secrets;
  /** The list of its members with their hashes, which is verified too. */
  readonly indexPath: string;
}

/** Reads a backup and checks everything that can be checked without restoring it. Leaves nothing behind. */
export async function verifyBackup(
  path: string,
  options: ReadOptions & { readonly tempFolder?: string | undefined },
): Promise<Pick<VerifiedBackup, 'header' | 'manifest'>> {
  const folder = await mkdtemp(join(options.tempFolder ?? tmpdir(), 'duebook-backup-'));
  try {
    const { header, manifest } = await readBackup(path, {
      ...options,
      folder,
      placeOf: (database) => join(folder, `${database}.copy`),
    });
    return { header, manifest };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const MOST_TEXT = 4 * 1024 * 1024;

/**
 * Reads the whole backup, keeps the copies of the databases at `placeOf`, and checks them. Throws WRONG_PASSPHRASE
 * (before the rest is read), BACKUP_ALTERED, BACKUP_DAMAGED or BACKUP_NEWER.
 */
export async function readBackup(
  path: string,
  {
    passphrase,
    tools,
    folder,
    placeOf,
    onHeader = () => undefined,
    onProgress,
  }: ReadOptions & {
    /** For what is read; empty, private. */
    readonly folder: string;
    readonly placeOf: (database: SavedDatabase['name']) => string;
    /** Called before the rest is read. */
    readonly onHeader?: (header: Header) => void;
  },
): Promise<VerifiedBackup> {
  const read = await createReadIndex(join(folder, 'read'));
  const indexPath = join(folder, 'index');
  const texts = new Map<string, Buffer>();
  const copies = new Map<string, string>();
  let header: Header | undefined;
  let passkey: Passkey | undefined;
  try {
    for await (const member of membersOf(path)) {
      const { name } = member;
      if (texts.has(MEMBERS.mac)) throw altered(`${name} was added`);
      if (!header) {
        if (name !== MEMBERS.header) throw damaged('it does not begin as a backup does');
        const content = await keep(member, texts, read);
        header = readHeader(content);
        passkey = await passkeyOf(passphrase, header.derivation);
        refuseWrong(passkey, header.proof);
        onHeader(header);
      } else if (name.startsWith(MEMBERS.databases)) {
        const target = placeOf(name.startsWith(`${MEMBERS.databases}tenant`) ? 'tenant' : 'platform');
        onProgress(`reading ${name}`);
        await read.note(await hashed(member, (content) => stored(content, target)));
        copies.set(name, target);
      } else if (name === MEMBERS.index) await stored(member.content, indexPath);
      else if (name === MEMBERS.manifest || name === MEMBERS.mac) texts.set(name, await textOf(member, MOST_TEXT));
      else if (name === MEMBERS.secrets) await keep(member, texts, read);
      else await read.note(await hashed(member));
      if (read.members % 100 === 0) onProgress(`${read.members} members`);
    }
    if (!header || !passkey) throw damaged('it is empty');
    const manifest = manifestOf(texts, passkey);
    if ((await sha256Of(indexPath)) !== manifest.indexSha256) throw altered('its index');
    await read.compare(indexPath);
    if (manifest.backupId !== header.backupId || manifest.product !== header.product) throw altered('its header');
    await checkCopies(manifest, copies, { tools, onProgress });
    const sealed = texts.get(MEMBERS.secrets);
    if (!sealed) throw damaged(`${MEMBERS.secrets} is missing`);
    const secrets = readSecrets(passkey.open(sealed.toString('utf8'), SECRETS_CONTEXT));
    return { header, manifest, secrets, indexPath };
  } finally {
    await read.close();
  }
}

/** Keeps a small member of the index in memory. */
async function keep(member: Member, texts: Map<string, Buffer>, read: ReadIndex): Promise<Buffer> {
  let content: Buffer = Buffer.alloc(0);
  const indexed = await hashed(member, async (bytes) => {
    content = await textOf({ ...member, content: bytes }, MOST_TEXT);
  });
  texts.set(member.name, content);
  await read.note(indexed);
  return content;
}

async function stored(content: AsyncIterable<Uint8Array>, target: string): Promise<void> {
  await rm(target, { force: true });
  await pipeline(content, createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true }));
}

/** Throws BACKUP_DAMAGED without a manifest, which is written last, and BACKUP_ALTERED. */
function manifestOf(texts: ReadonlyMap<string, Buffer>, passkey: Passkey): Manifest {
  const content = texts.get(MEMBERS.manifest);
  const mac = texts.get(MEMBERS.mac);
  if (!content || !mac) throw damaged('it ends before its manifest');
  if (!constantTimeEqual(passkey.mac(content), mac.toString('utf8').trim())) throw altered('its manifest');
  return readManifest(content);
}

async function checkCopies(
  { databases }: Manifest,
  copies: ReadonlyMap<string, string>,
  { tools, onProgress }: Pick<ReadOptions, 'tools' | 'onProgress'>,
): Promise<void> {
  for (const { name, member, dialect, serverVersion } of databases) {
    const copy = copies.get(member);
    if (copy === undefined) throw damaged(`${member} is missing`);
    onProgress(`checking the ${name} database`);
    if (dialect === 'sqlite') {
      const faults = faultsOfCopy(copy);
      if (faults.length > 0)
        throw new CommandError(
          'DATABASE_DAMAGED',
          `the ${name} database was damaged when it was copied: ${faults.join('; ')}; use an older backup, and check the disk of the installation`,
        );
    } else await (await postgresTools(tools, { serverMajor: Number.parseInt(serverVersion ?? '', 10) })).list(copy);
  }
}
