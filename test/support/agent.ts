import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentConfig } from '../../data-plane-agent/agent/config.js';
import { loadAgentConfig } from '../../data-plane-agent/agent/config-load.js';
import { identityFiles } from '../../data-plane-agent/agent/identity-files.js';
import { storeJoined } from '../../data-plane-agent/agent/identity.js';
import type { Connect } from '../../data-plane-agent/agent/link.js';
import { serveAgent, type ServingAgent } from '../../data-plane-agent/agent/serve.js';
import { systemClock, type Clock } from '../../data-plane-agent/base/clock.js';
import { reportFaults } from '../../data-plane-agent/base/config.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { createLifecycle } from '../../data-plane-agent/base/lifecycle.js';
import { signRequest, verifyReply, type RequestFacts } from '../../data-plane-agent/base/link/envelope.js';
import { newLinkKey, signerOf, verifierOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { LINK_PATHS, type Joined, type LinkedTenant } from '../../data-plane-agent/base/link/messages.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { bind, type BoundPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import type { Transport, WireReply, WireRequest } from '../../data-plane-agent/plane/contract/wire.js';
import { OPERATIONS, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { createRemoteDataPlane } from '../../data-plane-agent/plane/remote.js';
import { aCall } from './plane.js';

export const CONTROL_PLANE = 'https://duebook.test';

/** The keys of an agent that has joined, and of its control plane. */
export interface JoinedFolder {
  readonly dataDir: string;
  readonly joined: Joined;
  readonly controlPlane: LinkKeyPair;
  readonly own: LinkKeyPair;
}

export const linkedTenant = (id: string = newId()): LinkedTenant => ({
  id,
  slug: 'acme',
  timeZone: 'Asia/Shanghai',
  reminderLeadDays: 7,
  reminderEscalationDays: 7,
  reminderHour: 9,
  currencyCode: 'CNY',
  language: 'en',
  active: true,
});

/** Data directories of agents that have joined, removed after each test, or `after` all of them. */
export function joinedFolders(
  hook: Mocha.HookFunction = afterEach,
): (accessMode?: Joined['accessMode']) => Promise<JoinedFolder> {
  const folders: string[] = [];
  hook(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  return async (accessMode = 'direct') => {
    const folder = await mkdtemp(join(tmpdir(), 'duebook-agent-'));
    folders.push(folder);
    const dataDir = join(folder, 'data');
    const [controlPlane, own] = [await newLinkKey(), await newLinkKey()];
    const joined: Joined = {
      connectionId: newId(),
      controlPlane: CONTROL_PLANE,
      accessMode,
      tenant: linkedTenant(),
      keys: [controlPlane.publicJwk],
    };
    storeJoined(identityFiles(dataDir), { joined, instanceId: newId(), key: own });
    return { dataDir, joined, controlPlane, own };
  };
}

/** The configuration of an agent in a folder. */
export function agentConfig(dataDir: string, env: Readonly<Record<string, string>> = {}): AgentConfig {
  const loaded = loadAgentConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'info', ...env });
  if (!loaded.ok) throw new Error(reportFaults(loaded.faults));
  return loaded.config;
}

/** An agent in this process. */
export interface RunningAgent extends JoinedFolder {
  readonly agent: ServingAgent;
  readonly origin: string;
  readonly logged: readonly Record<string, unknown>[];
  stop(): Promise<0 | 1>;
}

/** An agent without a link: what it is asked for goes to `answer`, or to its routes. */
export const UNLINKED: Connect = () => ({
  state: 'disconnected',
  sessions: 0,
  notice: () => undefined,
  stop: () => Promise.resolve(),
});

export async function runAgent(
  folder: JoinedFolder,
  {
    env = {},
    clock = systemClock,
    connect = UNLINKED,
  }: { readonly env?: Readonly<Record<string, string>>; readonly clock?: Clock; readonly connect?: Connect } = {},
): Promise<RunningAgent> {
  const logged: Record<string, unknown>[] = [];
  const log = createLog({
    level: 'info',
    name: 'agent',
    destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const lifecycle = createLifecycle({ log });
  try {
    const agent = await serveAgent(agentConfig(folder.dataDir, env), {
      clock,
      log,
      lifecycle,
      residentBytes: () => 0,
      connect,
    });
    return {
      ...folder,
      agent,
      logged,
      origin: `http://127.0.0.1:${agent.port}`,
      stop: () => lifecycle.stop('the test ends'),
    };
  } catch (error) {
    await lifecycle.stop('cannot start');
    throw error;
  }
}

/** What a control plane knows of an agent that it calls. */
export const factsOf = ({ joined }: Pick<JoinedFolder, 'joined'>, session: string): RequestFacts => ({
  controlPlane: joined.controlPlane,
  connectionId: joined.connectionId,
  tenantId: joined.tenant.id,
  session,
});

export interface Posted {
  readonly status: number;
  /** The reply, verified; undefined if the request was refused. */
  readonly reply: WireReply | undefined;
  readonly refused: string | undefined;
}

/** The side of the control plane that calls an agent directly. */
export async function post(
  { joined, controlPlane, own }: JoinedFolder,
  { origin, session }: { readonly origin: string; readonly session: string },
  request: WireRequest,
  {
    clock = systemClock,
    token: givenToken,
    body: givenBody,
    signal,
  }: {
    readonly clock?: Clock;
    readonly token?: string | undefined;
    readonly body?: Uint8Array | undefined;
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<Posted> {
  const facts = factsOf({ joined }, session);
  const body = givenBody ?? Buffer.from(JSON.stringify(request));
  const jti = newId();
  const token =
    givenToken ??
    signRequest(facts, {
      operation: request.name,
      subject: request.call.actor.id ?? 'system',
      body,
      jti,
      signer: signerOf(controlPlane),
      clock,
    }).token;
  const answer = await fetch(`${origin}${LINK_PATHS.operations}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: new Uint8Array(body),
    ...(signal === undefined ? {} : { signal }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const value = JSON.parse(bytes.toString('utf8')) as WireReply & { refused?: string };
  if (answer.status !== 200) return { status: answer.status, reply: undefined, refused: value.refused };
  const reply = answer.headers.get('duebook-reply') ?? '';
  const ownKey = verifierOf(own.publicJwk);
  await verifyReply({ token: reply, body: bytes, jti }, facts, {
    keyOf: (kid) => (kid === own.kid ? ownKey : undefined),
    clock,
  });
  return { status: 200, reply: value, refused: undefined };
}

/** The operations of an agent that is called directly, as a control plane has them. */
export function planeOf(
  running: RunningAgent,
  changes: Partial<Call> = {},
): { readonly call: Call; readonly plane: BoundPlane<Operations> } {
  const call: Call = { ...aCall(), tenantId: running.joined.tenant.id, ...changes };
  const transport: Transport = async (request, { signal }) => {
    const { reply, refused } = await post(running, { origin: running.origin, session: running.agent.bootId }, request, {
      signal,
    });
    if (!reply) throw new Error(`the agent refused the request: ${refused ?? ''}`);
    return reply;
  };
  const remote = createRemoteDataPlane({ operations: OPERATIONS, transport });
  return { call, plane: bind(remote, call, { operations: OPERATIONS }) };
}
