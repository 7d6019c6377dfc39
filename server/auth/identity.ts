import { availableParallelism } from 'node:os';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { Outbound } from '../../data-plane-agent/base/outbound.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { createChanges } from '../access/changes.js';
import { createDirectory, type Directory } from '../tenants/directory.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { TargetPolicy } from '../tenants/channel-targets.js';
import { keyedDatabase } from '../store/keyed-database.js';
import type { Plans } from '../access/plans.js';
import { createTenants, type Tenants } from '../tenants/tenants.js';
import { createAccounts, type Accounts } from './accounts.js';
import { createAuthenticator, type Authenticator } from './authenticator.js';
import { NO_CHALLENGE, type BotChallenge } from './challenge.js';
import { createCodes, type Codes } from './codes.js';
import { createInvitations, type Invitations } from './invitations.js';
import { createEmailCodes, type EmailCodes, type EmailFallback } from './email-code.js';
import { createEnrolment } from './enrolment.js';
import { createSigningKeys, type SigningKeys } from './keys.js';
import { createLoginLimits } from './limits.js';
import { createLogin } from './login.js';
import { createMfa, type Mfa } from './mfa.js';
import { createPasskeys, type Passkeys } from './passkeys.js';
import type { RelyingParty } from './passkeys-ceremony.js';
import { createPasswordCheck } from './password-check.js';
import { createPasswordPolicy } from '../credentials/password-policy.js';
import { createPasswordResets, type PasswordResets } from './password-reset.js';
import { createPasswords, type Argon2 } from '../credentials/passwords.js';
import { createProfile, type Profile } from './profile.js';
import { createRefresh } from './refresh.js';
import { createResolve, type Resolve } from './resolve.js';
import { createSecondFactor } from './second-factor.js';
import { createSessionIssue, type Lifetime } from './session-issue.js';
import { createSessions, type Sessions } from './sessions.js';
import { createSso, type Sso } from './sso.js';
import type { SsoProvider } from './sso-providers.js';
import { createTokens } from './tokens.js';
import { createWaysIn } from '../credentials/ways-in.js';

export interface IdentityOptions {
  /** The platform database, migrated. */
  readonly database: Database;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly plans: Plans;
  /** As `GET /auth/me` tells it. */
  readonly edition: string;
  readonly publicUrl: string;
  /** `CORS_ORIGINS`: pages that may refresh by cookie beside the service's own. */
  readonly corsOrigins: readonly string[];
  readonly accessTtl: Lifetime;
  readonly refreshTtl: Lifetime;
  readonly registrationEnabled: boolean;
  /** Refuses common and breached passwords: unless `PASSWORD_RULES` is off. */
  readonly strictPasswords: boolean;
  readonly mail: MailOutbox;
  /** Off unless given. */
  readonly challenge?: BotChallenge;
  /** To whom passkeys belong, and on whose pages they are asked for. */
  readonly relyingParty: Omit<RelyingParty, 'name'>;
  readonly ssoProviders: readonly SsoProvider[];
  /** For requests to addresses that the operator has set, and to those that they lead to. */
  readonly outbound: Outbound;
  readonly loginFailures: { readonly perAccount: number; readonly perIp: number };
  /** Look-ups of an email's organisations from one address in a minute; 0 switches them off. */
  readonly resolvesPerMinute: number;
  /** Whether roles with admin (edit) need a second factor. */
  readonly mfaRequiredForAdmins: boolean;
  /** For whom codes by mail stand in for an authenticator. */
  readonly emailFallback: EmailFallback;
  /** What authenticator apps say whose code it is. */
  readonly productName: string;
  /** Which addresses of tenants' may be called: their channels', their data planes'. */
  readonly tenantOutbound: TargetPolicy;
  /** Contract data is behind agents. */
  readonly linked: boolean;
  /** For tests that count the hashing. */
  readonly argon2?: Argon2;
}

