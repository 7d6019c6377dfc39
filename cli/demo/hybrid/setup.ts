import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { loadAgentConfig } from '../../../data-plane-agent/agent/config-load.js';
import type { AgentConfig } from '../../../data-plane-agent/agent/config.js';
import { ConfigurationError } from '../../../data-plane-agent/base/config.js';
import { listenFaultOf } from '../../../data-plane-agent/base/http/listen-fault.js';
import { sqlitePath } from '../../../data-plane-agent/base/database/open.js';
import type { Config } from '../../../server/config.js';
import { embedded } from '../../../server/data-planes/for-tenant.js';
import type { Host } from '../../../server/foundation.js';
import type { Cli } from '../../cli.js';
import { CommandError } from '../../errors.js';
import type * as ServerParts from '../../server-parts.js';

/** The agent of the demo, in a directory of its own. */
export interface AgentSetup {
  readonly config: AgentConfig;
  /** The variables of its process. */
  readonly env: NodeJS.ProcessEnv;
}

/** The ordinary demo stores contracts in its own directory, so that both can be used in one folder. */
const HYBRID_DATA_DIR = './data/hybrid';

/** The environment of a control plane whose contract data is stored by agents. */
export function hybridCli(cli: Cli): Cli {
  return {
    ...cli,
    env: () => {
      const env = { ...cli.env(), EDITION: 'enterprise_hybrid' };
      return isSet(env, 'DATA_DIR') ? env : { ...env, DATA_DIR: HYBRID_DATA_DIR };
    },
  };
}

const isSet = (env: NodeJS.ProcessEnv, name: string): boolean =>
  (env[name] ?? '') !== '' || (env[`${name}_FILE`] ?? '') !== '';

/** Not passed to the agent: it has keys and an address of its own. */
const OF_THE_CONTROL_PLANE = ['SECRET_KEYS', 'DATA_DIR', 'PORT', 'PUBLIC_URL', 'EDITION', 'HTTPS_PROXY', 'NO_PROXY'];

/** Throws ConfigurationError. */
export function agentSetup(
  cli: Cli,
  { dataDir, port }: { readonly dataDir: string; readonly port: number },
): AgentSetup {
  const given = cli.env();
  const own = Object.entries(given).filter(
    ([name]) => !OF_THE_CONTROL_PLANE.includes(name.replace(/_FILE$/, '').toUpperCase()),
  );
  const env = {
    ...Object.fromEntries(own),
    // As for the service: the access log would hide what is printed.
    ...(isSet(given, 'LOG_LEVEL') ? {} : { LOG_LEVEL: 'warn' }),
    DATA_DIR: agentDirectory(dataDir),
    PORT: String(port),
    PUBLIC_URL: `http://localhost:${port}`,
  };
  const loaded = loadAgentConfig(env);
  if (!loaded.ok) throw new ConfigurationError(loaded.faults);
  return { config: loaded.config, env };
}

const agentDirectory = (dataDir: string): string => join(dataDir, 'agent');

/** Throws DEMO_OF_OTHER_KIND if the demo in this directory stores its contracts elsewhere than this one would. */
export function refuseOtherKind(
  { dataDir, platformDatabaseUrl }: Pick<Config, 'dataDir' | 'platformDatabaseUrl'>,
  { hybrid }: { readonly hybrid: boolean },
): void {
  const platform = sqlitePath(platformDatabaseUrl);
  if (platform === undefined || !existsSync(platform)) return;
  if (existsSync(agentDirectory(dataDir)) === hybrid) return;
  throw new CommandError(
    'DEMO_OF_OTHER_KIND',
    hybrid
      ? `the demo in ${dataDir} stores its contracts without an agent: use another DATA_DIR, or leave out --hybrid`
      : `the contracts of the demo in ${dataDir} are stored by an agent: use another DATA_DIR, or add --hybrid`,
  );
}

/**
 * Enters contracts into the database and the files of the agent, before the agent runs. Over the link the demo could not
 * date its records of past days: the time of a record is that of the process that stores it.
 */
export const enteringConfig = (config: Config, { config: agent }: AgentSetup): Config => ({
  ...config,
  edition: 'self_hosted',
  tenantDatabaseUrl: agent.tenantDatabaseUrl,
  objectStoreUrl: agent.objectStoreUrl,
});

/** With the keys of the agent. */
export const hostOfAgent =
  ({ config: agent }: AgentSetup, { openPlane }: Pick<typeof ServerParts, 'openPlane'>): Host =>
  async (_settings, parts) => {
    const hosted = await openPlane(agent, parts);
    return { hosted, dataPlanes: embedded(hosted.plane) };
  };

/** Agents know the control plane by its URL. Throws PORT_REQUIRED. */
export function refuseFreePort({ port }: Pick<Config, 'port'>): void {
  if (port === 0)
    throw new CommandError('PORT_REQUIRED', 'the agent must know the port of the service: set PORT to one, not 0');
}

/** Throws EADDRINUSE or the like before anything is created. */
export async function refuseUnusablePort({ config: { host, port } }: AgentSetup): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  } catch (error) {
    const fault = listenFaultOf(error, { host, port });
    throw fault
      ? new CommandError(fault.code, `${fault.problem}; choose another port for the agent with --agent-port`, {
          cause: error,
        })
      : error;
  }
  await new Promise((resolve) => server.close(resolve));
}
