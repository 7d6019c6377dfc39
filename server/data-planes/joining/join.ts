import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../../data-plane-agent/base/database/database.js';
import { fail, invalid, type Failure } from '../../../data-plane-agent/base/failures.js';
import { isId } from '../../../data-plane-agent/base/ids.js';
import type { RequestInfo } from '../../../data-plane-agent/base/http/request.js';
import { keyIdOf } from '../../../data-plane-agent/base/link/keys.js';
import { negotiated, PROTOCOLS } from '../../../data-plane-agent/base/link/limits.js';
import type {
  Challenge,
  ChallengeRequest,
  Joined,
  JoinRequest,
  Rotated,
  RotateRequest,
} from '../../../data-plane-agent/base/link/messages.js';
import { verifyJoin, verifyRotation } from '../../../data-plane-agent/base/link/proofs.js';
import { sha256Hex, type KeyRing } from '../../../data-plane-agent/base/secrets.js';
import type { Actor } from '../../access/actor.js';
import type { Changes } from '../../access/changes.js';
import { AuditStore } from '../../store/audit.js';
import { LinkedConnectionStore, type AgentKey, type LinkedConnection } from '../../store/linked-connections.js';
import { TenantStore } from '../../store/tenants.js';
import { linkedTenant } from '../linked-tenant.js';
import { authenticateAgent, type AuthenticatedAgent } from './agent-token.js';
import { createChallenges } from './challenges.js';
import type { LinkKeys } from './link-keys.js';
import { tokenRefusal } from './token-refusals.js';

/** How agents join, and how they replace their keys. */
export interface Joining {
  /** A nonce for the proof; whether the token exists is not checked. */
  challenge(request: ChallengeRequest): Challenge;
  /**
   * Uses up the join token. Throws JOIN_TOKEN_INVALID, JOIN_TOKEN_USED, JOIN_TOKEN_EXPIRED, CHALLENGE_INVALID,
   * LINK_TOKEN_REFUSED, CLOCK_SKEW or PROTOCOL_UNSUPPORTED.
   */
  join(request: JoinRequest, info: RequestInfo): Promise<Joined>;
  /**
   * Replaces the key of an agent. The old one remains valid for 24 hours, or until the first session on the new one.
   * The same request again, with new tokens, has the same answer. Throws what `authenticateAgent` does.
   */
  rotate(request: RotateRequest & { readonly authorization: string }, info: RequestInfo): Promise<Rotated>;
}

export interface JoiningOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly changes: Changes;
  readonly linkKeys: Pick<LinkKeys, 'publicKeys'>;
  /** The origin of the service: the audience of proofs. */
  readonly publicUrl: string;
  /** The version of the service. */
  readonly version: string;
}

const OLD_KEY_MS = 24 * 3_600_000;

