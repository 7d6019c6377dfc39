import type { ConfigResult, Fault } from '../data-plane-agent/base/config.js';
import { isProduction, readServerConfig, type Config, type SETTINGS } from './config.js';
import { ownSecretKeys } from './secret-keys.js';

export type LoadedConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly warnings: readonly Fault[];
      readonly result: ConfigResult<typeof SETTINGS> & { ok: true };
    }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly warnings: readonly Fault[] };

/** The configuration of a running program: outside production, missing secret keys are generated. */
export function loadServerConfig(env: NodeJS.ProcessEnv): LoadedConfig {
  const first = readServerConfig(env);
  const own = first.ok && !first.values.keyRing ? keysIn(first.values.dataDir) : undefined;
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
 * Returns the installation's generated keys, or the problem with the data folder, which is a wrong setting and not an
 * internal error.
 */
function keysIn(dataDir: string): string | Fault {
  try {
    return ownSecretKeys(dataDir);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      return { name: 'DATA_DIR', problem: `must be a folder that can be read and written (${error.message})` };
    throw error;
  }
}
