import { generateKeyPairSync } from 'node:crypto';
import type { isoCBOR as IsoCbor } from '@simplewebauthn/server/helpers';
import { onFirstUse } from '../../data-plane-agent/base/on-first-use.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type {
  AssertionResponse,
  AttestationResponse,
  LoginQuestion,
  RegistrationQuestion,
} from './passkeys.schemas.js';

/** The relying party, from the settings and never from a request. */
export interface RelyingParty {
  /** A domain; its passkeys are valid for it and its subdomains. */
  readonly id: string;
  /** The name shown by authenticators. */
  readonly name: string;
  /** The origins of the pages that may request a passkey. */
  readonly origins: readonly string[];
}

export interface AllowedCredential {
  readonly credentialId: string;
  readonly transports: readonly string[];
}
export interface NewCredential extends AllowedCredential {
  readonly publicKey: string;
  readonly counter: number;
  readonly synced: boolean;
  readonly backedUp: boolean;
}
/** A valid signature. The statement that stores the counter checks that it has increased. */
export interface Signed {
  readonly counter: number;
  readonly synced: boolean;
  readonly backedUp: boolean;
}
/** An invalid response; the cause is for the log. */
export interface InvalidResponse {
  readonly cause: unknown;
}

/**
 * WebAuthn with user verification and without attestation. The library verifies responses; callers must ensure that
 * options are used once and by the right member.
 */
export interface Ceremony {
  creationOptions(
    member: { readonly id: string; readonly email: string; readonly name: string },
    exclude: readonly AllowedCredential[],
  ): Promise<RegistrationQuestion['options']>;
  requestOptions(allow: readonly AllowedCredential[]): Promise<LoginQuestion['options']>;
  attestation(
    response: AttestationResponse,
    question: { readonly challengeHash: string },
  ): Promise<NewCredential | InvalidResponse>;
  assertion(
    response: AssertionResponse,
    question: {
      readonly challengeHash: string;
      readonly credentialId: string;
      readonly publicKey: string;
      readonly memberId: string;
    },
  ): Promise<Signed | InvalidResponse>;
}

/** The lifetime of options, in milliseconds. */
export const FLOW_MS = 5 * 60_000;

export function createCeremony({ id: rpID, name: rpName, origins }: RelyingParty): Ceremony {
  const expectedOrigin = [...origins];
  return {
    creationOptions: async (member, exclude) => {
      const { generateRegistrationOptions, algorithms } = await library();
      const options = await generateRegistrationOptions({
        rpName,
        rpID,
        userName: member.email,
        userDisplayName: member.name,
        userID: new TextEncoder().encode(member.id),
        timeout: FLOW_MS,
        attestationType: 'none',
        excludeCredentials: exclude.map(libraryDescriptor),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
        supportedAlgorithmIDs: algorithms,
      });
      const { challenge, user, pubKeyCredParams } = options;
      return {
        rp: { name: rpName, id: rpID },
        user,
        challenge,
        pubKeyCredParams,
        timeout: FLOW_MS,
        attestation: 'none',
        excludeCredentials: exclude.map(descriptor),
        authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'required' },
        extensions: { credProps: true },
      };
    },

    requestOptions: async (allow) => {
      const { generateAuthenticationOptions } = await library();
      const { challenge } = await generateAuthenticationOptions({
        rpID,
        userVerification: 'required',
        timeout: FLOW_MS,
        allowCredentials: allow.map(libraryDescriptor),
      });
      return {
        rpId: rpID,
        challenge,
        allowCredentials: allow.map(descriptor),
        timeout: FLOW_MS,
        userVerification: 'required',
      };
    },

    attestation: (given, { challengeHash }) =>
      verifying(async () => {
        const { verifyRegistrationResponse, algorithms, isoBase64URL } = await library();
        refuseForeignFrame(given.response.clientDataJSON);
        const response = {
          ...whole(given),
          response: {
            clientDataJSON: given.response.clientDataJSON,
            attestationObject: await withoutStatement(given.response.attestationObject),
          },
        };
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response,
          expectedChallenge: answers(challengeHash),
          expectedOrigin,
          expectedRPID: rpID,
          requireUserVerification: true,
          supportedAlgorithmIDs: algorithms,
        });
        if (!verified) throw new Error('the attestation is invalid');
        const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo;
        if (credential.id !== given.id) throw new Error('the response names another credential than the authenticator');
        return {
          credentialId: credential.id,
          publicKey: isoBase64URL.fromBuffer(credential.publicKey),
          counter: credential.counter,
          transports: [...(given.response.transports ?? [])],
          synced: credentialDeviceType === 'multiDevice',
          backedUp: credentialBackedUp,
        };
      }),

    assertion: (given, { challengeHash, credentialId, publicKey, memberId }) =>
      verifying(async () => {
        const { verifyAuthenticationResponse, isoBase64URL } = await library();
        const { clientDataJSON, authenticatorData, signature, userHandle } = given.response;
        refuseForeignFrame(clientDataJSON);
        if (userHandle && userHandle !== isoBase64URL.fromUTF8String(memberId))
          throw new Error('the passkey belongs to another member');
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: { ...whole(given), response: { clientDataJSON, authenticatorData, signature } },
          expectedChallenge: answers(challengeHash),
          expectedOrigin,
          expectedRPID: rpID,
          requireUserVerification: true,
          // Zero, so that the library does not compare counters: it does so before verifying the signature, and a
          // forged response must not be reported as a cloned key.
          credential: { id: credentialId, publicKey: isoBase64URL.toBuffer(publicKey), counter: 0 },
        });
        if (!verified) throw new Error('the signature is invalid');
        const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo;
        return { counter: newCounter, synced: credentialDeviceType === 'multiDevice', backedUp: credentialBackedUp };
      }),
  };
}

