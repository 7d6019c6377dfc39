import { s, type Static } from '../../base/schema.js';
import { checker } from '../../base/validation.js';
import { CommandError } from '../../base/command-line/errors.js';

/**
 * A backup is a tar archive (POSIX pax) of these members, in this order. docs/decisions/0015-backup.md describes it for
 * programs that read it without us.
 */
export const MEMBERS = {
  /** First, so that a wrong passphrase is found before the rest is read. */
  header: 'backup.json',
  databases: 'databases/',
  objects: 'objects.jsonl',
  files: 'files/',
  operations: 'operations/',
  policy: 'policy.json',
  secrets: 'secrets.sealed',
  index: 'index.jsonl',
  manifest: 'manifest.json',
  mac: 'manifest.mac',
} as const;

export const FORMAT = 1;
/** The context of the sealed member. */
export const SECRETS_CONTEXT = 'secrets';

const count = () => s.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const word = (max = 200) => s.verbatim({ max });

export const Header = s.object({
  format: s.integer({ min: 1, max: 1_000_000 }),
  product: s.enum(['duebook', 'duebook-agent']),
  version: word(100),
  backupId: word(100),
  startedAt: word(100),
  derivation: s.object({ n: count(), r: count(), p: count(), salt: word(200) }),
  proof: word(100),
});
export type Header = Static<typeof Header>;

const SavedDatabase = s.object({
  name: s.enum(['platform', 'tenant']),
  dialect: s.enum(['sqlite', 'postgres']),
  member: word(),
  /** When the copy's state was fixed. */
  stateAt: word(100),
  /** The applied migrations, oldest first. */
  migrations: s.list(s.object({ id: word(), checksum: word(100) }), 10_000),
  /** Of PostgreSQL, such as `15.18`; null for SQLite. */
  serverVersion: s.nullable(word(100)),
});
export type SavedDatabase = Static<typeof SavedDatabase>;

export const Manifest = s.object({
  format: s.integer({ min: 1, max: 1_000_000 }),
  product: Header.properties.product,
  version: Header.properties.version,
  backupId: Header.properties.backupId,
  startedAt: word(100),
  completedAt: word(100),
  databases: s.list(SavedDatabase, 2),
  /** `copied` is false for files on an S3 server: `objects.jsonl` lists them. */
  files: s.object({ store: s.enum(['filesystem', 's3']), copied: s.flag(), count: count(), bytes: count() }),
  /** Files that the contract data refers to: the lines of `objects.jsonl`. */
  objects: count(),
  /** Ids of the keys in `secrets.sealed`. */
  keyIds: s.list(word(), 1_000),
  /** Members before the index, and their bytes. */
  members: count(),
  bytes: count(),
  indexSha256: word(64),
});
export type Manifest = Static<typeof Manifest>;

/** The decrypted `secrets.sealed`. */
export const Secrets = s.object({
  secretKeys: word(100_000),
  /** Files of an agent's identity by name. */
  identity: s.list(s.object({ name: word(), content: s.document({ max: 1_000_000 }) }), 100),
});
export type Secrets = Static<typeof Secrets>;

/** One line of the index. */
export interface Indexed {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** Exact, since the lines of the index are compared as texts. */
export const indexLine = ({ name, size, sha256 }: Indexed): string => `${JSON.stringify({ name, size, sha256 })}\n`;

const checks = {
  header: checker(Header),
  manifest: checker(Manifest),
  secrets: checker(Secrets),
} as const;

export const readHeader = (content: Buffer): Header => shaped('header', content) as Header;
export const readManifest = (content: Buffer): Manifest => shaped('manifest', content) as Manifest;
export const readSecrets = (content: Buffer): Secrets => shaped('secrets', content) as Secrets;

/** Throws BACKUP_DAMAGED, or BACKUP_NEWER for a format of a later version. */
function shaped(kind: keyof typeof checks, content: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(content.toString('utf8'));
  } catch (error) {
    throw damaged(`its ${kind} is not JSON`, error);
  }
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (typeof format === 'number' && format > FORMAT)
    throw new CommandError(
      'BACKUP_NEWER',
      `the backup has format ${format}, which a newer version of this program wrote: use that version`,
    );
  const checked = checks[kind](value);
  if (!checked.ok)
    throw damaged(
      `its ${kind} is not valid (${checked.issues
        .slice(0, 3)
        .map(({ path, problem }) => `${path} ${problem}`)
        .join('; ')})`,
    );
  return checked.value;
}

export const damaged = (what: string, cause?: unknown): CommandError =>
  new CommandError('BACKUP_DAMAGED', `the backup is damaged or incomplete: ${what}`, { cause });

export const altered = (what: string): CommandError =>
  new CommandError('BACKUP_ALTERED', `the backup was altered after it was made: ${what}`);
