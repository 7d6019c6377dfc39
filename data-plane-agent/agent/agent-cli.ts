import type { Command } from 'commander';
import type { CommandEnvironment } from '../base/command-line/process.js';
import { ConfigurationError, type ConfigResult } from '../base/config.js';
import type { AGENT_SETTINGS, AgentConfig } from './config.js';
import { loadAgentConfig, lookAtAgentConfig } from './config-load.js';

/** The environment that the commands of the agent run in. */
export interface AgentCli extends CommandEnvironment {
  readonly residentBytes: () => number;
}

/** Adds a command to the program. An error that its action throws sets the exit code. */
export type AddAgentCommand = (program: Command, cli: AgentCli) => void;

/** The configuration that the agent runs with. Prints warnings unless `quiet`. Throws ConfigurationError. */
export function agentConfiguration({ env, io }: AgentCli, { quiet }: { readonly quiet: boolean }): AgentConfig {
  const loaded = loadAgentConfig(env());
  if (!loaded.ok) throw new ConfigurationError(loaded.faults);
  if (!quiet) for (const { name, problem } of loaded.warnings) io.message(`Warning: ${name} ${problem}`);
  return loaded.config;
}

export type LookedAtAgent = ConfigResult<typeof AGENT_SETTINGS> & { readonly ok: true };

/** The configuration for a command that creates nothing. Throws ConfigurationError. */
export function lookAtAgentConfiguration({ env }: AgentCli): LookedAtAgent {
  const result = lookAtAgentConfig(env());
  if (!result.ok) throw new ConfigurationError(result.faults);
  return result;
}
