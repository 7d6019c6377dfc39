import { resolve } from 'node:path';
import {
  boolean,
  cidrs,
  duration,
  integer,
  json,
  list,
  oneOf,
  origin,
  origins,
  readConfig,
  setting,
  text,
  url,
  type ConfigResult,
  type DefaultContext,
  type Fault,
  type Kind,
  type Rule,
  type RuleContext,
  type Values,
} from '../data-plane-agent/base/config.js';
import { sqlitePath } from '../data-plane-agent/base/database/open.js';
import { isLoopback } from '../data-plane-agent/base/loopback.js';
import type { KeyRing } from '../data-plane-agent/base/secrets.js';
import { TRACING_REFUSALS, TRACING_SETTINGS } from '../data-plane-agent/base/tracing/settings.js';
import {
  BACKUP_SETTINGS,
  databaseDefault,
  HOST_CAUTIONS,
  HOST_REFUSALS,
  HOST_SETTINGS,
  PROCESS_SETTINGS,
  readableOnItsWay,
} from '../data-plane-agent/host/settings.js';
import { EDITIONS } from './access/edition.js';
import { CHALLENGE_PROVIDERS } from './auth/challenge.js';
import { EMAIL_FALLBACKS } from './auth/email-code.js';
import { parseMailAddress, type MailAddress } from './notifications/address.js';
import { contractLinkTemplate } from './notifications/contract-link.js';
import { smtpEncryption } from './notifications/smtp-encryption.js';
import { parseSsoProviders, withoutTenants } from './auth/sso-providers.js';
import { CALENDAR_REFUSALS, CALENDAR_SETTINGS } from './integrations/calendar/settings.js';
import { parsePlanCatalog, type PlanCatalog } from './access/plans.js';
import { GATEWAY_SETTINGS } from './integrations/ai-gateway/settings.js';
import { HTTP_SETTINGS } from './http/settings.js';
import { WORKERS_REFUSALS, WORKERS_SETTING } from './workers-setting.js';

/** An invalid port is reported for PORT only. */
const localAddress = ({ textOf }: DefaultContext): string => {
  const address = `http://localhost:${/^\d{1,5}$/.exec(textOf('PORT') ?? '')?.[0] ?? ''}`;
  return URL.canParse(address) ? address : 'http://localhost';
};
/** An invalid URL is reported for PUBLIC_URL only, not for settings derived from it. */
const publicAddress = ({ textOf }: DefaultContext): URL | undefined => {
  const given = textOf('PUBLIC_URL') ?? '';
  const parsed = URL.canParse(given) ? new URL(given) : undefined;
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed : undefined;
};
const production = (context: DefaultContext) => context.production;

