import { existsSync, statSync } from 'node:fs';
import { sqlitePath } from '../../data-plane-agent/base/database/open.js';
import { migrationState } from '../../data-plane-agent/base/database/migrator.js';
import { databasesOf } from '../../server/foundation.js';
import { keyRingFault, type KeyRingFault } from '../../server/key-ring-check.js';
import { ownSecretKeysPath } from '../../server/secret-keys.js';
import { withDatabase, type LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/** The secret keys exist, only their owner can read them, and they open the secrets in the platform database. */
export async function keysCheck({ values, sources }: LookedAt): Promise<Check> {
  const path = ownSecretKeysPath(values.dataDir);
  const own = sources['SECRET_KEYS'] === 'generated';
  const fault = await faultIn(values);
  if (fault) return check.fail('keys', fault.problem, fault.fix);
  if (!values.keyRing) return check.ok('keys', `not generated yet; the first start writes them to ${path}`);
  // Permissions of group and others; 0 on a system without them.
  if (own && (statSync(path).mode & 0o077) !== 0)
    return check.warn('keys', `others can read ${path}`, `chmod 600 ${path}`);
  return check.ok(
    'keys',
    own ? `in ${path}; keep a copy elsewhere` : `${values.keyRing.keyIds.length} from SECRET_KEYS`,
  );
}

/** Undefined also when the database cannot be read or is not migrated, which its own check reports. */
async function faultIn(values: LookedAt['values']): Promise<KeyRingFault | undefined> {
  const { platform } = databasesOf(values);
  const file = sqlitePath(platform.url);
  if (file !== undefined && !existsSync(file)) return undefined;
  return withDatabase(platform, values, async (database) => {
    if ((await migrationState(database, platform.migrations)).pending.length > 0) return undefined;
    return keyRingFault(database, values);
  }).catch(() => undefined); // reported by the check of the database
}
