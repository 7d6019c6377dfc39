import { s, type Static } from '../../data-plane-agent/base/schema.js';
import { FEATURES, LEVELS, MODULES } from '../access/permissions.js';
import { NameProfile } from '../access/person.schemas.js';
import { SubjectCompany } from '../tenants/tenants.schemas.js';

/** Part 2.4. */
export const AuthUserSummary = s.object(
  {
    id: s.id(),
    email: s.text({ max: 254 }),
    name: s.text({ max: 100 }),
    nameProfile: s.nullable(NameProfile),
    status: s.enum(['active', 'disabled']),
    roleCode: s.text({ max: 64 }),
    subjectScope: s.nullable(
      s.list(s.id(), 1_000, 'The subject companies visible to the member; null means all, an empty list none.'),
    ),
  },
  { title: 'AuthUserSummary' },
);
export type AuthUserSummary = Static<typeof AuthUserSummary>;

const tokens = {
  accessToken: s.verbatim({ max: 100_000, about: 'JWT; lifetime `JWT_ACCESS_TTL`.' }),
  refreshToken: s.verbatim({
    max: 4_096,
    about: 'JWT; lifetime `JWT_REFRESH_TTL`. Each refresh replaces it; using a replaced token ends the session.',
  }),
  expiresIn: s.text({ max: 20, about: 'The configured lifetime of the access token, such as `15m`.' }),
};

/** Part 2.1. */
export const TokenPair = s.object(tokens, { title: 'TokenPair' });
export type TokenPair = Static<typeof TokenPair>;

const tenant = { id: s.id(), slug: s.text({ max: 64 }), name: s.text({ max: 80 }) };

/** Part 2.2. */
export const AuthLoginResult = s.object(
  {
    ...tokens,
    tenant: s.object(tenant),
    user: AuthUserSummary,
    recoveryCodes: s.omittable(
      s.list(
        s.verbatim({ max: 64 }),
        10,
        'Only returned by the login that enrols an authenticator. Each can be used once instead of a code; they are not shown again.',
      ),
    ),
  },
  { title: 'AuthLoginResult' },
);
export type AuthLoginResult = Static<typeof AuthLoginResult>;

const offer = {
  secret: s.verbatim({ max: 64, about: 'TOTP secret in base32: SHA-1, six digits, thirty seconds.' }),
  otpauthUrl: s.verbatim({ max: 2_000, about: 'The secret as an `otpauth:` URL, for a QR code.' }),
};

/** Part 2.3. */
export const MfaLoginRequired = s.object(
  {
    mfaRequired: s.flag('Always true.'),
    enrollmentRequired: s.flag(
      'True if the account has no authenticator and needs one: `secret` and `otpauthUrl` are then included.',
    ),
    message: s.text(),
    secret: s.omittable(offer.secret),
    otpauthUrl: s.omittable(offer.otpauthUrl),
    emailFallbackAvailable: s.omittable(s.flag('Whether a code can be requested by `POST /auth/login/mfa/email`.')),
  },
  { title: 'MfaLoginRequired' },
);
export type MfaLoginRequired = Static<typeof MfaLoginRequired>;

export const MfaOffer = s.object(offer, { title: 'MfaOffer' });

const mfaStatus = {
  enrolled: s.flag('Whether the account has an authenticator.'),
  required: s.flag("Whether the policy requires one for the account's role."),
  recoveryCodesLeft: s.integer({ max: 10 }),
};
export const MfaStatus = s.object(mfaStatus, { title: 'MfaStatus' });
export type MfaStatus = Static<typeof MfaStatus>;

export const MfaEnrolled = s.object(
  {
    ...mfaStatus,
    recoveryCodes: s.list(
      s.verbatim({ max: 64 }),
      10,
      'Each can be used once instead of a code. They are not shown again.',
    ),
  },
  { title: 'MfaEnrolled' },
);

/** The delivery status of a mail, where it may be revealed. */
export const DeliveryStatus = s.enum(['not_sent', 'queued', 'sent', 'failed']);
export type DeliveryStatus = Static<typeof DeliveryStatus>;

export const Preferences = s.object(
  {
    language: s.text({ max: 35 }),
    locale: s.text({ max: 35 }),
    timezone: s.text({ max: 64 }),
    currency: s.currency(),
    calendarSystem: s.text({ max: 40 }),
    measurementSystem: s.text({ max: 40 }),
    firstDayOfWeek: s.integer({ max: 6 }),
    dateFormat: s.text({ max: 40 }),
    numberFormat: s.text({ max: 40 }),
  },
  { title: 'Preferences' },
);
export type Preferences = Static<typeof Preferences>;

export const PreferencesPatch = s.object(
  {
    language: s.optional(s.named('language-tag', 'BCP 47.')),
    locale: s.optional(s.named('language-tag', 'BCP 47.')),
    timezone: s.optional(s.named('time-zone', 'IANA.')),
    currency: s.optional(s.currency()),
    calendarSystem: s.optional(s.named('calendar', 'A CLDR calendar name, such as `gregory`.')),
    measurementSystem: s.optional(s.enum(['metric', 'imperial', 'us', 'uk'])),
    firstDayOfWeek: s.optional(s.integer({ max: 6, about: '0 is Sunday.' })),
    dateFormat: s.optional(s.name({ max: 40 })),
    numberFormat: s.optional(s.name({ max: 40 })),
  },
  { title: 'PreferencesPatch' },
);
export type PreferencesPatch = Static<typeof PreferencesPatch>;

export const OwnSession = s.object(
  {
    id: s.id(),
    ip: s.nullable(s.text({ max: 100, about: 'The IP address that started the session.' })),
    userAgent: s.nullable(s.verbatim({ max: 400, about: 'The `User-Agent` that started the session.' })),
    current: s.flag('Whether it is the session of this request.'),
    expiresAt: s.instant(),
    createdAt: s.instant(),
    updatedAt: s.instant(),
  },
  {
    title: 'OwnSession',
    about:
      '`expiresAt` is the time when the session ends if it is not refreshed; `updatedAt` the time of the last refresh.',
  },
);
export type OwnSession = Static<typeof OwnSession>;

/** Part 2.6. */
export const Session = s.object(
  {
    user: AuthUserSummary,
    tenant: s.object({ ...tenant, edition: s.text({ max: 40 }) }),
    permissions: s.object(Object.fromEntries(MODULES.map((module) => [module, s.enum(LEVELS)]))),
    featureFlags: s.object(Object.fromEntries(FEATURES.map((feature) => [feature, s.flag()]))),
    subjects: s.list(SubjectCompany, 10_000, "The subject companies in the member's scope."),
    settings: s.object({
      timezone: s.text({ max: 64 }),
      reminderLeadDays: s.integer({ max: 90 }),
      reminderHour: s.integer({ max: 23 }),
      reminderEscalationDays: s.integer({ max: 90 }),
      ownerScopeEnabled: s.flag(),
      preferences: Preferences,
    }),
  },
  { title: 'Session' },
);
export type Session = Static<typeof Session>;