/** All settings of the server. `duebook config` and the documentation are generated from this list. */
export const SETTINGS = {
  edition: setting({
    name: 'EDITION',
    about: 'How the product is operated: it determines where data planes run and which features plans include.',
    kind: oneOf(...EDITIONS),
    default: 'self_hosted',
  }),
  host: PROCESS_SETTINGS.host,
  port: PROCESS_SETTINGS.port,
  workers: WORKERS_SETTING,
  publicUrl: setting({
    name: 'PUBLIC_URL',
    about: 'The URL of the service for users: used in links, cookies and as the issuer of tokens.',
    kind: origin(),
    default: localAddress,
  }),
  dataDir: PROCESS_SETTINGS.dataDir,
  platformDatabaseUrl: setting({
    name: 'PLATFORM_DATABASE_URL',
    about: 'Database of tenants, members and sessions.',
    kind: url({ protocols: ['sqlite', 'postgres', 'postgresql'] }),
    default: databaseDefault('platform.db'),
  }),
  ...HOST_SETTINGS,
  accessTtl: setting({
    name: 'JWT_ACCESS_TTL',
    about: 'Lifetime of an access token.',
    kind: duration({ maxMs: 24 * 3_600_000 }),
    default: '15m',
  }),
  refreshTtl: setting({
    name: 'JWT_REFRESH_TTL',
    about: 'How long a session may be idle.',
    kind: duration(),
    default: '30d',
  }),
  publicRegistrationEnabled: setting({
    name: 'PUBLIC_REGISTRATION_ENABLED',
    about: 'Whether anyone may register an organisation.',
    kind: boolean(),
    default: (context) => !production(context),
  }),
  mfaRequiredForAdmins: setting({
    name: 'MFA_REQUIRED_FOR_ADMINS',
    about: 'Whether roles with admin (edit) need a second factor.',
    kind: boolean(),
    default: production,
  }),
  mfaEmailFallback: setting({
    name: 'MFA_EMAIL_FALLBACK',
    about:
      'Who may sign in with a code sent by mail instead of the authenticator: all, members (not roles with admin (edit)), or off. Never within 24 hours of a password reset or an email change.',
    kind: oneOf(...EMAIL_FALLBACKS),
    default: (context) => (production(context) ? 'members' : 'all'),
  }),
  passwordRules: setting({
    name: 'PASSWORD_RULES',
    about:
      "Whether to refuse new passwords that are common, known from breaches, or contain the email name or the organisation's slug.",
    kind: oneOf('on', 'off'),
    default: 'on',
  }),
  loginFailuresPerAccount: setting({
    name: 'LOGIN_FAILURES_PER_ACCOUNT',
    about: 'Failed sign-ins of an account before it is locked temporarily; 0 means no limit.',
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 10,
  }),
  loginFailuresPerIp: setting({
    name: 'LOGIN_FAILURES_PER_IP',
    about: 'Failed sign-ins from one IP address in 15 minutes before it is locked; 0 means no limit.',
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 100,
  }),
  loginResolvesPerMinute: setting({
    name: 'LOGIN_RESOLVES_PER_MINUTE',
    about: 'Lookups of the organisations of an email address per minute and IP address; 0 disables the lookup.',
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 120,
  }),
  ...HTTP_SETTINGS,
  peerUrl: setting({
    name: 'PEER_URL',
    about:
      'Where other replicas of this service reach this one, such as http://10.1.2.3:3000, to forward requests for agents that are connected here. Defaults to its port on this machine; only used with EDITION=enterprise_hybrid.',
    kind: origin(),
  }),
  productName: setting({
    name: 'PRODUCT_NAME',
    about: 'The name of the service in pages and mails.',
    kind: text({ max: 80 }),
    default: 'Duebook',
  }),
  contractLink: setting({
    name: 'CONTRACT_LINK',
    about:
      'The address of a contract in your own console, such as https://console.example.com/contracts/{contractId}: notifications link to it. Without it they have no link.',
    kind: contractLinkTemplate(),
  }),
  planCatalog: setting({
    name: 'PLAN_CATALOG',
    about: 'The features of each plan, as JSON; PLAN_CATALOG_FILE reads it from a file.',
    kind: planCatalog(),
  }),
  smtpUrl: setting({
    name: 'SMTP_URL',
    about:
      'Mail server, as smtp://user:password@host:587 or smtps://…; without it no mail is sent, and the audit log says so. To another machine, smtp:// requires STARTTLS unless the URL has ?requireTLS=false.',
    kind: url({ protocols: ['smtp', 'smtps'] }),
    secret: true,
  }),
  mailFrom: setting({
    name: 'MAIL_FROM',
    about: 'Sender of mail, as name <address>; required with SMTP_URL.',
    kind: mailAddress(),
  }),
  botChallengeProvider: setting({
    name: 'BOT_CHALLENGE_PROVIDER',
    about: 'Provider of the bot challenge for public endpoints: registration, sign-in, invitations, password reset.',
    kind: oneOf(...CHALLENGE_PROVIDERS),
    default: 'none',
  }),
  botChallengeSecret: setting({
    name: 'BOT_CHALLENGE_SECRET',
    about: "The provider's secret for this installation; required with BOT_CHALLENGE_PROVIDER.",
    kind: text({ max: 500 }),
    secret: true,
  }),
  botChallengeVerifyUrl: setting({
    name: 'BOT_CHALLENGE_VERIFY_URL',
    about: "URL to verify tokens; defaults to the provider's URL.",
    kind: url({ protocols: ['http', 'https'] }),
  }),
  botChallengeHostnames: setting({
    name: 'BOT_CHALLENGE_HOSTNAMES',
    about: 'Hosts whose pages may present the challenge, comma-separated; if empty, the provider decides.',
    kind: list(),
    default: '',
  }),
  webauthnRpId: setting({
    name: 'WEBAUTHN_RP_ID',
    about:
      'Domain of passkeys; defaults to the host of PUBLIC_URL. After a change, existing passkeys can no longer be used.',
    kind: text({ max: 253 }),
    default: (context) => publicAddress(context)?.hostname ?? '',
  }),
  webauthnOrigins: setting({
    name: 'WEBAUTHN_ORIGINS',
    about: 'Origins whose pages may request passkeys, comma-separated; on that domain or its subdomains.',
    kind: origins(),
    default: (context) => publicAddress(context)?.origin ?? '',
  }),
  ssoProviders: setting({
    name: 'SSO_PROVIDERS',
    about: 'Up to five OpenID Connect providers for signing in, as JSON; SSO_PROVIDERS_FILE reads it from a file.',
    kind: json(parseSsoProviders),
    secret: true,
  }),
  ...GATEWAY_SETTINGS,
  ...CALENDAR_SETTINGS,
  outboundAllowPrivate: setting({
    name: 'OUTBOUND_ALLOW_PRIVATE',
    about:
      'Private address ranges that outbound requests to user-supplied addresses may access, comma-separated, such as 10.0.0.0/8. Loopback must be listed too; link-local and metadata addresses are never allowed.',
    kind: cidrs(),
    default: '',
  }),
  ...BACKUP_SETTINGS,
  backupPlatformDatabaseUrl: setting({
    name: 'BACKUP_PLATFORM_DATABASE_URL',
    about: 'The database of PLATFORM_DATABASE_URL as another role, for pg_dump; usually not needed.',
    kind: url({ protocols: ['postgres', 'postgresql'] }),
  }),
  logLevel: PROCESS_SETTINGS.logLevel,
  metricsToken: PROCESS_SETTINGS.metricsToken,
  ...TRACING_SETTINGS,
} as const;

