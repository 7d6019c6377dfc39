import { statSync } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import { keyIdOf, signerOf, verifierOf, type LinkKeyPair, type PublicKey, type Signer } from '../base/link/keys.js';
import type { Joined, LinkedTenant } from '../base/link/messages.js';
import { IdentityFault, type IdentityFiles } from './identity-files.js';
import type { LinkIdentity } from './link/identity.js';
import { isMissing } from './stored-files.js';

/** The identity of an agent that has joined. */
export interface AgentIdentity extends LinkIdentity {
  readonly accessMode: Joined['accessMode'];
  /** The settings of the organisation, as the control plane last sent them. */
  readonly tenant: LinkedTenant;
  /** A rotation of the own key was interrupted: `rotate-key` completes it. */
  rotates(): boolean;
  /** Stores changed settings. Throws for those of another organisation. */
  setTenant(tenant: LinkedTenant): void;
}

/** Opens the identity. Throws IdentityFault if this agent has not joined, or its files cannot be used. */
export async function openIdentity(files: IdentityFiles): Promise<AgentIdentity> {
  const connection = files.read('connection');
  const key = files.read('key');
  const pinned = files.read('pinned');
  let tenant = files.read('tenant');
  if (!connection) throw notJoined(files);
  if (!key || !pinned || !tenant)
    throw new IdentityFault(
      'IDENTITY_DAMAGED',
      `files are missing in ${files.folder}: restore them from a backup, or join again with "duebook-agent rejoin" and a new join token`,
    );
  const own = createOwnKey(files);
  let accepted = await verifiersOf(pinned);
  let confirmed = files.read('sequence')?.confirmed ?? 0;
  return {
    ...connection,
    instanceId: key.instanceId,
    get tenant() {
      if (!tenant) throw new Error('the organisation was read at the start');
      return tenant;
    },
    signer: own.signer,
    rotates: () => files.read('key')?.next !== null,
    accepts: (kid) => accepted.get(kid),
    async pin(keys) {
      // Without a key the agent would accept nothing ever again.
      if (keys.length === 0) throw new Error('the control plane sent no keys');
      const next = await verifiersOf(keys);
      if (sameKeys(next, accepted)) return;
      files.write('pinned', [...keys]);
      accepted = next;
    },
    setTenant(changed) {
      if (changed.id !== connection.tenantId)
        throw new Error('the control plane sent the settings of another organisation');
      if (JSON.stringify(changed) === JSON.stringify(tenant)) return;
      files.write('tenant', changed);
      tenant = changed;
    },
    nextSequence: () => Promise.resolve(confirmed + 1),
    confirmSequence(sequence) {
      if (sequence > confirmed) {
        files.write('sequence', { confirmed: sequence });
        confirmed = sequence;
      }
      return Promise.resolve();
    },
  };
}

/** Why there is no identity. */
function notJoined(files: IdentityFiles): IdentityFault {
  return files.read('joining')
    ? new IdentityFault(
        'JOIN_INTERRUPTED',
        'a join was interrupted before its answer was stored, so its token may be used up: create a new join token and run "duebook-agent join" with it',
      )
    : new IdentityFault(
        'NOT_JOINED',
        'this agent has not joined a control plane: run "duebook-agent join --control-plane URL --token-file FILE"',
      );
}

async function verifiersOf(keys: readonly PublicKey[]): Promise<ReadonlyMap<string, KeyObject>> {
  return new Map(await Promise.all(keys.map(async (key) => [await keyIdOf(key), verifierOf(key)] as const)));
}

const sameKeys = (one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): boolean =>
  one.size === other.size && [...one.keys()].every((kid) => other.has(kid));

/** Signs with the key that is stored at the moment: `rotate-key` replaces it while the agent runs. */
function createOwnKey(files: IdentityFiles): { signer(): Signer } {
  let known: { readonly version: string; readonly signer: Signer } | undefined;
  return {
    signer: () => {
      const version = versionOf(files.pathOf('key'));
      if (known === undefined || (version !== undefined && version !== known.version)) {
        const key = files.read('key');
        if (!key) throw new IdentityFault('IDENTITY_DAMAGED', `${files.pathOf('key')} is missing`);
        known = { version: version ?? '', signer: signerOf(key.current) };
      }
      return known.signer;
    },
  };
}

/** Changes when the file is replaced. Undefined if it does not exist. */
function versionOf(path: string): string | undefined {
  try {
    const { ino, mtimeMs, size } = statSync(path);
    return `${ino} ${mtimeMs} ${size}`;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export interface JoinedIdentity {
  readonly joined: Joined;
  readonly instanceId: string;
  readonly key: LinkKeyPair;
}

/**
 * Stores the answer to a join, `connection.json` last: until then the agent counts as not joined. After a rejoin that
 * was interrupted the former key is no longer accepted, and another rejoin is needed.
 */
export function storeJoined(files: IdentityFiles, { joined, instanceId, key }: JoinedIdentity): void {
  const { connectionId, controlPlane, accessMode, tenant, keys } = joined;
  files.write('sequence', { confirmed: 0 });
  files.write('pinned', keys);
  files.write('tenant', tenant);
  files.write('key', { instanceId, current: key, next: null });
  files.write('connection', { connectionId, controlPlane, accessMode, tenantId: tenant.id });
}
