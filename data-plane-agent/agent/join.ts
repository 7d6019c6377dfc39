import { CommandError } from '../base/command-line/errors.js';
import type { Clock } from '../base/clock.js';
import { newId } from '../base/ids.js';
import { newLinkKey, signerOf } from '../base/link/keys.js';
import { PROTOCOLS } from '../base/link/limits.js';
import { Challenge, Joined, LINK_PATHS, Rotated, type Component } from '../base/link/messages.js';
import { signJoin, signRotation } from '../base/link/proofs.js';
import { SKEW_MS } from '../base/link/tokens.js';
import { versionOf } from '../base/package-version.js';
import { sha256Hex } from '../base/secrets.js';
import { ControlPlaneError, type ControlPlaneClient } from './control-plane.js';
import { IdentityFault, type IdentityFiles } from './identity-files.js';
import { storeJoined } from './identity.js';
import { removeIfThere } from './stored-files.js';

export interface JoinParts {
  readonly files: IdentityFiles;
  readonly client: ControlPlaneClient;
  readonly clock: Clock;
}

export interface JoinRequested {
  /** The origin as the operator gave it. */
  readonly controlPlane: string;
  readonly joinToken: string;
  readonly components: readonly Component[];
  /** For a rejoin: the organisation whose data this agent has. */
  readonly tenantId?: string | undefined;
}

/**
 * Joins: makes a key, proves that it has it, and stores the answer. Throws CommandError with the control plane's code
 * for a refusal; JOIN_OUTCOME_UNKNOWN if the join token may have been used up without an answer.
 */
export async function join(
  { controlPlane, joinToken, components, tenantId }: JoinRequested,
  { files, client, clock }: JoinParts,
): Promise<Joined> {
  const challenge = await client.post(LINK_PATHS.challenge, { tokenHash: sha256Hex(joinToken) }, { answer: Challenge });
  refuseSkew(challenge.serverTime, clock.now());
  if (challenge.controlPlane !== controlPlane)
    throw new CommandError(
      'OTHER_CONTROL_PLANE',
      `the control plane at ${controlPlane} has the URL ${challenge.controlPlane} (its PUBLIC_URL), under which agents reach it: use --control-plane ${challenge.controlPlane}, or correct PUBLIC_URL there`,
    );
  const key = await newLinkKey();
  const instanceId = newId();
  files.write('joining', { instanceId, key });
  const proof = signJoin(
    { controlPlane, instanceId, joinToken, nonce: challenge.nonce },
    { signer: signerOf(key), clock },
  );
  const joined = await client
    .post(
      LINK_PATHS.join,
      {
        joinToken,
        key: key.publicJwk,
        proof,
        instanceId,
        version: versionOf(import.meta.url),
        protocols: PROTOCOLS,
        components,
      },
      { answer: Joined },
    )
    .catch((error: unknown) => {
      if (!(error instanceof ControlPlaneError) || error.mayHaveRun) throw outcomeUnknown(error);
      removeIfThere(files.pathOf('joining'));
      throw error;
    });
  if (tenantId !== undefined && joined.tenant.id !== tenantId)
    throw new CommandError(
      'OTHER_ORGANISATION',
      `the join token is for the organisation ${joined.tenant.slug}, but this data directory has the data of another one; nothing was changed here. Create a join token for the organisation of this agent, and another one for ${joined.tenant.slug}, because this one is used up`,
    );
  storeJoined(files, { joined, instanceId, key });
  removeIfThere(files.pathOf('joining'));
  return joined;
}

const outcomeUnknown = (cause: unknown): CommandError =>
  new CommandError(
    'JOIN_OUTCOME_UNKNOWN',
    `${cause instanceof Error ? cause.message : String(cause)}. The join token may be used up: create a new one, and join with it`,
    { cause },
  );

function refuseSkew(serverTime: number, now: number): void {
  const skewMs = now - serverTime;
  if (Math.abs(skewMs) <= SKEW_MS) return;
  throw new CommandError(
    'CLOCK_SKEW',
    `the clock of this machine is ${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} the control plane's: synchronise both (NTP); the join token was not used`,
  );
}

/**
 * Replaces the key of the agent. The new key is stored before the control plane knows it, and used only once it does,
 * so that an interrupted rotation can be repeated. Returns until when the old key is valid.
 */
export async function rotateKey({
  files,
  client,
  clock,
}: JoinParts): Promise<{ readonly kid: string; readonly oldKeyUntil: number }> {
  const connection = files.read('connection');
  const key = files.read('key');
  if (!connection || !key)
    throw new IdentityFault('NOT_JOINED', 'this agent has not joined a control plane, so it has no key to replace');
  const next = key.next ?? (await newLinkKey());
  if (!key.next) files.write('key', { ...key, next });
  const { controlPlane, connectionId } = connection;
  const { authorization, proof } = await signRotation(
    { controlPlane, connectionId, key: next.publicJwk },
    { current: signerOf(key.current), next: signerOf(next), clock },
  );
  const { oldKeyUntil } = await client.post(
    LINK_PATHS.rotate,
    { key: next.publicJwk, proof },
    { answer: Rotated, token: authorization },
  );
  files.write('key', { ...key, current: next, next: null });
  return { kid: next.kid, oldKeyUntil };
}