export type Config = Omit<Values<typeof SETTINGS>, 'keyRing'> & {
  /** Required in production; elsewhere generated if not set. */
  readonly keyRing: KeyRing;
  /** `NODE_ENV=production`. */
  readonly production: boolean;
};

const refusals: readonly Rule<typeof SETTINGS>[] = [
  ({ publicUrl }, context) =>
    context.production && publicUrl.startsWith('http:') && !isLoopback(publicUrl)
      ? [{ name: 'PUBLIC_URL', problem: 'must be https in production, unless it is a loopback address' }]
      : [],
  ({ smtpUrl, mailFrom }) =>
    smtpUrl !== undefined && mailFrom === undefined
      ? [{ name: 'MAIL_FROM', problem: 'is required with SMTP_URL' }]
      : [],
  ({ botChallengeProvider, botChallengeSecret }) =>
    botChallengeProvider !== 'none' && botChallengeSecret === undefined
      ? [{ name: 'BOT_CHALLENGE_SECRET', problem: 'is required with BOT_CHALLENGE_PROVIDER' }]
      : [],
  ({ webauthnRpId, webauthnOrigins }) =>
    webauthnOrigins
      .map((address) => new URL(address).hostname)
      .filter((host) => host !== webauthnRpId && !host.endsWith(`.${webauthnRpId}`))
      .map((host) => ({
        name: 'WEBAUTHN_RP_ID',
        problem: `must be ${host} or one of its parent domains, because WEBAUTHN_ORIGINS contains ${host}`,
      })),
  ...WORKERS_REFUSALS,
  ...HOST_REFUSALS,
  ...CALENDAR_REFUSALS,
  ...TRACING_REFUSALS,
  ({ ssoProviders = [] }, context) =>
    ssoProviders
      .filter(({ issuer }) => context.production && issuer.startsWith('http:'))
      .map(({ id }) => ({
        name: 'SSO_PROVIDERS',
        problem: `has an http issuer (${id}): in production it must be https`,
      })),
  ({ ssoProviders = [] }, context) =>
    (context.production ? withoutTenants(ssoProviders) : []).map((id) => ({
      name: 'SSO_PROVIDERS',
      problem: `has several providers, and one of them has no tenants (${id}): list the organisations that it serves, or "*" alone for all`,
    })),
];

