import { existsSync } from 'node:fs';
import type { Database } from '../data-plane-agent/base/database/database.js';
import { migrationState } from '../data-plane-agent/base/database/migrator.js';
import { openDatabase, sqlitePath } from '../data-plane-agent/base/database/open.js';
import { ConfigurationError, type Fault } from '../data-plane-agent/base/config.js';
import type { KeyRing } from '../data-plane-agent/base/secrets.js';
import { opensActiveKey } from './auth/keys.js';
import type { Config } from './config.js';
import { databasesOf } from './databases.js';
import { ownSecretKeysPath } from '../data-plane-agent/host/secret-keys.js';

/** Why the secret keys do not fit the platform database, and what to do. */
export interface KeyRingFault {
  readonly problem: string;
  readonly fix: string;
}

/**
 * Checks whether the secret keys open what is sealed in the platform database, which must be migrated. Returns
 * undefined if they do, or if nothing is sealed yet. `keyRing` is undefined if no keys exist. Changes nothing.
 */
export async function keyRingFault(
  platform: Pick<Database, 'read'>,
  { keyRing, dataDir }: { readonly keyRing: KeyRing | undefined; readonly dataDir: string },
): Promise<KeyRingFault | undefined> {
  if ((await opensActiveKey(platform, keyRing)) !== false) return undefined;
  return {
    problem: keyRing
      ? 'the secret keys do not open the secrets in the platform database'
      : 'there are no secret keys, but the platform database has sealed secrets',
    fix: `restore the keys that it was sealed with: SECRET_KEYS, or the file ${ownSecretKeysPath(dataDir)}`,
  };
}

/**
 * As `keyRingFault`, for the platform database of the settings, which may be missing or need migrations. Changes
 * nothing. Throws if the database cannot be read.
 */
export async function otherKeys(
  settings: Pick<Config, 'edition' | 'platformDatabaseUrl' | 'tenantDatabaseUrl' | 'dataDir'> & {
    readonly keyRing: KeyRing | undefined;
  },
): Promise<KeyRingFault | undefined> {
  const { platform } = databasesOf(settings);
  const file = sqlitePath(platform.url);
  if (file !== undefined && !existsSync(file)) return undefined;
  const database = await openDatabase(platform.url, { poolMax: 1 });
  try {
    const { applied } = await migrationState(database, platform.migrations);
    return applied.length === 0 ? undefined : await keyRingFault(database, settings);
  } finally {
    await database.close();
  }
}

/** The fault of the setting, for a start or a command. */
export const keysFault = ({ problem, fix }: KeyRingFault): Fault => ({
  name: 'SECRET_KEYS',
  problem: `cannot be used: ${problem}; ${fix}`,
});

/** Throws ConfigurationError, so that nothing is sealed with keys that do not open the stored secrets. */
export async function refuseOtherKeys(
  platform: Pick<Database, 'read'>,
  config: Pick<Config, 'keyRing' | 'dataDir'>,
): Promise<void> {
  const fault = await keyRingFault(platform, config);
  if (fault) throw new ConfigurationError([keysFault(fault)]);
}
