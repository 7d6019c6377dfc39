import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadAgentConfig } from '../../data-plane-agent/agent/config-load.js';
import { identityFiles } from '../../data-plane-agent/agent/identity-files.js';
import { storeJoined } from '../../data-plane-agent/agent/identity.js';
import { connectOutbound } from '../../data-plane-agent/agent/link/outbound.js';
import { serveAgent, type ServingAgent } from '../../data-plane-agent/agent/serve.js';
import { systemClock, type Clock } from '../../data-plane-agent/base/clock.js';
import { reportFaults } from '../../data-plane-agent/base/config.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { createLifecycle } from '../../data-plane-agent/base/lifecycle.js';
import { newLinkKey, signerOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import { LINK_PATHS, type Challenge, type Joined } from '../../data-plane-agent/base/link/messages.js';
import { signJoin } from '../../data-plane-agent/base/link/proofs.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { OPERATOR } from './accounts.js';
import { migratedFile } from './migrated.js';
import { freePort } from './guardian.js';
import { createDatabase } from './postgres.js';
import type { DatabaseKind, TestServer } from './server.js';

export interface TestAgent {
  readonly serving: ServingAgent;
  readonly dataDir: string;
  readonly port: number;
  readonly logged: readonly Record<string, unknown>[];
  /** Stops the process; its data stays. */
  halt(): Promise<void>;
  /** Starts it again on the same data, after `halt`. */
  start(): Promise<void>;
  /** Stops the process and removes its data. */
  stop(): Promise<void>;
}

export interface AgentOptions {
  readonly accessMode?: 'outbound' | 'direct';
  /** Where the service calls an agent that is called directly; by default at its port. */
  readonly endpoint?: string;
  readonly database?: DatabaseKind;
  readonly clock?: Clock;
  readonly env?: Readonly<Record<string, string>>;
}

type Behind = Pick<TestServer, 'url' | 'services' | 'config'>;

/** An agent in this process that has joined for the tenant; for `outbound` it is connected when this resolves. */
export async function startAgent(
  server: Behind,
  tenantId: string,
  { accessMode = 'outbound', endpoint, database = 'sqlite', clock = systemClock, env = {} }: AgentOptions = {},
): Promise<TestAgent> {
  const dataDir = await mkdtemp(join(tmpdir(), 'duebook-agent-'));
  const undo: (() => Promise<void>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  const port = await freePort();
  await writeFile(join(dataDir, 'tenant.db'), await migratedFile('tenant'), { mode: 0o600 });
  const made = database === 'postgres' ? await createDatabase({ migrated: 'tenant' }) : undefined;
  if (made) undo.push(made.drop);
  const logged: Record<string, unknown>[] = [];
  const log = createLog({
    level: 'info',
    name: 'agent',
    destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  });
  let running: { serving: ServingAgent; halt(): Promise<void> } | undefined;

  const start = async (): Promise<void> => {
    const loaded = loadAgentConfig({
      DATA_DIR: dataDir,
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      ...(made ? { TENANT_DATABASE_URL: made.url } : {}),
      ...env,
    });
    if (!loaded.ok) throw new Error(reportFaults(loaded.faults));
    const lifecycle = createLifecycle({ log });
    const serving = await serveAgent(loaded.config, {
      clock,
      log,
      lifecycle,
      residentBytes: () => process.memoryUsage.rss(),
      // The shortest delays before new connections.
      connect: (linked) => connectOutbound({ ...linked, random: () => 0 }),
    });
    running = { serving, halt: async () => void (await lifecycle.stop('test')) };
    if (accessMode === 'outbound') await connected(server, tenantId);
  };
  const halt = async (): Promise<void> => {
    await running?.halt();
    running = undefined;
  };

  const key = await newLinkKey();
  const instanceId = newId();
  const joined = await joinWith({
    server,
    tenantId,
    key,
    instanceId,
    clock,
    accessMode,
    ...(accessMode === 'direct' ? { endpoint: endpoint ?? `http://127.0.0.1:${port}` } : {}),
  });
  storeJoined(identityFiles(dataDir), { joined, instanceId, key });
  await start();
  return {
    get serving() {
      if (!running) throw new Error('the agent does not run');
      return running.serving;
    },
    dataDir,
    port,
    logged,
    halt,
    start,
    stop: async () => {
      await halt();
      for (const step of undo.toReversed()) await step();
    },
  };
}

interface JoiningAgent {
  readonly server: Behind;
  readonly tenantId: string;
  readonly key: LinkKeyPair;
  readonly instanceId: string;
  readonly clock: Clock;
  readonly accessMode: 'outbound' | 'direct';
  readonly endpoint?: string;
}

/** Declares the connection and joins, as `duebook-agent join` does. */
export async function joinWith(joining: JoiningAgent): Promise<Joined> {
  const { server, tenantId, key, instanceId, clock, accessMode, endpoint } = joining;
  const { joinToken } = await server.services.tenants.connections.declare(
    { tenantId, fields: { kind: 'agent', accessMode, endpoint } },
    OPERATOR,
  );
  if (joinToken === null) throw new Error('the edition has no agents');
  const post = async <T>(path: string, body: object): Promise<T> => {
    const answer = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const { nonce, controlPlane } = await post<Challenge>(LINK_PATHS.challenge, { tokenHash: sha256Hex(joinToken) });
  const proof = signJoin({ controlPlane, instanceId, joinToken, nonce }, { signer: signerOf(key), clock });
  return post<Joined>(LINK_PATHS.join, {
    joinToken,
    key: key.publicJwk,
    proof,
    instanceId,
    version: '0.1.0',
    protocols: PROTOCOLS,
    components: [],
  });
}

/** Resolves once the service shows the tenant's agent as connected. */
export async function connected({ services }: Pick<TestServer, 'services'>, tenantId: string): Promise<void> {
  await until(async () => {
    const all = await services.tenants.connections.list(tenantId);
    return all.some(({ kind, status }) => kind === 'agent' && status === 'connected');
  }, 'the agent is connected');
}

/** Looks until it is so. */
export async function until(
  isSo: () => Promise<boolean>,
  what: string,
  { ms = 10_000 }: { readonly ms?: number } = {},
): Promise<void> {
  for (const giveUpAt = performance.now() + ms; ; await sleep(10)) {
    if (await isSo()) return;
    if (performance.now() > giveUpAt) throw new Error(`after ${ms} ms it is still not so that ${what}`);
  }
}