const cautions: readonly Rule<typeof SETTINGS>[] = [
  ({ ssoProviders = [] }, context) =>
    (context.production ? [] : withoutTenants(ssoProviders)).map((id) => ({
      name: 'SSO_PROVIDERS',
      problem: `has several providers, and one of them has no tenants (${id}): it serves every organisation; in production this is refused`,
    })),
  ({ mfaRequiredForAdmins }, context) =>
    context.production && !mfaRequiredForAdmins
      ? [{ name: 'MFA_REQUIRED_FOR_ADMINS', problem: 'is false: admins sign in with a password alone' }]
      : [],
  ({ mfaEmailFallback }, context) =>
    context.production && mfaEmailFallback === 'all'
      ? [
          {
            name: 'MFA_EMAIL_FALLBACK',
            problem: "is all: an admin's mailbox and password are enough to sign in, without the authenticator",
          },
        ]
      : [],
  ({ passwordRules }, context) =>
    context.production && passwordRules === 'off'
      ? [{ name: 'PASSWORD_RULES', problem: 'is off: members may choose passwords that are easy to guess' }]
      : [],
  ({ publicRegistrationEnabled }, context) =>
    context.production && publicRegistrationEnabled
      ? [{ name: 'PUBLIC_REGISTRATION_ENABLED', problem: 'is true: anyone may register an organisation' }]
      : [],
  ({ smtpUrl }) =>
    smtpUrl !== undefined && smtpEncryption(smtpUrl) === 'where offered'
      ? [
          {
            name: 'SMTP_URL',
            problem:
              'has requireTLS=false: if the mail server offers no TLS, mail with sign-in links is sent unencrypted',
          },
        ]
      : [],
  ({ edition, platformDatabaseUrl, tenantDatabaseUrl }, { isDefault }) => {
    if (edition === 'enterprise_hybrid') return [];
    const platform = { name: 'PLATFORM_DATABASE_URL', stored: 'accounts', file: sqlitePath(platformDatabaseUrl) };
    const tenant = { name: 'TENANT_DATABASE_URL', stored: 'contract data', file: sqlitePath(tenantDatabaseUrl) };
    return [
      ...forgottenDatabase(platform, { isDefault, other: tenant }),
      ...forgottenDatabase(tenant, { isDefault, other: platform }),
    ];
  },
  ({ platformDatabaseUrl }) => readableOnItsWay('PLATFORM_DATABASE_URL', platformDatabaseUrl),
  ...HOST_CAUTIONS,
];

/**
 * Reads the settings and reports all faults at once. `secretKeys` are generated keys, for an environment that sets
 * none.
 */
export function readServerConfig(
  env: NodeJS.ProcessEnv,
  { secretKeys, readFile }: { secretKeys?: string | undefined; readFile?: (path: string) => string } = {},
): ConfigResult<typeof SETTINGS> {
  return readConfig(SETTINGS, env, {
    production: isProduction(env),
    rules: refusals,
    cautions,
    ...(secretKeys === undefined ? {} : { generated: { SECRET_KEYS: secretKeys } }),
    ...(readFile ? { readFile } : {}),
  });
}

interface Stored {
  readonly name: string;
  readonly stored: string;
  /** Undefined for PostgreSQL. */
  readonly file: string | undefined;
}

/** Warns if only the other database is PostgreSQL, unless the SQLite file was set on purpose. */
const forgottenDatabase = (
  { name, stored, file }: Stored,
  { isDefault, other }: { readonly isDefault: RuleContext['isDefault']; readonly other: Stored },
): Fault[] =>
  file !== undefined && other.file === undefined && isDefault(name)
    ? [
        {
          name,
          problem: `is not set, but ${other.name} is PostgreSQL: ${stored} are stored in the SQLite file ${resolve(file)}; set ${name} to a second PostgreSQL database, or to sqlite:${resolve(file)} if that is intended`,
        },
      ]
    : [];

export const isProduction = (env: NodeJS.ProcessEnv): boolean => env.NODE_ENV === 'production';

function mailAddress(): Kind<MailAddress> {
  return {
    parse: (given) => {
      const value = parseMailAddress(given);
      return value
        ? { ok: true, value }
        : { ok: false, problem: 'must be an address such as Duebook <duebook@example.com>' };
    },
    show: ({ name, address }) => (name === '' ? address : `${name} <${address}>`),
  };
}

function planCatalog(): Kind<PlanCatalog> {
  return {
    parse: (given) => {
      const read = parsePlanCatalog(given);
      return read.ok
        ? { ok: true, value: read.catalog }
        : {
            ok: false,
            problem: `is not a plan catalogue: ${read.issues.map(({ path, problem }) => `${path} ${problem}`.trim()).join('; ')}`,
          };
    },
    show: (value) => JSON.stringify(value),
  };
}
