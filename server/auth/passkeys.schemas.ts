import Type from 'typebox';
import { s, type Static, type TProperties } from '../../data-plane-agent/base/schema.js';
import { iso, isoOrNull } from '../../data-plane-agent/base/instants.js';
import type { PasskeyRecord } from '../store/passkeys.js';

/**
 * A credential as serialised by a browser. Browsers send additional properties and may add more, so unknown ones are
 * ignored.
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
      'The response of the authenticator, in base64url.',
    ),
  },
  'The result of `navigator.credentials.create()`, serialised by `toJSON()`. Other properties are ignored.',
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
      'The response of the authenticator, in base64url.',
    ),
  },
  'The result of `navigator.credentials.get()`, serialised by `toJSON()`. Other properties are ignored.',
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
const flowId = s.verbatim({ max: 128, about: 'Valid for one attempt, for five minutes.' });
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
    about: 'Pass `options` to `PublicKeyCredential.parseCreationOptionsFromJSON()`.',
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
  { title: 'PasskeyLoginOptions', about: 'Pass `options` to `PublicKeyCredential.parseRequestOptionsFromJSON()`.' },
);
export type LoginQuestion = Static<typeof LoginQuestion>;

export const Passkey = s.object(
  {
    id: s.id(),
    label: s.nullable(s.text({ max: 80 })),
    synced: s.flag('Whether the passkey can be synced to several devices.'),
    backedUp: s.flag('Whether it was backed up when it was last used.'),
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