export function createJoining(options: JoiningOptions): Joining {
  const { database, clock, keyRing, changes, linkKeys, publicUrl, version } = options;
  const scope = { tenantId: null };
  const challenges = createChallenges({ keyRing, clock });

  const verified = async ({ joinToken, key, proof, instanceId }: JoinRequest): Promise<AgentKey> => {
    const facts = { controlPlane: publicUrl, instanceId, joinToken };
    const nonce = await verifyJoin(proof, facts, { key, clock }).catch((error: unknown) =>
      Promise.reject(tokenRefusal(error, { token: proof, clock })),
    );
    if (!challenges.accepts(nonce, sha256Hex(joinToken))) throw fail('CHALLENGE_INVALID', {});
    return { kid: await keyIdOf(key), key };
  };

  return {
    challenge: ({ tokenHash }) => ({
      nonce: challenges.issue(tokenHash),
      controlPlane: publicUrl,
      serverTime: clock.now(),
    }),

    join: async (request, info) => {
      const { instanceId, joinToken, components } = request;
      if (!isId(instanceId)) throw invalid({ path: 'instanceId', problem: 'must be a UUID in lower case' });
      if (!negotiated(PROTOCOLS, request.protocols)) throw fail('PROTOCOL_UNSUPPORTED', { ...PROTOCOLS, version });
      const key = await verified(request);
      const keys = await linkKeys.publicKeys();
      const joined = await database.write(scope, async (tx): Promise<Joined> => {
        const at = clock.now();
        const store = new LinkedConnectionStore(tx);
        const tokenHash = sha256Hex(joinToken);
        if (!(await store.join({ tokenHash, at, instanceId, key, version: request.version, components })))
          throw await unusableToken(store, tokenHash);
        const connection = await store.byTokenHash(tokenHash);
        const tenant = connection && (await new TenantStore(tx).byId(connection.tenantId));
        if (!connection || !tenant) throw new Error('the connection that was joined is missing');
        await audited(tx, { connection, action: 'data_plane_joined', info, at }, { instanceId, kid: key.kid });
        return {
          connectionId: connection.id,
          controlPlane: publicUrl,
          accessMode: connection.accessMode ?? 'outbound',
          tenant: linkedTenant(tenant),
          keys: [...keys],
        };
      });
      changes.notify({ kind: 'tenant', tenantId: joined.tenant.id });
      return joined;
    },

    rotate: async ({ key, proof, authorization }, info) => {
      const agent = await authenticateAgent({ token: authorization, type: 'rotate' }, options);
      const { connection, claims } = agent;
      const facts = { controlPlane: publicUrl, connectionId: connection.id, key };
      await verifyRotation({ authorization: claims, proof }, facts, { clock }).catch((error: unknown) =>
        Promise.reject(tokenRefusal(error, { token: proof, clock })),
      );
      const next = { kid: await keyIdOf(key), key };
      const oldKeyUntil = await database.write(scope, async (tx) => {
        const at = clock.now();
        const until = await replaced(new LinkedConnectionStore(tx), { agent, next, at });
        await audited(
          tx,
          { connection, action: 'data_plane_key_rotated', info, at },
          { from: agent.key.kid, to: next.kid, oldKeyUntil: until },
        );
        return until;
      });
      changes.notify({ kind: 'tenant', tenantId: connection.tenantId });
      return { oldKeyUntil };
    },
  };
}

/**
 * Replaces the current key. With the previous key, an agent repeats a rotation whose answer it did not get, or which it
 * did not store: as long as no session was opened with the key that it sent then, that key is replaced. Returns the end
 * of the old key.
 */
async function replaced(
  store: LinkedConnectionStore,
  { agent, next, at }: { readonly agent: AuthenticatedAgent; readonly next: AgentKey; readonly at: number },
): Promise<number> {
  const connection = await store.byId(agent.connection.id);
  const { agentKey, previousKey, previousKeyUntil } = connection ?? agent.connection;
  const place = { tenantId: agent.connection.tenantId, id: agent.connection.id, next, at };
  if (agent.key.kid === agentKey?.kid) {
    if (next.kid === agentKey.kid) throw invalid({ path: 'key', problem: 'must be another key than the present one' });
    const oldKeyUntil = at + OLD_KEY_MS;
    if (await store.rotateKey({ ...place, current: agentKey, oldKeyUntil })) return oldKeyUntil;
  } else if (agent.key.kid === previousKey?.kid && previousKeyUntil !== null) {
    if (await store.replaceUnusedKey({ ...place, previous: previousKey })) return previousKeyUntil;
  }
  throw fail('LINK_TOKEN_REFUSED', { reason: 'the key was replaced or revoked in the meantime' });
}

/** The token is a secret of 256 bits: only somebody who was given it learns what became of it. */
async function unusableToken(store: LinkedConnectionStore, tokenHash: string): Promise<Failure> {
  const connection = await store.byTokenHash(tokenHash);
  if (!connection) return fail('JOIN_TOKEN_INVALID', {});
  return connection.tokenExpiresAt === null ? fail('JOIN_TOKEN_USED', {}) : fail('JOIN_TOKEN_EXPIRED', {});
}

async function audited(
  tx: Transaction,
  event: {
    readonly connection: LinkedConnection;
    readonly action: string;
    readonly info: RequestInfo;
    readonly at: number;
  },
  changes: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { connection, action, info, at } = event;
  const actor: Actor = { kind: 'system', id: null, name: 'agent', ip: info.ip, requestId: info.id };
  await new AuditStore(tx).append({
    tenantId: connection.tenantId,
    at,
    actor,
    action,
    recordKind: 'data_plane_connection',
    recordId: connection.id,
    changes,
  });
}
