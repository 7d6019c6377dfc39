import { statSync } from 'node:fs';
import { otherKeys } from '../../server/key-ring-check.js';
import { ownSecretKeysPath } from '../../data-plane-agent/host/secret-keys.js';
import type { LookedAt } from '../installation.js';
import { check, reasonOf, type Check } from './check.js';

/** The secret keys exist, only their owner can read them, and they open the secrets in the platform database. */
export async function keysCheck({ values, sources }: LookedAt): Promise<Check> {
  const path = ownSecretKeysPath(values.dataDir);
  const own = sources['SECRET_KEYS'] === 'generated';
  const fault = await otherKeys(values).catch((error: unknown) => ({ unread: reasonOf(error) }));
  if (fault && 'unread' in fault)
    return check.warn(
      'keys',
      `whether the keys open the secrets in the platform database was not examined (${fault.unread})`,
      'make the platform database readable first',
    );
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
