import { CommandError } from '../../base/command-line/errors.js';
import { examples, JSON_OPTION } from '../../base/command-line/help.js';
import { ConfigurationError } from '../../base/config.js';
import { listenFaultOf } from '../../base/http/listen-fault.js';
import { memoryModeOf, saveMemoryWhenIdle } from '../../base/idle-memory.js';
import { createLifecycle } from '../../base/lifecycle.js';
import { createLog } from '../../base/log.js';
import type { AddAgentCommand, AgentCli } from '../agent-cli.js';
import type { AgentConfig } from '../config.js';
import { loadAgentConfig } from '../config-load.js';
import { proxyAgent } from '../control-plane.js';
import { IdentityFault } from '../identity-files.js';
import { connectOutbound } from '../link/outbound.js';
import { proxyFault } from '../link/proxy-support.js';

export const addRun: AddAgentCommand = (program, cli) => {
  program
    .command('run')
    .description('Runs the agent until it is stopped: migrates its database, connects and answers operations.')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nSIGTERM completes what runs, for at most 25 seconds, and exits with 0. SIGHUP reads the policy file again.',
    )
    .addHelpText('after', examples('duebook-agent run', 'DATA_DIR=/var/lib/duebook-agent duebook-agent run'))
    .action(() => runAgent(cli));
};

/** Resolves once the agent is ready; it ends with a signal. */
async function runAgent(cli: AgentCli): Promise<void> {
  const loaded = loadAgentConfig(cli.env());
  if (!loaded.ok) throw new ConfigurationError(loaded.faults);
  const { config, warnings } = loaded;
  const log = createLog({ level: config.logLevel, name: 'duebook-agent' });
  for (const { name, problem } of warnings) log.warn({ setting: name }, `${name} ${problem}`);
  const withoutProxy = config.httpsProxy === undefined ? undefined : proxyFault(cli.nodeVersion);
  if (withoutProxy !== undefined) log.warn({ setting: 'HTTPS_PROXY' }, withoutProxy);
  const lifecycle = createLifecycle({ log });
  lifecycle.listen(cli.process);
  try {
    // Loads the data plane, which other commands do not need.
    const { serveAgent } = await import('../serve.js');
    const agent = await serveAgent(config, {
      clock: cli.clock,
      log,
      lifecycle,
      residentBytes: cli.residentBytes,
      connect: connectOutbound,
      httpAgent: proxyAgent(config),
    });
    saveMemoryWhenIdle(memoryModeOf(cli.nodeVersion));
    cli.process.on('SIGHUP', () => agent.reloadPolicy());
    const { controlPlane, connectionId, tenantId, accessMode } = agent.identity;
    log.info(
      {
        host: config.host,
        port: agent.port,
        publicUrl: config.publicUrl,
        controlPlane,
        connectionId,
        tenantId,
        accessMode,
      },
      `listening on ${config.tlsCert === undefined ? 'http' : 'https'}://${config.host}:${agent.port}`,
    );
  } catch (error) {
    const explained = explanationOf(error, config);
    if (explained === undefined) log.fatal({ err: error }, 'cannot start');
    else log.fatal({ reason: explained }, 'cannot start');
    await lifecycle.stop('cannot start');
    throw error instanceof Error && explained !== undefined && explained !== error.message
      ? new CommandError('CANNOT_LISTEN', explained, { cause: error })
      : error;
  }
}

/** Of an error whose message says what to do, so that its stack does not help. */
function explanationOf(error: unknown, config: AgentConfig): string | undefined {
  const fault = listenFaultOf(error, config);
  if (fault) return `${fault.problem}; ${fault.fix}`;
  return error instanceof IdentityFault || error instanceof CommandError || error instanceof ConfigurationError
    ? error.message
    : undefined;
}
