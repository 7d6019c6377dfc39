import type { Clock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey, signerOf, type LinkKeyPair, type Signer } from '../../data-plane-agent/base/link/keys.js';
import { PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import {
  LINK_PATHS,
  type Challenge,
  type Component,
  type Joined,
  type Rotated,
} from '../../data-plane-agent/base/link/messages.js';
import { signJoin, signRotation } from '../../data-plane-agent/base/link/proofs.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { Actor } from '../../server/access/actor.js';
import { OPERATOR } from './accounts.js';
import type { Answer, Client, DomainError } from './http.js';
import type { TestServer } from './server.js';

/** An agent as far as joining goes: its key and what it sends. */
export interface JoiningAgent {
  readonly instanceId: string;
  readonly pair: LinkKeyPair;
  readonly signer: Signer;
}

export async function aJoiningAgent(): Promise<JoiningAgent> {
  const pair = await newLinkKey();
  return { instanceId: newId(), pair, signer: signerOf(pair) };
}

export const aComponent = (component: Partial<Component> = {}): Component => ({
  kind: 'database',
  provider: 'postgres',
  location: null,
  state: 'up',
  ...component,
});

/** Declares the connection to an agent. */
export async function joinTokenFor(
  { services }: Pick<TestServer, 'services'>,
  tenantId: string,
  { fields = {}, actor = OPERATOR }: { readonly fields?: object; readonly actor?: Actor } = {},
): Promise<{ readonly connectionId: string; readonly joinToken: string }> {
  const { connection, joinToken } = await services.tenants.connections.declare(
    { tenantId, fields: { kind: 'agent', ...fields } },
    actor,
  );
  if (joinToken === null) throw new Error('there is no join token');
  return { connectionId: connection.id, joinToken };
}

export const post = <T>(
  client: Client,
  path: string,
  { body, headers = {} }: { readonly body: unknown; readonly headers?: Readonly<Record<string, string>> },
): Promise<Answer<T>> =>
  client.raw<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

export const challengeFor = async (client: Client, joinToken: string): Promise<Challenge> =>
  (await post<Challenge>(client, LINK_PATHS.challenge, { body: { tokenHash: sha256Hex(joinToken) } })).body;

/** The body of a join request, with the changes of the test. */
export async function joinBody(
  agent: JoiningAgent,
  {
    joinToken,
    challenge,
    clock,
    signer = agent.signer,
    components = [aComponent()],
  }: {
    readonly joinToken: string;
    readonly challenge: Pick<Challenge, 'nonce' | 'controlPlane'>;
    readonly clock: Clock;
    readonly signer?: Signer;
    readonly components?: readonly Component[];
  },
): Promise<Record<string, unknown>> {
  const { instanceId, pair } = agent;
  return {
    joinToken,
    key: pair.publicJwk,
    proof: signJoin({ ...challenge, instanceId, joinToken }, { signer, clock }),
    instanceId,
    version: '1.2.3',
    protocols: { ...PROTOCOLS },
    components,
  };
}

export type JoinAnswer = Answer<Joined & DomainError>;

/** Asks for a challenge and joins. */
export async function joinWith(
  client: Client,
  agent: JoiningAgent,
  {
    joinToken,
    clock,
    components,
  }: { readonly joinToken: string; readonly clock: Clock; readonly components?: readonly Component[] },
): Promise<JoinAnswer> {
  const challenge = await challengeFor(client, joinToken);
  const body = await joinBody(agent, { joinToken, challenge, clock, ...(components && { components }) });
  return post(client, LINK_PATHS.join, { body });
}

/** Replaces the key of a joined agent. */
export async function rotateTo(
  client: Client,
  next: Pick<JoiningAgent, 'pair' | 'signer'>,
  {
    current,
    joined: { connectionId, controlPlane },
    clock,
    proofBy = next.signer,
  }: {
    readonly current: Signer;
    readonly joined: Pick<Joined, 'connectionId' | 'controlPlane'>;
    readonly clock: Clock;
    readonly proofBy?: Signer;
  },
): Promise<Answer<Rotated & DomainError>> {
  const key = next.pair.publicJwk;
  const { authorization, proof } = await signRotation(
    { controlPlane, connectionId, key },
    { current, next: proofBy, clock },
  );
  return post(client, LINK_PATHS.rotate, {
    body: { key, proof },
    headers: { authorization: `Bearer ${authorization}` },
  });
}
