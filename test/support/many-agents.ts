import { setTimeout as sleep } from 'node:timers/promises';
import type { LinkIdentity } from '../../data-plane-agent/agent/link/identity.js';
import { connectOutbound, type OutboundLink } from '../../data-plane-agent/agent/link/outbound.js';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey } from '../../data-plane-agent/base/link/keys.js';
import { PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { ConnectionStore } from '../../server/store/connections.js';
import { LinkedConnectionStore } from '../../server/store/linked-connections.js';
import { TenantStore } from '../../server/store/tenants.js';
import { identityOf, type JoinedHere } from './agents-here.js';
import type { TestServer } from './server.js';

/** Agents of as many organisations in this process: their links are real, and there is nothing behind them. */
export interface ManyAgents {
  /** When each attempt to connect began, in milliseconds of `performance.now()`. */
  readonly attempts: readonly number[];
  /** How many have a session. */
  connected(): number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** They have joined at the server; `tenantId` is an organisation whose settings theirs are copies of. */
export async function manyAgents(
  { foundation: { platform, links } }: TestServer,
  {
    count,
    tenantId,
    controlPlane,
  }: { readonly count: number; readonly tenantId: string; readonly controlPlane: string },
): Promise<ManyAgents> {
  if (!links) throw new Error('the edition has no agents');
  const joined: JoinedHere[] = [];
  for (let made = 0; made < count; made += 1)
    joined.push({ connectionId: newId(), tenantId: newId(), instanceId: newId(), key: await newLinkKey() });
  await platform.write({ tenantId: null }, async (tx) => {
    const tenants = new TenantStore(tx);
    const model = await tenants.byId(tenantId);
    if (!model) throw new Error('the organisation does not exist');
    for (const { connectionId, tenantId: id, instanceId, key } of joined) {
      const at = systemClock.now();
      const tokenHash = sha256Hex(connectionId);
      await tenants.insert({ ...model, id, slug: `many-${id}`, createdAt: at, updatedAt: at });
      await new ConnectionStore(tx, id).insert(
        {
          id: connectionId,
          kind: 'agent',
          provider: null,
          location: null,
          status: 'pending',
          accessMode: 'outbound',
          endpoint: null,
          createdAt: at,
          updatedAt: at,
        },
        { hash: tokenHash, expiresAt: at + 60_000 },
      );
      const own = { kid: key.kid, key: key.publicJwk };
      await new LinkedConnectionStore(tx).join({
        tokenHash,
        at,
        instanceId,
        version: 'many',
        components: [],
        key: own,
      });
    }
  });
  const attempts: number[] = [];
  const identities = await Promise.all(
    joined.map(async (one): Promise<LinkIdentity> => {
      const identity = await identityOf(one, { controlPlane, keys: links.keys });
      return {
        ...identity,
        // Asked once for each attempt, for its token.
        signer: () => {
          attempts.push(performance.now());
          return identity.signer();
        },
      };
    }),
  );
  const log = createLog({ level: 'silent', name: 'many' });
  const started: OutboundLink[] = [];
  return {
    attempts,
    connected: () => started.filter(({ state }) => state === 'connected').length,
    start: async () => {
      for (const identity of identities) {
        const report = () => ({ components: [], outboxDue: false });
        const bootId = newId();
        const hello = async () => ({
          instanceId: identity.instanceId,
          bootId,
          sequence: await identity.nextSequence(),
          version: 'many',
          protocols: PROTOCOLS,
          operations: 'many',
          schema: 'many',
          report: report(),
        });
        started.push(
          connectOutbound({
            identity,
            hello,
            answer: () => Promise.reject(new Error('nothing is behind this link')),
            onWelcome: () => Promise.resolve(),
            onNotice: () => undefined,
            report,
            log,
            clock: systemClock,
          }),
        );
        // Not all at once: this is not what is tested.
        if (started.length % 20 === 0) await sleep(40);
      }
    },
    stop: async () => void (await Promise.all(started.map((link) => link.stop()))),
  };
}
