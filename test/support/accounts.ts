import { createHash, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { createChanges } from '../../server/access/changes.js';
import { agentsOnly } from '../../server/data-planes/for-tenant.js';
import type { Authenticator } from '../../server/auth/authenticator.js';
import { NO_CHALLENGE, type BotChallenge } from '../../server/auth/challenge.js';
import { composeAuth, type AuthOptions, type AuthParts } from '../../server/compose/auth.js';
import { composeSender } from '../../server/compose/notifications.js';
import { composeTenants } from '../../server/compose/tenants.js';
import { createPasswords, type Argon2 } from '../../server/credentials/passwords.js';
import { createSignInMethods } from '../../server/credentials/sign-in-methods.js';
import type { PlanCode } from '../../server/access/permissions.js';
import type { AuthLoginResult } from '../../server/auth/auth.schemas.js';
import { authEndpoints } from '../../server/endpoints/auth.js';
import { mfaEndpoints } from '../../server/endpoints/mfa.js';
import { createMailOutbox } from '../../server/notifications/outbox.js';
import { profileEndpoints } from '../../server/endpoints/profile.js';
import { passkeyEndpoints } from '../../server/endpoints/passkeys.js';
import { sessionEndpoints } from '../../server/endpoints/sessions.js';
import type { Endpoints } from '../../server/http/mount.js';
import type { AuthServices, Services, TenantServices } from '../../server/services/services.js';
import { keyedDatabase } from '../../server/store/keyed-database.js';
import type { TargetPolicy } from '../../server/tenants/channel-targets.js';
import type { MailOutbox } from '../../server/notifications/mail.js';
import type { Actor } from '../../server/access/actor.js';
import type { MemberRecord } from '../../server/store/members.js';
import type { TenantRecord } from '../../server/store/tenants.js';
import { createOutbound } from '../../data-plane-agent/base/outbound.js';
import { LOOPBACK_RANGES } from '../../data-plane-agent/base/outbound-addresses.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { createPlans } from '../../server/access/plans.js';
import { fakeClock, type FakeClock } from './clock.js';
import type { Answer, Client } from './http.js';
import { once } from './once.js';
import { littleApp } from './little-app.js';

export const PASSWORD = 'Correct-Horse-42';
export const PUBLIC_URL = 'http://book.example.test';
export const OPERATOR: Actor = { kind: 'cli', id: null, name: 'operator', ip: null, requestId: 'test-request' };
const MINUTE_MS = 60_000;

/** The identity services and organisations: everything except contract data. */
export interface Identity extends AuthServices, TenantServices {
  readonly authenticator: Authenticator;
  readonly mail: MailOutbox;
  readonly challenge: BotChallenge;
}

export interface IdentityOptions extends AuthOptions, Pick<AuthParts, 'outbound' | 'plans'> {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly mail: MailOutbox;
  readonly tenantOutbound: TargetPolicy;
  readonly argon2: Argon2;
}

export interface TestIdentity extends Identity {
  readonly clock: FakeClock;
  readonly database: Database;
  readonly options: IdentityOptions;
}

/**
 * The product's identity services over a migrated database. Pass the `options` of an earlier call to create a second
 * replica.
 */
export async function startIdentity(
  database: Database,
  { mailConfigured = false, ...overrides }: Partial<IdentityOptions> & { mailConfigured?: boolean } = {},
): Promise<TestIdentity> {
  await migrate(database, PLATFORM_MIGRATIONS);
  const clock = overrides.clock ?? fakeClock();
  const keyRing = overrides.keyRing ?? parseKeyRing(generateKeyRingText());
  const options: IdentityOptions = {
    database,
    clock,
    keyRing,
    mail: createMailOutbox({ clock, keyRing, configured: mailConfigured }),
    plans: createPlans({ selfHosted: true }),
    edition: 'self_hosted',
    publicUrl: PUBLIC_URL,
    corsOrigins: ['https://partner.example.test'],
    accessTtl: { text: '15m', ms: 15 * MINUTE_MS },
    refreshTtl: { text: '30d', ms: 30 * 24 * 60 * MINUTE_MS },
    publicRegistrationEnabled: true,
    passwordRules: 'on',
    loginFailuresPerAccount: 10,
    loginFailuresPerIp: 100,
    loginResolvesPerMinute: 120,
    mfaRequiredForAdmins: false,
    mfaEmailFallback: 'all',
    productName: 'Duebook',
    webauthnRpId: new URL(PUBLIC_URL).hostname,
    webauthnOrigins: [PUBLIC_URL],
    argon2: onceArgon2,
    outbound: createOutbound({ allowPrivate: LOOPBACK_RANGES, production: false }),
    tenantOutbound: createOutbound({ allowPrivate: [], production: false }),
    ...overrides,
  };
  const { mail, argon2, outbound, plans, tenantOutbound } = options;
  const keyed = keyedDatabase({ database: options.database, clock, keyRing });
  const parts = {
    database: keyed,
    clock,
    mail,
    changes: createChanges(),
    passwords: await createPasswords({ cores: availableParallelism(), argon2 }),
    signInMethods: createSignInMethods({ clock, mail }),
  };
  const log = createLog({ level: 'silent', name: 'test' });
  const tenants = composeTenants(options, {
    ...parts,
    dataPlanes: agentsOnly(),
    outbound: tenantOutbound,
    sender: composeSender({ ...options, smtpUrl: undefined, mailFrom: undefined }, { clock, log, outbound }),
  });
  const auth = await composeAuth(options, {
    ...parts,
    log,
    plans,
    directory: tenants.directory,
    outbound,
  });
  return { ...auth, ...tenants, mail, challenge: NO_CHALLENGE, clock, database, options };
}

/** The identity endpoints over HTTP; `more` are additional endpoints of a test. */
export async function serveIdentity(
  identity: Identity,
  { more = {}, ...app }: { more?: Endpoints } & Parameters<typeof littleApp>[1] = {},
) {
  return littleApp(
    { ...authEndpoints, ...mfaEndpoints, ...profileEndpoints, ...sessionEndpoints, ...passkeyEndpoints, ...more },
    { ...app, api: { authenticator: identity.authenticator, services: identity as unknown as Services, ...app.api } },
  ); // without health, which these endpoints do not use
}

export interface MadeTenant {
  readonly tenant: TenantRecord;
  readonly owner: MemberRecord;
  readonly subjectId: string;
}

/** A new tenant, whose owner signs in with `PASSWORD`. */
export const makeTenant = (
  { tenants }: Pick<Identity, 'tenants'>,
  { planCode = 'enterprise', slug = uniqueSlug() }: { planCode?: PlanCode; slug?: string } = {},
): Promise<MadeTenant> =>
  tenants.create(
    {
      slug,
      name: `Org ${slug}`,
      planCode,
      owner: { name: 'Olive Owner', email: `owner@${slug}.test`, password: PASSWORD },
    },
    OPERATOR,
  );

/** A member of the tenant, who signs in with `PASSWORD`. */
export function makeMember(
  { tenants }: Pick<Identity, 'tenants'>,
  { tenant }: Pick<MadeTenant, 'tenant'>,
  {
    roleCode = 'viewer',
    subjectScope = null,
    email = `${roleCode}-${randomBytes(3).toString('hex')}@${tenant.slug}.test`,
  }: { roleCode?: string; subjectScope?: readonly string[] | null; email?: string } = {},
): Promise<MemberRecord> {
  return tenants.members.add(
    { tenantId: tenant.id, email, name: `A ${roleCode}`, roleCode, subjectScope, password: PASSWORD },
    OPERATOR,
  );
}

/** Signs in over HTTP; the client that comes back carries the access token. */
export async function signIn(
  client: Client,
  {
    tenant,
    member,
    password = PASSWORD,
  }: { tenant: Pick<TenantRecord, 'slug'>; member: Pick<MemberRecord, 'email'>; password?: string },
): Promise<{ client: Client; result: AuthLoginResult; answer: Answer<AuthLoginResult> }> {
  const answer = await client.post<AuthLoginResult>('/auth/login', {
    tenantSlug: tenant.slug,
    email: member.email,
    password,
  });
  if (answer.status !== 200) throw new Error(`sign-in answered ${answer.status}: ${answer.text}`);
  return { client: client.as(answer.body.accessToken), result: answer.body, answer };
}

export const uniqueSlug = (): string => `org-${createHash('sha256').update(randomBytes(8)).digest('hex').slice(0, 12)}`;

/**
 * The real hashing, with a cache, because it is slow by design: each password is hashed once, and each hash verified
 * once.
 */
export const onceArgon2: Argon2 = {
  hash: ((...given: Parameters<typeof hash>) =>
    once(hashes, JSON.stringify(given), () => hash(...given))) as typeof hash,
  verify: ((...given: Parameters<typeof verify>) =>
    once(verdicts, JSON.stringify(given), () => verify(...given))) as typeof verify,
};
const hashes = new Map<string, Promise<string>>();
const verdicts = new Map<string, Promise<boolean>>();

/** The real hashing, with a counter. */
export function countedArgon2(): Argon2 & { calls: number } {
  const counted = {
    calls: 0,
    hash: ((...given: Parameters<typeof hash>) => {
      counted.calls += 1;
      return hash(...given);
    }) as typeof hash,
    verify: ((...given: Parameters<typeof verify>) => {
      counted.calls += 1;
      return verify(...given);
    }) as typeof verify,
  };
  return counted;
}

/** The refresh cookie that an answer sets, attribute by attribute. */
export function cookieOf({ headers }: Answer<unknown>): string {
  return headers.getSetCookie().find((line) => line.startsWith('service_tenant_refresh=')) ?? '';
}
