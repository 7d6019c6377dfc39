import { exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { randomToken, SealError, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { SigningKeyStore, type SigningKeyRecord } from '../store/signing-keys.js';

/** The Ed25519 keys that sign tokens, shared by all replicas and encrypted in the platform database. */
export interface SigningKeys {
  /** The active signing key. */
  current(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** The key to verify a token; `undefined` if it is unknown or retired. */
  verifier(kid: string): Promise<CryptoKey | undefined>;
  /** The public keys, for `/.well-known/jwks.json`. */
  jwks(): Promise<{ readonly keys: readonly JWK[] }>;
  /**
   * Activates a new signing key. The old one verifies until its last token has expired. Other replicas switch within a
   * minute.
   */
  rotate(actor: Actor): Promise<{ readonly kid: string; /** Epoch milliseconds. */ readonly oldVerifiesUntil: number }>;
}

/** A key as shown to operators; times in epoch milliseconds. */
export type ListedSigningKey = Pick<SigningKeyRecord, 'kid' | 'status' | 'createdAt' | 'verifyUntil'>;

/** Lists the keys, the active one first, without decrypting or creating any. */
export async function listSigningKeys(database: Pick<Database, 'read'>): Promise<ListedSigningKey[]> {
  const keys = await database.read({ tenantId: null }, (tx) => new SigningKeyStore(tx).all());
  return keys.map(({ kid, status, createdAt, verifyUntil }) => ({ kid, status, createdAt, verifyUntil }));
}

/** Whether the key ring opens the active key; undefined if there is no key yet. */
export async function opensActiveKey(
  database: Pick<Database, 'read'>,
  keyRing: KeyRing | undefined,
): Promise<boolean | undefined> {
  const keys = await database.read({ tenantId: null }, (tx) => new SigningKeyStore(tx).all());
  const active = keys.find(({ status }) => status === 'active');
  if (!active) return undefined;
  if (!keyRing) return false;
  try {
    keyRing.openText(active.privateSealed, sealContext(active.kid));
    return true;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}

/**
 * Loads the keys and creates the first one if needed. `tokenLifetimeMs` is the longest lifetime of a token. Throws
 * SealError if the key ring cannot decrypt the active key.
 */
export async function createSigningKeys({
  database,
  clock,
  keyRing,
  tokenLifetimeMs,
}: {
  database: Database;
  clock: Clock;
  keyRing: KeyRing;
  tokenLifetimeMs: number;
}): Promise<SigningKeys> {
  const scope = { tenantId: null };
  const read = async (): Promise<Loaded> =>
    loadedOf(await database.read(scope, (tx) => new SigningKeyStore(tx).all()), { keyRing, at: clock.now() });

  let loaded = await read();
  if (!loaded.active) {
    const first = await newKey(keyRing);
    await database.write(scope, (tx) => new SigningKeyStore(tx).insertActive({ ...first, createdAt: clock.now() }));
    loaded = await read();
  }

  let reloading: Promise<Loaded> | undefined;
  /** Concurrent callers share one query, so that tokens with unknown key ids cannot cause many. */
  const reload = (): Promise<Loaded> => {
    reloading ??= read()
      .then((fresh) => (loaded = fresh))
      .finally(() => (reloading = undefined));
    return reloading;
  };
  const fresh = async (): Promise<Loaded> => (clock.now() - loaded.at < RELOAD_MS ? loaded : reload());
  const verifies = ({ verifyUntil }: { verifyUntil: number | null }) =>
    verifyUntil === null || verifyUntil > clock.now();

  return {
    current: async () => {
      const { active } = await fresh();
      if (!active) throw new Error('there is no active signing key');
      return active;
    },
    verifier: async (kid) => {
      if (!KID.test(kid)) return undefined;
      const found = (await fresh()).keys.get(kid) ?? (await reload()).keys.get(kid);
      return found && verifies(found) ? found.key : undefined;
    },
    jwks: async () => ({
      keys: (await fresh()).keys
        .values()
        .filter(verifies)
        .map(({ jwk }) => jwk)
        .toArray(),
    }),
    rotate: async (actor) => {
      const next = await newKey(keyRing);
      const oldVerifiesUntil = await database.write(scope, async (tx) => {
        const store = new SigningKeyStore(tx);
        const at = clock.now();
        await store.deleteExpired({ at });
        const verifyUntil = at + tokenLifetimeMs;
        await store.retireActive({ verifyUntil });
        await store.insertActive({ ...next, createdAt: at });
        await new AuditStore(tx).append({
          tenantId: null,
          at,
          actor,
          action: 'signing_key_rotated',
          recordKind: 'signing_key',
          recordId: null,
          changes: { kid: next.kid, oldVerifiesUntil: verifyUntil },
        });
        return verifyUntil;
      });
      await reload();
      return { kid: next.kid, oldVerifiesUntil };
    },
  };
}

/** How soon a rotation by another replica is noticed; the old key remains valid in the meantime. */
const RELOAD_MS = 60_000;
const KID = /^[A-Za-z0-9_-]{1,64}$/;
const ALGORITHM = 'EdDSA';

interface Loaded {
  readonly at: number;
  readonly active: { readonly kid: string; readonly key: CryptoKey } | undefined;
  readonly keys: ReadonlyMap<
    string,
    { readonly key: CryptoKey; readonly jwk: JWK; readonly verifyUntil: number | null }
  >;
}

const sealContext = (kid: string): string => `signing_keys.private_sealed.${kid}`;

async function newKey(keyRing: KeyRing): Promise<Pick<SigningKeyRecord, 'kid' | 'publicJwk' | 'privateSealed'>> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true });
  const kid = randomToken(12);
  return {
    kid,
    publicJwk: { ...(await exportJWK(publicKey)) },
    privateSealed: keyRing.seal(JSON.stringify(await exportJWK(privateKey)), sealContext(kid)),
  };
}

async function loadedOf(
  records: readonly SigningKeyRecord[],
  { keyRing, at }: { keyRing: KeyRing; at: number },
): Promise<Loaded> {
  const keys = new Map<string, { key: CryptoKey; jwk: JWK; verifyUntil: number | null }>();
  for (const { kid, publicJwk, verifyUntil } of records) {
    keys.set(kid, {
      key: await imported(publicJwk),
      jwk: { ...publicJwk, kid, alg: ALGORITHM, use: 'sig' } as JWK,
      verifyUntil,
    });
  }
  const active = records.find(({ status }) => status === 'active');
  const key =
    active && (await imported(JSON.parse(keyRing.openText(active.privateSealed, sealContext(active.kid))) as JWK));
  return { at, keys, active: active && key && { kid: active.kid, key } };
}

async function imported(jwk: Readonly<Record<string, unknown>> | JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk as JWK, ALGORITHM);
  if (key instanceof Uint8Array) throw new TypeError('a signing key must be an asymmetric one');
  return key;
}
