import { s, type Static } from '../../data-plane-agent/base/schema.js';
import { FEATURES, LEVELS, MODULES } from './permissions.js';

/** Part 2.5 of the API document. */
export const NameProfile = s.object(
  {
    givenName: s.optional(s.text({ max: 100 })),
    familyName: s.optional(s.text({ max: 100 })),
    nameOrder: s.optional(s.enum(['given_first', 'family_first'])),
    phoneticGivenName: s.optional(s.text({ max: 100 })),
    phoneticFamilyName: s.optional(s.text({ max: 100 })),
    preferredDisplayName: s.optional(s.text({ max: 100 })),
    nameLocaleRegion: s.optional(s.text({ max: 35 })),
  },
  { title: 'NameProfile' },
);
export type NameProfile = Static<typeof NameProfile>;

/** Part 2.4. */
export const AuthUserSummary = s.object(
  {
    id: s.id(),
    email: s.text({ max: 254 }),
    name: s.text({ max: 80 }),
    nameProfile: s.nullable(NameProfile),
    status: s.enum(['active', 'disabled']),
    roleCode: s.text({ max: 64 }),
    subjectScope: s.nullable(s.list(s.id(), 1_000, 'Subject companies that the member may see; null is all, an empty list none.')),
  },
  { title: 'AuthUserSummary' },
);
export type AuthUserSummary = Static<typeof AuthUserSummary>;

const tokens = {
  accessToken: s.verbatim({ max: 100_000, about: 'JWT; lifetime `JWT_ACCESS_TTL`.' }),
  refreshToken: s.verbatim({ max: 4_096, about: 'JWT; lifetime `JWT_REFRESH_TTL`. Each refresh replaces it; using a replaced one again ends the session.' }),
  expiresIn: s.text({ max: 20, about: 'The access token\'s lifetime as it was configured, such as `15m`.' }),
};

/** Part 2.1. */
export const TokenPair = s.object(tokens, { title: 'TokenPair' });
export type TokenPair = Static<typeof TokenPair>;

const tenant = { id: s.id(), slug: s.text({ max: 64 }), name: s.text({ max: 80 }) };

/** Part 2.2. */
export const AuthLoginResult = s.object({ ...tokens, tenant: s.object(tenant), user: AuthUserSummary }, { title: 'AuthLoginResult' });
export type AuthLoginResult = Static<typeof AuthLoginResult>;

export const SubjectCompany = s.object(
  {
    id: s.id(),
    name: s.text(),
    legalName: s.nullable(s.text()),
    taxNo: s.nullable(s.text()),
    defaultPayeeAccount: s.nullable(s.text()),
    defaultPayeeBank: s.nullable(s.text()),
    createdAt: s.instant(),
    updatedAt: s.instant(),
  },
  { title: 'SubjectCompany' },
);

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

/** Part 2.6. */
export const Session = s.object(
  {
    user: AuthUserSummary,
    tenant: s.object({ ...tenant, edition: s.text({ max: 40 }) }),
    permissions: s.object(Object.fromEntries(MODULES.map((module) => [module, s.enum(LEVELS)]))),
    featureFlags: s.object(Object.fromEntries(FEATURES.map((feature) => [feature, s.flag()]))),
    subjects: s.list(SubjectCompany, 10_000, 'Only those within the member\'s scope.'),
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
