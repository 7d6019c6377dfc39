import { COSEALG, isoBase64URL, isoCBOR } from '@simplewebauthn/server/helpers';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type {
  AssertionResponse,
  AttestationResponse,
  LoginQuestion,
  RegistrationQuestion,
} from './passkeys.schemas.js';

/** To whom passkeys belong, from the settings and never from a request. */
export interface RelyingParty {
  /** A domain; passkeys made for it are good on it and below it. */
  readonly id: string;
  /** As the authenticator's own dialogues name us. */
  readonly name: string;
  /** Where the pages are that may ask for a passkey. */
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
/** A signature that is right. Whether its count has gone up is for the statement to say that stores it. */
export interface Signed {
  readonly counter: number;
  readonly synced: boolean;
  readonly backedUp: boolean;
}
/** What the authenticator said is not to be believed; the cause is for the log. */
export interface Disbelieved {
  readonly cause: unknown;
}

/**
 * WebAuthn as we speak it: user verification required, attestation none. The library checks answers; that a question is
 * answered once, and by whom, is for its callers.
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
  ): Promise<NewCredential | Disbelieved>;
  assertion(
    response: AssertionResponse,
    question: {
      readonly challengeHash: string;
      readonly credentialId: string;
      readonly publicKey: string;
      readonly memberId: string;
    },
  ): Promise<Signed | Disbelieved>;
}

/** Questions are good for this time, in milliseconds. */
export const FLOW_MS = 5 * 60_000;

export function createCeremony({ id: rpID, name: rpName, origins }: RelyingParty): Ceremony {
  const expectedOrigin = [...origins];
  return {
    creationOptions: async (member, exclude) => {
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
        supportedAlgorithmIDs: ALGORITHMS,
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
      believing(async () => {
        refuseForeignFrame(given.response.clientDataJSON);
        const response = {
          ...whole(given),
          response: {
            clientDataJSON: given.response.clientDataJSON,
            attestationObject: withoutStatement(given.response.attestationObject),
          },
        };
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response,
          expectedChallenge: answers(challengeHash),
          expectedOrigin,
          expectedRPID: rpID,
          requireUserVerification: true,
          supportedAlgorithmIDs: ALGORITHMS,
        });
        if (!verified) throw new Error('the attestation does not verify');
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
      believing(async () => {
        const { clientDataJSON, authenticatorData, signature, userHandle } = given.response;
        refuseForeignFrame(clientDataJSON);
        if (userHandle && userHandle !== isoBase64URL.fromUTF8String(memberId))
          throw new Error('the passkey is of another member');
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: { ...whole(given), response: { clientDataJSON, authenticatorData, signature } },
          expectedChallenge: answers(challengeHash),
          expectedOrigin,
          expectedRPID: rpID,
          requireUserVerification: true,
          // No count: the library would compare before it looks at the signature, and a forged answer must not cry
          // clone.
          credential: { id: credentialId, publicKey: isoBase64URL.toBuffer(publicKey), counter: 0 },
        });
        if (!verified) throw new Error('the signature does not verify');
        const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo;
        return { counter: newCounter, synced: credentialDeviceType === 'multiDevice', backedUp: credentialBackedUp };
      }),
  };
}

/**
 * The challenge that a response answers, as its digest; of a response that cannot be read a digest of nothing that was
 * asked.
 */
export function challengeHashOf(clientDataJSON: string): string {
  const { challenge } = clientDataOf(clientDataJSON);
  return sha256Hex(typeof challenge === 'string' ? challenge : '');
}

/** Named, so that servers whose Node knows more of them ask for and take the same. */
const ALGORITHMS: number[] = [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256];

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

/** Scripts leave out what says nothing. */
const whole = ({ id, rawId }: { readonly id: string; readonly rawId?: string | null }) => ({
  id,
  rawId: rawId ?? id,
  type: 'public-key' as const,
  clientExtensionResults: {},
});

/** Our pages are in nobody's frames; of a frame whose browser names no outer page the library asks nothing. */
function refuseForeignFrame(clientDataJSON: string): void {
  const { crossOrigin = false } = clientDataOf(clientDataJSON);
  if (crossOrigin !== false) throw new Error('the response comes from a frame of another site');
}

/** What the browser wrote down of the question. */
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
 * None was asked for, so none is looked at: to verify a statement the library parses its certificates and fetches the
 * revocation lists that they name, whatever the address.
 */
function withoutStatement(attestationObject: string): string {
  const decoded: unknown = isoCBOR.decodeFirst(isoBase64URL.toBuffer(attestationObject));
  const authData: unknown = decoded instanceof Map ? decoded.get('authData') : undefined;
  if (!(authData instanceof Uint8Array)) throw new Error('the attestation object holds no authenticator data');
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

type Cbor = Parameters<typeof isoCBOR.encode>[0];

/** The library throws whatever is wrong with an answer, each with its own words. */
async function believing<T extends object>(verify: () => Promise<T>): Promise<T | Disbelieved> {
  try {
    return await verify();
  } catch (cause) {
    return { cause };
  }
}
