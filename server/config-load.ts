import type { ConfigResult, Fault } from '../data-plane-agent/base/config.js';
import { isProduction, readServerConfig, type Config, type SETTINGS } from './config.js';
import { ownSecretKeys } from './secret-keys.js';

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly Fault[]; readonly result: ConfigResult<typeof SETTINGS> & { ok: true } }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly warnings: readonly Fault[] };

/** The configuration of a program that runs: outside production an installation without keys makes its own. */
export function loadServerConfig(env: NodeJS.ProcessEnv): LoadedConfig {
  const first = readServerConfig(env);
  const result = first.ok && !first.values.keyRing ? readServerConfig(env, { secretKeys: ownSecretKeys(first.values.dataDir) }) : first;
  if (!result.ok) return result;
  const { keyRing } = result.values;
  if (!keyRing) throw new Error('there are no secret keys, although they were required or made');
  return { ok: true, config: { ...result.values, keyRing, production: isProduction(env) }, warnings: result.warnings, result };
}