/** Everything about who may come in. */
export interface Identity {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly mfa: Mfa;
  readonly emailCodes: EmailCodes;
  readonly profile: Profile;
  readonly resolve: Resolve;
  readonly authenticator: Authenticator;
  readonly passkeys: Passkeys;
  readonly sso: Sso;
  readonly keys: SigningKeys;
  readonly codes: Codes;
  readonly invitations: Invitations;
  readonly passwordResets: PasswordResets;
  /** Asked by the handler, for every endpoint whose body has a `challengeToken`. */
  readonly challenge: BotChallenge;
  readonly mail: MailOutbox;
  readonly tenants: Tenants;
  readonly directory: Directory;
}

/** Puts the parts together. Makes the first signing key; throws SealError when the key ring cannot open the one that is there. */
export async function createIdentity(options: IdentityOptions): Promise<Identity> {
  const { database, clock, keyRing, plans, edition, publicUrl, accessTtl, refreshTtl, mail } = options;
  const changes = createChanges();
  const keyed = keyedDatabase({ database, clock, keyRing });
  const ownOrigin = new URL(publicUrl).origin;
  const passwords = await createPasswords({ cores: availableParallelism(), ...(options.argon2 && { argon2: options.argon2 }) });
  const keys = await createSigningKeys({ database, clock, keyRing, tokenLifetimeMs: Math.max(accessTtl.ms, refreshTtl.ms) });
  const tokens = createTokens({ keys, clock, publicUrl, accessTtlMs: accessTtl.ms });
  const limits = createLoginLimits({ database, clock, failuresPerAccount: options.loginFailures.perAccount, failuresPerIp: options.loginFailures.perIp });
  const policy = createPasswordPolicy({ strict: options.strictPasswords });
  const issue = createSessionIssue({ clock, tokens, accessTtl, refreshTtl, ownOrigin });
  const directory = createDirectory({ database, clock, changes });
  const passwordCheck = createPasswordCheck({ database, clock, passwords, limits });
  const secondFactor = createSecondFactor({ clock, keyRing, requiredForAdmins: options.mfaRequiredForAdmins });
  const waysIn = createWaysIn({ clock, mail });
  const enrolment = createEnrolment({ clock, keyRing, waysIn, issuer: options.productName });
  const emailCodes = createEmailCodes({ database, clock, keyRing, mail, passwordCheck, limits, fallback: options.emailFallback });
  const login = createLogin({ database, clock, passwordCheck, limits, issue, secondFactor, enrolment, emailCodes, changes });
  const refresh = createRefresh({ database, clock, tokens, issue, changes, emailCodes, allowedOrigins: [ownOrigin, ...options.corsOrigins] });
  return {
    accounts: createAccounts({ database, clock, passwords, policy, limits, issue, registrationEnabled: options.registrationEnabled }),
    sessions: createSessions({ database, clock, changes, directory, edition, login, refresh, refreshLifetimeMs: issue.refreshLifetimeMs }),
    authenticator: createAuthenticator({ database, clock, tokens, plans, changes, secondFactor, emailCodes }),
    mfa: createMfa({ database, clock, limits, secondFactor, enrolment, waysIn, changes }),
    emailCodes,
    profile: createProfile({ database, clock, changes }),
    resolve: createResolve({ database, clock, perMinute: options.resolvesPerMinute }),
    passkeys: createPasskeys({ database, clock, keyRing, limits, issue, waysIn, changes, relyingParty: { ...options.relyingParty, name: options.productName } }),
    sso: createSso({ database, clock, keyRing, issue, changes, mail, providers: options.ssoProviders, outbound: options.outbound, publicUrl, corsOrigins: options.corsOrigins }),
    keys,
    codes: createCodes({ database, clock }),
    invitations: createInvitations({ database: keyed, clock, passwords, policy, issue, mail, waysIn, changes, publicUrl }),
    passwordResets: createPasswordResets({ database, clock, passwords, policy, mail, changes, publicUrl }),
    challenge: options.challenge ?? NO_CHALLENGE,
    mail,
    tenants: createTenants({ database: keyed, clock, keyRing, passwords, changes, mail, waysIn, outbound: options.tenantOutbound, mfaRequired: options.mfaRequiredForAdmins, linked: options.linked }),
    directory,
  };
}
