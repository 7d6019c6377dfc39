import type { KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import { fail } from '../../../data-plane-agent/base/failures.js';
import {
  newLinkKey,
  publicKeyOf,
  signerOf,
  verifierOf,
  type PublicKey,
  type Signer,
} from '../../../data-plane-agent/base/link/keys.js';
import type { KeyRing } from '../../../data-plane-agent/base/secrets.js';
import type { Actor } from '../../access/actor.js';
import { AuditStore } from '../../store/audit.js';
import { linkKeyStore } from '../../store/link-keys.js';
import type { SigningKeyRecord } from '../../store/signing-keys.js';

/**
 * The keys with which the service signs what it sends to agents, shared by all replicas. The first one is created when
 * it is needed. Agents accept only keys that they have learned from the service, so an earlier key also signs, until
 * its end, what is sent to an agent that has not learned the active one yet.
 */
export interface LinkKeys {
  /** The active key. */
  signer(): Promise<Signer>;
  /** All keys that may sign, the active one first. */
  signers(): Promise<readonly Signer[]>;
  /** Their public halves, in the same order. */
  publicKeys(): Promise<readonly PublicKey[]>;
  /** The key to verify what another replica signed; `undefined` if it is unknown or has ended. */
  verifier(kid: string): Promise<KeyObject | undefined>;
  /**
   * Activates a new key. Other replicas use it within a minute. An agent that has no session until the old key ends
   * must join again. Throws LIMIT_REACHED while there are five.
   */
  rotate(actor: Actor): Promise<{ readonly kid: string; /** Epoch milliseconds. */ readonly oldValidUntil: number }>;
}

/** A key as it is shown to operators; times in epoch milliseconds. */
export type ListedLinkKey = Pick<SigningKeyRecord, 'kid' | 'status' | 'createdAt' | 'verifyUntil'>;

/** Lists the keys, the active one first, without decrypting or creating any. */
export async function listLinkKeys(database: Pick<Database, 'read'>): Promise<ListedLinkKey[]> {
  const keys = await database.read({ tenantId: null }, (tx) => linkKeyStore(tx).all());
  return keys.map(({ kid, status, createdAt, verifyUntil }) => ({ kid, status, createdAt, verifyUntil }));
}

export function createLinkKeys({
  database,
  clock,
  keyRing,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
}): LinkKeys {
  const scope = { tenantId: null };
  let loading: Promise<Loaded> | undefined;
  let loaded: Loaded | undefined;

  const read = async (): Promise<Loaded> => {
    const at = clock.now();
    const records = await database.read(scope, (tx) => linkKeyStore(tx).all());
    return { at, keys: await Promise.all(records.map((record) => openedOf(record, keyRing))) };
  };
  const load = async (): Promise<Loaded> => {
    const present = await read();
    if (present.keys.some(({ verifyUntil }) => verifyUntil === null)) return present;
    const first = await newRecord(keyRing);
    await database.write(scope, (tx) => linkKeyStore(tx).insertActive({ ...first, createdAt: clock.now() }));
    return read();
  };
  /** Concurrent callers share one query. */
  const reload = (): Promise<Loaded> => {
    loading ??= load()
      .then((fresh) => (loaded = fresh))
      .finally(() => (loading = undefined));
    return loading;
  };
  const valid = async (): Promise<readonly Opened[]> => {
    const { keys } = loaded && clock.now() - loaded.at < RELOAD_MS ? loaded : await reload();
    return keys.filter(isValid);
  };
  const isValid = ({ verifyUntil }: Opened): boolean => verifyUntil === null || verifyUntil > clock.now();

  return {
    signer: async () => {
      const [active] = await valid();
      if (!active) throw new Error('there is no active link key');
      return active.signer;
    },
    signers: async () => (await valid()).map(({ signer }) => signer),
    publicKeys: async () => (await valid()).map(({ publicKey }) => publicKey),
    verifier: async (kid) => {
      const named = ({ signer }: Opened): boolean => signer.kid === kid;
      const found = (await valid()).find(named) ?? (await reload()).keys.filter(isValid).find(named);
      return found && verifierOf(found.publicKey);
    },
    rotate: async (actor) => {
      await valid(); // so that there is a key for the new one to replace
      const next = await newRecord(keyRing);
      const oldValidUntil = await database.write(scope, async (tx) => {
        const store = linkKeyStore(tx);
        const at = clock.now();
        await store.deleteExpired({ at });
        if ((await store.all()).length >= MAX_KEYS) throw fail('LIMIT_REACHED', { limit: MAX_KEYS });
        const verifyUntil = at + OVERLAP_MS;
        await store.retireActive({ verifyUntil });
        await store.insertActive({ ...next, createdAt: at });
        await new AuditStore(tx).append({
          tenantId: null,
          at,
          actor,
          action: 'link_key_rotated',
          recordKind: 'link_key',
          recordId: null,
          changes: { kid: next.kid, oldValidUntil: verifyUntil },
        });
        return verifyUntil;
      });
      await reload();
      return { kid: next.kid, oldValidUntil };
    },
  };
}

/** How soon a rotation by another replica is noticed; the old key remains valid in the meantime. */
const RELOAD_MS = 60_000;
/** How long an agent may be offline without missing a new key. */
const OVERLAP_MS = 30 * 24 * 3_600_000;
/** As many as an agent stores. */
const MAX_KEYS = 5;

interface Opened {
  readonly signer: Signer;
  readonly publicKey: PublicKey;
  readonly verifyUntil: number | null;
}

interface Loaded {
  readonly at: number;
  /** The active one first. */
  readonly keys: readonly Opened[];
}

const sealContext = (kid: string): string => `link_keys.private_sealed.${kid}`;

async function newRecord(keyRing: KeyRing): Promise<Pick<SigningKeyRecord, 'kid' | 'publicJwk' | 'privateSealed'>> {
  const { kid, publicJwk, privateJwk } = await newLinkKey();
  return { kid, publicJwk, privateSealed: keyRing.seal(JSON.stringify(privateJwk), sealContext(kid)) };
}

async function openedOf(
  { kid, publicJwk, privateSealed, verifyUntil }: SigningKeyRecord,
  keyRing: KeyRing,
): Promise<Opened> {
  const privateJwk = JSON.parse(keyRing.openText(privateSealed, sealContext(kid))) as JWK;
  return {
    signer: signerOf({ kid, privateJwk }),
    publicKey: publicKeyOf(publicJwk as JWK), // as it was stored by `newRecord`
    verifyUntil,
  };
}
