import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer, type WebSocket } from 'ws';
import { identityFiles } from '../../data-plane-agent/agent/identity-files.js';
import { storeJoined } from '../../data-plane-agent/agent/identity.js';
import type { Joined } from '../../data-plane-agent/base/link/messages.js';
import { connectOutbound } from '../../data-plane-agent/agent/link/outbound.js';
import { LINK } from '../../data-plane-agent/base/link/limits.js';
import type { Timers } from '../../data-plane-agent/base/link/timers.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { ConnectionStore } from '../../server/store/connections.js';
import { LinkedConnectionStore } from '../../server/store/linked-connections.js';
import { TenantStore } from '../../server/store/tenants.js';
import { OPERATOR } from './accounts.js';
import { runAgent, type RunningAgent } from './agent.js';
import { LOCAL_CERTIFICATE, LOCAL_PRIVATE_KEY } from './certificate.js';
import { fakeClock } from './clock.js';
import { Tunnel, type TranscriptFacts } from './link-transcript.js';
import { migratedFile } from './migrated.js';
import { startServer, type TestServer } from './server.js';

/** Who plays in a transcript: the real programs, with the identities that it names and the clock at its instant. */
type Cast = Omit<TranscriptFacts, 'protocol' | 'version' | 'connectToken' | 'controlPlaneKeys'>;

/** A control plane of which the agent of a transcript is a joined one. */
export async function controlPlaneOf({
  at,
  controlPlane,
  connectionId,
  instanceId,
  tenant,
  agentKey,
}: Cast): Promise<TestServer> {
  const clock = fakeClock(at);
  const server = await startServer({ clock, env: { EDITION: 'enterprise_hybrid', PUBLIC_URL: controlPlane } });
  const { id: tenantId, slug } = tenant;
  const now = clock.now();
  const tokenHash = sha256Hex(connectionId);
  await server.foundation.platform.write({ tenantId: null }, async (tx) => {
    await new TenantStore(tx).insert({
      id: tenantId,
      slug,
      name: slug,
      planCode: 'enterprise',
      status: 'active',
      settings: {},
      createdAt: now,
      updatedAt: now,
    });
    await new ConnectionStore(tx, tenantId).insert(
      {
        id: connectionId,
        kind: 'agent',
        provider: null,
        location: null,
        accessMode: 'outbound',
        endpoint: null,
        status: 'pending',
        createdAt: now,
        updatedAt: now,
      },
      { hash: tokenHash, expiresAt: now + 60_000 },
    );
    const key = { kid: agentKey.kid, key: agentKey.publicJwk };
    await new LinkedConnectionStore(tx).join({ tokenHash, at: now, instanceId, key, version: '0', components: [] });
  });
  return server;
}

export interface StagedAgent extends RunningAgent {
  /** Stops the agent and removes its data. */
  end(): Promise<void>;
}

/** The agent of a transcript, whose connections go to the TLS server at `port`. */
export async function agentOf(
  cast: Cast & Pick<TranscriptFacts, 'controlPlaneKeys'>,
  { port, timers }: { readonly port: number; readonly timers?: Timers },
): Promise<StagedAgent> {
  const folder = await mkdtemp(join(tmpdir(), 'duebook-agent-'));
  await writeFile(join(folder, 'tenant.db'), await migratedFile('tenant'), { mode: 0o600 });
  const { at, controlPlane, connectionId, instanceId, tenant, agentKey, controlPlaneKeys } = cast;
  const keys = [...controlPlaneKeys];
  const joined: Joined = { connectionId, controlPlane, accessMode: 'outbound', tenant, keys };
  storeJoined(identityFiles(folder), { joined, instanceId, key: agentKey });
  const tunnel = new Tunnel(port);
  const running = await runAgent(
    { dataDir: folder, joined, controlPlane: agentKey, own: agentKey },
    {
      clock: fakeClock(at),
      connect: (parts) => connectOutbound({ ...parts, httpAgent: tunnel, random: () => 0, ...(timers && { timers }) }),
    },
  );
  return {
    ...running,
    end: async () => {
      await running.stop();
      tunnel.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What makes a control plane tell its agent news: changed settings of the organisation, and a new key. */
export async function changeWhatAgentsAreTold({ foundation }: TestServer, tenantId: string): Promise<void> {
  const { links, platform } = foundation;
  if (!links?.hub) throw new Error('the server has no links');
  await platform.write({ tenantId: null }, (tx) =>
    new TenantStore(tx).setSettings({ id: tenantId, settings: { reminderLeadDays: 14 }, at: 0 }),
  );
  await links.keys.rotate(OPERATOR);
  links.hub.tenantChanged(tenantId);
}

export interface Door {
  readonly port: number;
  close(): Promise<void>;
}

/** Accepts WebSockets of agents over TLS. `onOpen` is called in the turn in which one opens. */
export async function openDoor(onOpen: (ws: WebSocket, request: IncomingMessage) => void): Promise<Door> {
  const server = createTlsServer({ key: LOCAL_PRIVATE_KEY, cert: LOCAL_CERTIFICATE });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, maxPayload: LINK.maxPayload });
  sockets.on('connection', onOpen);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
