import type { Database } from '../data-plane-agent/base/database/database.js';
import { ConfigurationError } from '../data-plane-agent/base/config.js';
import type { KeyRing } from '../data-plane-agent/base/secrets.js';
import { opensActiveKey } from './auth/keys.js';
import type { Config } from './config.js';
import { ownSecretKeysPath } from './secret-keys.js';

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

/** Throws ConfigurationError, so that nothing is sealed with keys that do not open the stored secrets. */
export async function refuseOtherKeys(
  platform: Pick<Database, 'read'>,
  config: Pick<Config, 'keyRing' | 'dataDir'>,
): Promise<void> {
  const fault = await keyRingFault(platform, config);
  if (fault)
    throw new ConfigurationError([{ name: 'SECRET_KEYS', problem: `cannot be used: ${fault.problem}; ${fault.fix}` }]);
}
