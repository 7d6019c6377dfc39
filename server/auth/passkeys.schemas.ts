import Type from 'typebox';
import { s, type Static, type TProperties } from '../../data-plane-agent/base/schema.js';
import { iso, isoOrNull } from '../../data-plane-agent/base/instants.js';
import type { PasskeyRecord } from '../store/passkeys.js';

/**
 * What a browser makes of a credential. Browsers put in more than is read here, and will put in yet more: it is let
 * pass, and not looked at.
 */
const fromBrowser = <P extends TProperties>(properties: P, about: string, title?: string) =>
  Type.Object(properties, {
    additionalProperties: true,
    description: about,
    ...(title === undefined ? {} : { title }),
  });

const credential = {
  id: s.verbatim({ max: 2_048, about: "The credential's id in base64url." }),
  rawId: s.optional(s.verbatim({ max: 2_048 })),
  type: s.optional(s.enum(['public-key'])),
};
/** In base64url. */
const bytes = (max: number) => s.verbatim({ max });

export const AttestationResponse = fromBrowser(
  {
    ...credential,
    response: fromBrowser(
      {
        clientDataJSON: bytes(8_192),
        attestationObject: bytes(131_072),
        transports: s.optional(s.list(s.text({ max: 32 }), 16)),
      },
      'What the authenticator said, in base64url.',
    ),
  },
  'What `navigator.credentials.create()` gave, as `toJSON()` writes it. Members that are not listed are ignored.',
  'PasskeyRegistrationResponse',
);
export type AttestationResponse = Static<typeof AttestationResponse>;

export const AssertionResponse = fromBrowser(
  {
    ...credential,
    response: fromBrowser(
      {
        clientDataJSON: bytes(8_192),
        authenticatorData: bytes(8_192),
        signature: bytes(16_384),
        userHandle: s.optional(bytes(128)),
      },
      'What the authenticator said, in base64url.',
    ),
  },
  'What `navigator.credentials.get()` gave, as `toJSON()` writes it. Members that are not listed are ignored.',
  'PasskeyAuthenticationResponse',
);
export type AssertionResponse = Static<typeof AssertionResponse>;

const descriptors = s.list(
  s.object({
    id: s.verbatim({ max: 2_048 }),
    type: s.enum(['public-key']),
    transports: s.omittable(s.list(s.text({ max: 32 }), 16)),
  }),
  10,
);
const flowId = s.verbatim({ max: 128, about: 'Good for one answer, for five minutes.' });
const timeout = s.integer({ max: 600_000, about: 'Milliseconds.' });

const CreationOptions = s.object({
  rp: s.object({ name: s.text({ max: 80 }), id: s.text({ max: 255 }) }),
  user: s.object({ id: s.verbatim({ max: 128 }), name: s.text({ max: 254 }), displayName: s.text({ max: 100 }) }),
  challenge: s.verbatim({ max: 128 }),
  pubKeyCredParams: s.list(s.object({ alg: s.integer({ min: -65_535 }), type: s.enum(['public-key']) }), 10),
  timeout,
  attestation: s.enum(['none']),
  excludeCredentials: descriptors,
  authenticatorSelection: s.object({
    residentKey: s.enum(['preferred']),
    requireResidentKey: s.flag(),
    userVerification: s.enum(['required']),
  }),
  extensions: s.object({ credProps: s.flag() }),
});
export const RegistrationQuestion = s.object(
  { flowId, options: CreationOptions },
  {
    title: 'PasskeyRegistrationOptions',
    about: '`options` goes to `PublicKeyCredential.parseCreationOptionsFromJSON()`.',
  },
);
export type RegistrationQuestion = Static<typeof RegistrationQuestion>;

const RequestOptions = s.object({
  rpId: s.text({ max: 255 }),
  challenge: s.verbatim({ max: 128 }),
  allowCredentials: descriptors,
  timeout,
  userVerification: s.enum(['required']),
});
export const LoginQuestion = s.object(
  { flowId, options: RequestOptions },
  { title: 'PasskeyLoginOptions', about: '`options` goes to `PublicKeyCredential.parseRequestOptionsFromJSON()`.' },
);
export type LoginQuestion = Static<typeof LoginQuestion>;

export const Passkey = s.object(
  {
    id: s.id(),
    label: s.nullable(s.text({ max: 80 })),
    synced: s.flag('Of the kind that is kept on several devices.'),
    backedUp: s.flag('There was a copy on another device when it was last used.'),
    transports: s.list(s.text({ max: 32 }), 16),
    createdAt: s.instant(),
    updatedAt: s.instant(),
    lastUsedAt: s.nullable(s.instant()),
  },
  { title: 'Passkey' },
);
export type Passkey = Static<typeof Passkey>;

export const passkeyAnswer = ({
  id,
  label,
  synced,
  backedUp,
  transports,
  createdAt,
  lastUsedAt,
}: PasskeyRecord): Passkey => ({
  id,
  label,
  synced,
  backedUp,
  transports: [...transports],
  createdAt: iso(createdAt),
  updatedAt: iso(lastUsedAt ?? createdAt),
  lastUsedAt: isoOrNull(lastUsedAt),
});
