import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyObject } from 'node:crypto';
import type { AgentLink } from '../../data-plane-agent/agent/link.js';
import type { LinkIdentity } from '../../data-plane-agent/agent/link/identity.js';
import { connectOutbound } from '../../data-plane-agent/agent/link/outbound.js';
import { createAnswering } from '../../data-plane-agent/agent/operations.js';
import { directRoutes } from '../../data-plane-agent/agent/direct.js';
import type { HttpMiddleware } from '../../data-plane-agent/base/http/exchange.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { keyIdOf, newLinkKey, signerOf, verifierOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import type { AgentReport, Hello } from '../../data-plane-agent/base/link/messages.js';
import { createOutbound } from '../../data-plane-agent/base/outbound.js';
import { LOOPBACK_RANGES } from '../../data-plane-agent/base/outbound-addresses.js';
import { isFailure } from '../../data-plane-agent/base/failures.js';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { HostedPlane, HostParts } from '../../data-plane-agent/host/open-plane.js';
import type { DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { operationsHash } from '../../data-plane-agent/plane/operations/hash.js';
import type { Operations } from '../../data-plane-agent/plane/operations/index.js';
import { createLinks, type Links } from '../../server/data-planes/link/links.js';
import type { Host } from '../../server/foundation.js';
import { ConnectionStore } from '../../server/store/connections.js';
import { LinkSessionStore } from '../../server/store/link-sessions.js';
import { LinkedConnectionStore } from '../../server/store/linked-connections.js';
import { TenantStore } from '../../server/store/tenants.js';
import { hostAlone } from './host-alone.js';
import { createDatabase } from './postgres.js';

/** How `remote` servers reach their agents: `outbound` by default. */
const ACCESS = process.env['TEST_LINK'] === 'direct' ? 'direct' : 'outbound';
const ON_POSTGRES = process.env['TEST_AGENT_DATABASE'] === 'postgres';

/**
 * A data plane behind agents: one that also serves its files, and for each organisation an agent that joins when it is
 * first called. The agents verify and sign as the real one does; without its files, policy and log of operations, a
 * thousand of them cost little.
 */
export function hostedByAgents({
  undo,
  objects,
  onAnswered,
}: {
  readonly undo: (() => Promise<void>)[];
  readonly objects: HostParts['objects'];
  readonly onAnswered: ((operation: string) => void) | undefined;
}): Host {
  return async (settings, { platform, port, ...parts }) => {
    // A test that names a database has its reasons.
    const isOnPostgres = ON_POSTGRES && settings.tenantDatabaseUrl.startsWith('sqlite');
    const made = isOnPostgres ? await createDatabase({ migrated: 'tenant' }) : undefined;
    if (made) undo.push(made.drop);
    const direct = new Map<string, HttpMiddleware>();
    const {
      hosted,
      port: agentPort,
      stop,
    } = await hostAlone(made ? { ...settings, tenantDatabaseUrl: made.url } : settings, {
      ...parts,
      objects,
      routes: [directCalls(direct)],
    });
    const { clock, log } = parts;
    // The agents connect to the address at which this process listens.
    const publicUrl = `http://127.0.0.1:${port ?? 0}`;
    const links = createLinks(
      { ...settings, publicUrl },
      {
        database: platform,
        clock,
        log,
        port,
        outbound: createOutbound({ allowPrivate: LOOPBACK_RANGES, production: false, keepAlive: true }),
      },
    );
    const running: AgentLink[] = [];
    undo.push(async () => {
      await Promise.all(running.map((link) => link.stop()));
      await stop();
    });

    const begin = async (tenantId: string): Promise<void> => {
      const endpoint = `http://127.0.0.1:${agentPort}/agents/${tenantId}`;
      const joined = await joinHere({ platform, tenantId, clock, endpoint });
      if (!joined) return;
      const identity = await identityOf(joined, { controlPlane: publicUrl, keys: links.keys });
      const answer = createAnswering({
        identity,
        plane: hosted.plane,
        policy: () => ({ refuses: () => false, summary: 'none' }),
        operationLog: { add: () => undefined, isFull: false },
        clock,
        log,
        onAnswered: (operation, outcome) => {
          if (outcome === 'ok') onAnswered?.(operation);
        },
      });
      const bootId = newId();
      const report = (): AgentReport => reportOf(hosted);
      const hello = async (): Promise<Hello> => ({
        instanceId: identity.instanceId,
        bootId,
        sequence: await identity.nextSequence(),
        version: 'test',
        protocols: PROTOCOLS,
        operations: operationsHash(),
        schema: 'test',
        report: report(),
      });
      const news = { welcome: () => Promise.resolve(), notice: () => undefined };
      if (ACCESS === 'direct') {
        direct.set(
          tenantId,
          directRoutes({ identity, answer, hello, news, bootId, clock, onRefused: () => undefined }),
        );
        return;
      }
      running.push(
        connectOutbound({
          identity,
          hello,
          answer: (message, { signal, sid }) => answer(message, { signal, session: sid }),
          onWelcome: news.welcome,
          onNotice: news.notice,
          report,
          log,
          clock,
        }),
      );
      const place = { tenantId: null };
      while ((await platform.read(place, (tx) => new LinkSessionStore(tx).alive(tenantId, clock.now()))).length === 0)
        await sleep(2);
    };

    const begun = new Map<string, Promise<void>>();
    const beginOnce = (tenantId: string): Promise<void> => {
      const beginning = begun.get(tenantId) ?? begin(tenantId);
      begun.set(tenantId, beginning);
      return beginning;
    };
    const forTenant = (tenantId: string): DataPlane<Operations> => {
      const plane = links.dataPlanes.forTenant(tenantId);
      return {
        invoke: async (...asked) => {
          await beginOnce(tenantId);
          return plane.invoke(...asked).catch(async (error: unknown) => {
            // A test that declares connections replaces ours, as the edition has no agents.
            if (!isFailure(error, 'DATA_PLANE_NOT_CONNECTED')) throw error;
            begun.delete(tenantId);
            await beginOnce(tenantId);
            return plane.invoke(...asked);
          });
        },
      };
    };
    return { hosted, links, dataPlanes: { forTenant } };
  };
}

export interface JoinedHere {
  readonly connectionId: string;
  readonly tenantId: string;
  readonly instanceId: string;
  readonly key: LinkKeyPair;
}

/** Undefined for an organisation that does not exist. */
async function joinHere({
  platform,
  tenantId,
  clock,
  endpoint,
}: {
  readonly platform: Database;
  readonly tenantId: string;
  readonly clock: Clock;
  readonly endpoint: string;
}): Promise<JoinedHere | undefined> {
  const key = await newLinkKey();
  const instanceId = newId();
  const connectionId = newId();
  const tokenHash = sha256Hex(connectionId);
  const isJoined = await platform.write({ tenantId: null }, async (tx) => {
    if (!(await new TenantStore(tx).byId(tenantId))) return false;
    const at = clock.now();
    const declared = {
      kind: 'agent',
      provider: null,
      location: null,
      status: 'pending',
      createdAt: at,
      updatedAt: at,
    } as const;
    const connections = new ConnectionStore(tx, tenantId);
    await connections.delete('agent');
    await connections.insert(
      { ...declared, id: connectionId, accessMode: ACCESS, endpoint },
      { hash: tokenHash, expiresAt: at + 60_000 },
    );
    const joining = { tokenHash, at, instanceId, version: 'test', components: [] };
    return new LinkedConnectionStore(tx).join({ ...joining, key: { kid: key.kid, key: key.publicJwk } });
  });
  return isJoined ? { connectionId, tenantId, instanceId, key } : undefined;
}

/** An identity in memory. */
export async function identityOf(
  { key, ...joined }: JoinedHere,
  { controlPlane, keys }: { readonly controlPlane: string; readonly keys: Pick<Links['keys'], 'publicKeys'> },
): Promise<LinkIdentity> {
  const signer = signerOf(key);
  const accepted = new Map<string, KeyObject>();
  for (const pinned of await keys.publicKeys()) accepted.set(await keyIdOf(pinned), verifierOf(pinned));
  let confirmed = 0;
  return {
    ...joined,
    controlPlane,
    signer: () => signer,
    accepts: (kid) => accepted.get(kid),
    pin: () => Promise.resolve(),
    nextSequence: () => Promise.resolve(confirmed + 1),
    confirmSequence: (sequence) => {
      confirmed = sequence;
      return Promise.resolve();
    },
  };
}

const reportOf = ({ database, files }: HostedPlane): AgentReport => ({
  components: [
    { kind: 'database', provider: database.dialect, location: null, state: 'up' },
    { kind: 'object_storage', provider: files.objects.provider, location: null, state: 'up' },
    { kind: 'malware_scanner', provider: files.scanner.provider, location: null, state: 'unknown' },
  ],
  outboxDue: false,
});

/** Each agent at a path of its own. */
const directCalls =
  (agents: ReadonlyMap<string, HttpMiddleware>): HttpMiddleware =>
  (ctx, next) => {
    const [, tenantId = '', path = ''] = /^\/agents\/([^/]+)(\/.*)$/.exec(ctx.path) ?? [];
    const agent = agents.get(tenantId);
    if (!agent) return next();
    ctx.path = path;
    return agent(ctx, next);
  };
