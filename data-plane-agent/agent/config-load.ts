import type { ConfigResult, Fault } from '../base/config.js';
import { generatedSecretKeys, inFolder, ownSecretKeys } from '../host/secret-keys.js';
import { isProduction, readAgentConfig, type AGENT_SETTINGS, type AgentConfig } from './config.js';

export type AgentResult = ConfigResult<typeof AGENT_SETTINGS> & { readonly ok: true };

export type LoadedAgentConfig =
  | {
      readonly ok: true;
      readonly config: AgentConfig;
      readonly warnings: readonly Fault[];
    }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly warnings: readonly Fault[] };

/** The configuration of a running agent: outside production, missing secret keys are generated. */
export function loadAgentConfig(env: NodeJS.ProcessEnv): LoadedAgentConfig {
  const first = readAgentConfig(env);
  if (!first.ok || first.values.keyRing) return loaded(first, env);
  const { dataDir } = first.values;
  const keys = inFolder(dataDir, () => ownSecretKeys(dataDir) ?? generatedSecretKeys(dataDir));
  if (typeof keys === 'object') return { ok: false, faults: [keys], warnings: first.warnings };
  return loaded(readAgentConfig(env, { secretKeys: keys }), env);
}

/** The configuration for a command that only reads: creates nothing. Keys that do not exist yet are undefined. */
export function lookAtAgentConfig(env: NodeJS.ProcessEnv): ConfigResult<typeof AGENT_SETTINGS> {
  const first = readAgentConfig(env);
  if (!first.ok || first.values.keyRing) return first;
  const { dataDir } = first.values;
  const keys = inFolder(dataDir, () => ownSecretKeys(dataDir));
  if (typeof keys === 'object') return { ok: false, faults: [keys], warnings: first.warnings };
  return keys === undefined ? first : readAgentConfig(env, { secretKeys: keys });
}

function loaded(result: ConfigResult<typeof AGENT_SETTINGS>, env: NodeJS.ProcessEnv): LoadedAgentConfig {
  if (!result.ok) return result;
  const { keyRing } = result.values;
  if (!keyRing) throw new Error('there are no secret keys, although they were required or made');
  return {
    ok: true,
    config: { ...result.values, keyRing, production: isProduction(env) },
    warnings: result.warnings,
  };
}
