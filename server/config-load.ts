import type { ConfigResult, Fault, Values } from '../data-plane-agent/base/config.js';
import { isProduction, readServerConfig, type Config, type SETTINGS } from './config.js';
import { refuseUnusableDatabases } from './database-check.js';
import { databasesOf } from './databases.js';
import { keysFault, otherKeys } from './key-ring-check.js';
import { generatedSecretKeys, inFolder, ownSecretKeys } from '../data-plane-agent/host/secret-keys.js';

export type LoadedConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly warnings: readonly Fault[];
      readonly result: ConfigResult<typeof SETTINGS> & { ok: true };
    }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly warnings: readonly Fault[] };

/**
 * The configuration of a running program: outside production, missing secret keys are generated, unless the platform
 * database is sealed with others. Throws DatabaseUnreachable if that cannot be checked.
 */
export async function loadServerConfig(env: NodeJS.ProcessEnv): Promise<LoadedConfig> {
  const first = readServerConfig(env);
  const own = first.ok && !first.values.keyRing ? await keysFor(first.values) : undefined;
  if (typeof own === 'object') return { ok: false, faults: [own], warnings: first.warnings };
  const result = own === undefined ? first : readServerConfig(env, { secretKeys: own });
  if (!result.ok) return result;
  const { keyRing } = result.values;
  if (!keyRing) throw new Error('there are no secret keys, although they were required or made');
  return {
    ok: true,
    config: { ...result.values, keyRing, production: isProduction(env) },
    warnings: result.warnings,
    result,
  };
}

/**
 * Returns the installation's generated keys, or why they cannot be generated: the platform database is sealed with keys
 * that were lost, or the data folder cannot be used.
 */
async function keysFor(values: Values<typeof SETTINGS>): Promise<string | Fault> {
  const { dataDir } = values;
  const present = inFolder(dataDir, () => ownSecretKeys(dataDir));
  if (present !== undefined) return present;
  await refuseUnusableDatabases(Object.values(databasesOf(values)));
  const fault = await otherKeys(values);
  if (!fault) return inFolder(dataDir, () => generatedSecretKeys(dataDir));
  // Another process may have generated the keys since, and sealed the database with them.
  return inFolder(dataDir, () => ownSecretKeys(dataDir)) ?? keysFault(fault);
}