/** The digest of the challenge in a response; for an unreadable response, a digest that matches no challenge. */
export function challengeHashOf(clientDataJSON: string): string {
  const { challenge } = clientDataOf(clientDataJSON);
  return sha256Hex(typeof challenge === 'string' ? challenge : '');
}

/** Loaded with the first ceremony: it has hundreds of modules, and most processes do without passkeys. */
const library = onFirstUse(async () => {
  const [server, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  const { COSEALG } = helpers;
  // Listed explicitly, so that all servers accept the same algorithms, whatever their Node version supports.
  return { ...server, ...helpers, algorithms: [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256] };
});

/** A P-256 public key in COSE format whose private key is discarded. */
export async function newPublicKey(): Promise<string> {
  const { isoBase64URL, isoCBOR } = await library();
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const [kty, alg, crv] = [2, -7, 1];
  return isoBase64URL.fromBuffer(
    isoCBOR.encode(
      new Map<string | number, Cbor>([
        [1, kty],
        [3, alg],
        [-1, crv],
        [-2, isoBase64URL.toBuffer(x)],
        [-3, isoBase64URL.toBuffer(y)],
      ]),
    ),
  );
}

const answers =
  (challengeHash: string) =>
  (challenge: string): boolean =>
    sha256Hex(challenge) === challengeHash;

const descriptor = ({ credentialId, transports }: AllowedCredential) => ({
  id: credentialId,
  type: 'public-key' as const,
  ...(transports.length > 0 && { transports: [...transports] }),
});
const libraryDescriptor = ({ credentialId, transports }: AllowedCredential) => ({
  id: credentialId,
  transports: [...transports],
});

/** Adds the properties that scripts may omit. */
const whole = ({ id, rawId }: { readonly id: string; readonly rawId?: string | null }) => ({
  id,
  rawId: rawId ?? id,
  type: 'public-key' as const,
  clientExtensionResults: {},
});

/** Our pages are never embedded in frames. The library does not check a frame whose browser sends no top origin. */
function refuseForeignFrame(clientDataJSON: string): void {
  const { crossOrigin = false } = clientDataOf(clientDataJSON);
  if (crossOrigin !== false) throw new Error('the response was created in a frame of another site');
}

/** Parses the client data of a response; empty if it is unreadable. */
function clientDataOf(clientDataJSON: string): { readonly challenge?: unknown; readonly crossOrigin?: unknown } {
  try {
    const read: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    return typeof read === 'object' && read !== null ? read : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/**
 * Removes the attestation statement, which was not requested: to verify it, the library parses its certificates and
 * fetches the revocation lists that they name, at any address.
 */
async function withoutStatement(attestationObject: string): Promise<string> {
  const { isoBase64URL, isoCBOR } = await library();
  const decoded: unknown = isoCBOR.decodeFirst(isoBase64URL.toBuffer(attestationObject));
  const authData: unknown = decoded instanceof Map ? decoded.get('authData') : undefined;
  if (!(authData instanceof Uint8Array)) throw new Error('the attestation object contains no authenticator data');
  return isoBase64URL.fromBuffer(
    isoCBOR.encode(
      new Map<string | number, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    ),
  );
}

type Cbor = Parameters<typeof IsoCbor.encode>[0];

/** Returns the library's exception as the cause. */
async function verifying<T extends object>(verify: () => Promise<T>): Promise<T | InvalidResponse> {
  try {
    return await verify();
  } catch (cause) {
    return { cause };
  }
}
