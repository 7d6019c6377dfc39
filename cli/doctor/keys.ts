import { existsSync, statSync } from 'node:fs';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { SealError, type KeyRing } from '../../data-plane-agent/base/secrets.js';
import { sqlitePath } from '../../data-plane-agent/base/database/open.js';
import { migrationState } from '../../data-plane-agent/base/database/migrator.js';
import { createSigningKeys, listSigningKeys } from '../../server/auth/keys.js';
import { databasesOf } from '../../server/foundation.js';
import { ownSecretKeysPath } from '../../server/secret-keys.js';
import { withDatabase, type LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/** The secret keys are there, nobody else can read them, and they open what the platform database holds. */
export async function keysCheck({ values, sources }: LookedAt, { clock }: { readonly clock: Clock }): Promise<Check> {
  const path = ownSecretKeysPath(values.dataDir);
  const own = sources['SECRET_KEYS'] === 'generated';
  const sealed = await sealedIn(values, clock);
  const putBack = `put back the keys with which it was sealed: SECRET_KEYS, or the file ${path}`;
  if (!values.keyRing) {
    if (sealed)
      return check.fail(
        'keys',
        'there are no secret keys, and the platform database holds what was sealed with some',
        putBack,
      );
    return check.ok('keys', `not made yet; the first start makes them in ${path}`);
  }
  if (sealed && !(await sealed.opensWith(values.keyRing)))
    return check.fail('keys', 'the secret keys do not open what the platform database holds', putBack);
  // Bits of group and others; where a system has no such bits they are 0.
  if (own && (statSync(path).mode & 0o077) !== 0)
    return check.warn('keys', `others can read ${path}`, `chmod 600 ${path}`);
  return check.ok(
    'keys',
    own ? `in ${path}; keep a copy elsewhere` : `${values.keyRing.keyIds.length} from SECRET_KEYS`,
  );
}

interface Sealed {
  opensWith(keyRing: KeyRing): Promise<boolean>;
}

/**
 * What the platform database holds that only the right keys open; undefined when there is none yet, or the database is
 * a matter of its own check.
 */
async function sealedIn(values: LookedAt['values'], clock: Clock): Promise<Sealed | undefined> {
  const { platform } = databasesOf(values);
  const file = sqlitePath(platform.url);
  if (file !== undefined && !existsSync(file)) return undefined;
  const inDatabase = <T>(work: Parameters<typeof withDatabase<T>>[2]) => withDatabase(platform, values, work);
  const found = await inDatabase(async (database) => {
    if ((await migrationState(database, platform.migrations)).pending.length > 0) return false;
    return (await listSigningKeys(database)).some(({ status }) => status === 'active');
  }).catch(() => false); // told by the database's own check
  if (!found) return undefined;
  return {
    opensWith: (keyRing) =>
      inDatabase(async (database) => {
        try {
          // With a key there, this only opens it.
          await createSigningKeys({ database, clock, keyRing, tokenLifetimeMs: 0 });
          return true;
        } catch (error) {
          if (error instanceof SealError) return false;
          throw error;
        }
      }),
  };
}
