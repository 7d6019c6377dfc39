import { setTimeout as sleep } from 'node:timers/promises';
import { identityFiles } from '../../../data-plane-agent/agent/identity-files.js';
import { isFailure } from '../../../data-plane-agent/base/failures.js';
import type { Lifecycle } from '../../../data-plane-agent/base/lifecycle.js';
import { bind } from '../../../data-plane-agent/plane/contract/data-plane.js';
import { OPERATIONS } from '../../../data-plane-agent/plane/operations/index.js';
import type { Composed } from '../../../server/compose.js';
import type { Config } from '../../../server/config.js';
import { systemCall } from '../../../server/data-planes/system-call.js';
import type { Cli } from '../../cli.js';
import { CommandError } from '../../errors.js';
import { cliActor } from '../../installation.js';
import { agentEnded, startAgent, type AgentProcess } from './agent-process.js';
import type { AgentSetup } from './setup.js';

interface Starting {
  readonly setup: AgentSetup;
  readonly tenantId: string;
  readonly config: Config;
  readonly lifecycle: Lifecycle;
}

/**
 * Joins the agent to the demo's organisation unless it has joined, starts it, and waits until it is connected.
 * `lifecycle` stops it. Throws why it ended before.
 */
export async function runDemoAgent(cli: Cli, composed: Composed, starting: Starting): Promise<AgentProcess> {
  const { setup, lifecycle } = starting;
  await joinDemoAgent(cli, composed, starting);
  if (lifecycle.state !== 'ready') throw new CommandError('STOPPED', 'the demo was stopped');
  const agent = startAgent(cli, ['run'], { setup });
  // After the service has completed its requests, which need the agent.
  lifecycle.onStop('agent', 'links', agent.stop);
  await Promise.race([
    untilConnected(cli, composed, starting),
    agent.ended.then((end) => {
      throw agentEnded(end);
    }),
  ]);
  return agent;
}

/** With a join token, as a customer does. The first time, and whenever its identity can no longer be used. */
async function joinDemoAgent(cli: Cli, { services }: Composed, { setup, tenantId, config }: Starting): Promise<void> {
  const { connections } = services.tenants;
  const identity = identityFiles(setup.config.dataDir).read('connection');
  const controlPlane = new URL(config.publicUrl).origin;
  const present = (await connections.list(tenantId)).find(({ kind }) => kind === 'agent');
  const isUsable = present?.status === 'connected' || present?.status === 'disconnected';
  if (identity && isUsable && identity.connectionId === present.id && identity.controlPlane === controlPlane) return;
  const { joinToken } = await connections.declare({ tenantId, fields: { kind: 'agent' } }, cliActor());
  const args = [identity ? 'rejoin' : 'join', '--control-plane', controlPlane, '--token-file', '-'];
  const end = await startAgent(cli, args, { setup, input: joinToken ?? '' }).ended;
  if (end.code !== 0) throw agentEnded(end);
}

const LOOK_MS = 50;

async function untilConnected(
  cli: Cli,
  { foundation }: Composed,
  { tenantId, lifecycle }: Pick<Starting, 'tenantId' | 'lifecycle'>,
): Promise<void> {
  const plane = foundation.dataPlanes.forTenant(tenantId);
  while (lifecycle.state === 'ready') {
    try {
      await bind(plane, systemCall({ tenantId, actor: cliActor(), at: cli.clock.now() }), {
        operations: OPERATIONS,
      }).listFields({});
      return;
    } catch (error) {
      if (!isFailure(error, 'DATA_PLANE_UNAVAILABLE') && !isFailure(error, 'DATA_PLANE_NOT_CONNECTED')) throw error;
      await sleep(LOOK_MS);
    }
  }
}
