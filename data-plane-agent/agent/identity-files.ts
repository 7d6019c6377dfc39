import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LinkKeyPair } from '../base/link/keys.js';
import { Joined, LinkedTenant, PinnedKeys } from '../base/link/messages.js';
import { s, type Static, type TSchema } from '../base/schema.js';
import { checker } from '../base/validation.js';
import { othersCanRead, privateFolder, readIfThere, writeWhole } from './stored-files.js';

/**
 * The files of an agent's identity, in DATA_DIR/identity. Each has one kind of writer, so that the running agent and
 * `rotate-key` never overwrite each other: `key.json` is written by `rotate-key`, the others by the running agent, and
 * all by `join`, `connection.json` last.
 */
export const IDENTITY_FILES = {
  /** A join that has begun; removed once its answer is stored. */
  joining: 'joining.json',
  connection: 'connection.json',
  key: 'key.json',
  pinned: 'control-plane-keys.json',
  tenant: 'tenant.json',
  sequence: 'sequence.json',
} as const;
type IdentityFile = keyof typeof IDENTITY_FILES;

const Key = s.object({
  kid: s.text({ max: 100 }),
  publicJwk: s.free(),
  privateJwk: s.free(),
});

const SHAPES = {
  joining: s.object({ instanceId: s.id(), key: Key }),
  connection: s.object({
    connectionId: Joined.properties.connectionId,
    controlPlane: Joined.properties.controlPlane,
    accessMode: Joined.properties.accessMode,
    tenantId: s.id(),
  }),
  /** `next`: the key of a rotation whose answer has not been stored. */
  key: s.object({ instanceId: s.id(), current: Key, next: s.nullable(Key) }),
  pinned: PinnedKeys,
  tenant: LinkedTenant,
  sequence: s.object({ confirmed: s.integer({ max: Number.MAX_SAFE_INTEGER }) }),
} as const satisfies Record<IdentityFile, TSchema>;

export type StoredIdentity<F extends IdentityFile> = F extends 'joining'
  ? { readonly instanceId: string; readonly key: LinkKeyPair }
  : F extends 'key'
    ? { readonly instanceId: string; readonly current: LinkKeyPair; readonly next: LinkKeyPair | null }
    : Static<(typeof SHAPES)[F]>;

/** A file of the identity cannot be used. The message says what to do. */
export class IdentityFault extends Error {
  override readonly name = 'IdentityFault';

  constructor(
    readonly code: 'NOT_JOINED' | 'JOIN_INTERRUPTED' | 'IDENTITY_READABLE' | 'IDENTITY_DAMAGED',
    message: string,
  ) {
    super(message);
  }
}

export interface IdentityFiles {
  readonly folder: string;
  pathOf(file: IdentityFile): string;
  /** Undefined if the file does not exist. Throws IdentityFault if it is damaged, or if others can read it. */
  read<F extends IdentityFile>(file: F): StoredIdentity<F> | undefined;
  /** Atomic and durable. */
  write<F extends IdentityFile>(file: F, content: StoredIdentity<NoInfer<F>>): void;
}

export function identityFiles(
  dataDir: string,
  { write = writeWhole }: { readonly write?: typeof writeWhole } = {},
): IdentityFiles {
  const folder = join(dataDir, 'identity');
  const pathOf = (file: IdentityFile): string => join(folder, IDENTITY_FILES[file]);
  return {
    folder,
    pathOf,
    read: (file) => {
      if (existsSync(folder)) refuseReadable(folder, 700);
      const path = pathOf(file);
      const text = readIfThere(path);
      if (text === undefined) return undefined;
      refuseReadable(path, 600);
      const checked = checker<TSchema>(SHAPES[file])(parsed(text));
      if (!checked.ok)
        throw new IdentityFault(
          'IDENTITY_DAMAGED',
          `${path} is damaged: restore it from a backup, or join again with "duebook-agent rejoin" and a new join token`,
        );
      return checked.value as StoredIdentity<typeof file>; // of this file's shape
    },
    write: (file, content) => {
      privateFolder(folder);
      write(pathOf(file), `${JSON.stringify(content, null, 2)}\n`);
    },
  };
}

function refuseReadable(path: string, mode: 600 | 700): void {
  if (othersCanRead(path))
    throw new IdentityFault(
      'IDENTITY_READABLE',
      `other users of this machine can ${mode === 700 ? 'open' : 'read'} ${path}, which has the key of this agent: chmod ${mode} ${path}`,
    );
}

/** Undefined if it is not JSON, which no schema accepts. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
