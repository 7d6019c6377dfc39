import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { ReadableStream } from 'node:stream/web';
import { createTarDecoder } from 'modern-tar';
import { CommandError, misuse } from '../../base/command-line/errors.js';
import { codeOf } from './archive-writer.js';
import { damaged, MEMBERS, type Indexed } from './format.js';
import { piecesOf } from './pieces.js';

/** A member of a backup. Its content must be read, or skipped, before the next member. */
export interface Member {
  readonly name: string;
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * The members of a backup in their order. Throws USAGE if the file cannot be opened, and BACKUP_DAMAGED if it is not a
 * whole archive of members that a backup can have.
 */
export async function* membersOf(path: string): AsyncGenerator<Member> {
  const file = await opened(path);
  try {
    const entries = ReadableStream.from(piecesOf(file)).pipeThrough(createTarDecoder({ strict: true }));
    for await (const { header, body } of entries) {
      const { name, size, type } = header;
      if (type !== 'file' || !isMember(name)) throw damaged(`it contains ${JSON.stringify(name.slice(0, 200))}`);
      yield { name, size, content: explaining(body, path) };
    }
  } catch (error) {
    throw error instanceof CommandError ? error : explained(error, path);
  } finally {
    await file.close();
  }
}

/** Errors of the archive are found while the content of a member is read. */
async function* explaining(body: ReadableStream<Uint8Array>, path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } catch (error) {
    throw explained(error, path);
  }
}

async function opened(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw misuse(`${path} cannot be read (${String(codeOf(error) ?? error)})`);
  }
}

/** The archive library has no codes for its errors: any of them means that the archive is not whole. */
const explained = (error: unknown, path: string): CommandError =>
  typeof codeOf(error) === 'string'
    ? new CommandError('BACKUP_UNREADABLE', `${path} cannot be read (${String(codeOf(error))})`, { cause: error })
    : damaged(error instanceof Error ? error.message : String(error), error);

const WORD = '[A-Za-z0-9_][A-Za-z0-9._-]*';
const NAMED = new RegExp(
  `^(${MEMBERS.databases}(platform|tenant)\\.(db|dump)|${MEMBERS.files}${WORD}(/${WORD})+|${MEMBERS.operations}(\\d{4}-\\d{2}-\\d{2}\\.jsonl|head\\.json))$`,
);
const SINGLE: ReadonlySet<string> = new Set([
  MEMBERS.header,
  MEMBERS.objects,
  MEMBERS.policy,
  MEMBERS.secrets,
  MEMBERS.index,
  MEMBERS.manifest,
  MEMBERS.mac,
]);

/** Only names that this program writes, so that no member can be placed outside the folders it belongs to. */
const isMember = (name: string): boolean => SINGLE.has(name) || (name.length <= 600 && NAMED.test(name));

/** Reads a small member into memory. */
export async function textOf({ name, size, content }: Member, most: number): Promise<Buffer> {
  if (size > most) throw damaged(`${name} has ${size} bytes`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Hashes a member while `take` uses its content. */
export async function hashed(
  member: Member,
  take: (content: AsyncIterable<Uint8Array>) => Promise<void> = discard,
): Promise<Indexed> {
  const hash = createHash('sha256');
  async function* through(): AsyncGenerator<Uint8Array> {
    for await (const chunk of member.content) {
      hash.update(chunk);
      yield chunk;
    }
  }
  await take(through());
  return { name: member.name, size: member.size, sha256: hash.digest('hex') };
}

async function discard(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}
