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

/** The secret keys exist, only their owner can read them, and they open the secrets in the platform database. */
export async function keysCheck({ values, sources }: LookedAt, { clock }: { readonly clock: Clock }): Promise<Check> {
  const path = ownSecretKeysPath(values.dataDir);
  const own = sources['SECRET_KEYS'] === 'generated';
  const sealed = await sealedIn(values, clock);
  const putBack = `restore the keys that it was sealed with: SECRET_KEYS, or the file ${path}`;
  if (!values.keyRing) {
    if (sealed)
      return check.fail('keys', 'there are no secret keys, but the platform database has sealed secrets', putBack);
    return check.ok('keys', `not generated yet; the first start writes them to ${path}`);
  }
  if (sealed && !(await sealed.opensWith(values.keyRing)))
    return check.fail('keys', 'the secret keys do not open the secrets in the platform database', putBack);
  // Permissions of group and others; 0 on a system without them.
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
 * The sealed secrets of the platform database. Undefined when there are none yet, or when the database cannot be read,
 * which its own check reports.
 */
async function sealedIn(values: LookedAt['values'], clock: Clock): Promise<Sealed | undefined> {
  const { platform } = databasesOf(values);
  const file = sqlitePath(platform.url);
  if (file !== undefined && !existsSync(file)) return undefined;
  const inDatabase = <T>(work: Parameters<typeof withDatabase<T>>[2]) => withDatabase(platform, values, work);
  const found = await inDatabase(async (database) => {
    if ((await migrationState(database, platform.migrations)).pending.length > 0) return false;
    return (await listSigningKeys(database)).some(({ status }) => status === 'active');
  }).catch(() => false); // reported by the check of the database
  if (!found) return undefined;
  return {
    opensWith: (keyRing) =>
      inDatabase(async (database) => {
        try {
          // An active key exists, so this only opens it.
          await createSigningKeys({ database, clock, keyRing, tokenLifetimeMs: 0 });
          return true;
        } catch (error) {
          if (error instanceof SealError) return false;
          throw error;
        }
      }),
  };
}
