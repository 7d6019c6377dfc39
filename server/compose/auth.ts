import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { Outbound } from '../../data-plane-agent/base/outbound.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Changes } from '../access/changes.js';
import type { Edition } from '../access/edition.js';
import type { Plans } from '../access/plans.js';
import { createAccounts } from '../auth/accounts.js';
import { createAuthenticator, type Authenticator } from '../auth/authenticator.js';
import { createCodes } from '../auth/codes.js';
import { createEmailCodes, type EmailFallback } from '../auth/email-code.js';
import { createEnrolment } from '../auth/enrolment.js';
import { createInvitations } from '../auth/invitations.js';
import { createSigningKeys } from '../auth/keys.js';
import { createLoginLimits } from '../auth/limits.js';
import { createLogin } from '../auth/login.js';
import { createMfa } from '../auth/mfa.js';
import { createPasskeys } from '../auth/passkeys.js';
import { createChangePassword } from '../auth/password-change.js';
import { createPasswordCheck } from '../auth/password-check.js';
import { createPasswordResets } from '../auth/password-reset.js';
import { createProfile } from '../auth/profile.js';
import { createRefresh } from '../auth/refresh.js';
import { createResolve } from '../auth/resolve.js';
import { createSecondFactor } from '../auth/second-factor.js';
import { createSessionIssue, type Lifetime } from '../auth/session-issue.js';
import { createSessions } from '../auth/sessions.js';
import { createSso } from '../auth/sso.js';
import type { SsoProvider } from '../auth/sso-providers.js';
import { createTokens } from '../auth/tokens.js';
import { createPasswordPolicy } from '../credentials/password-policy.js';
import type { Passwords } from '../credentials/passwords.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { AuthServices } from '../services/services.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import type { Directory } from '../tenants/directory.js';

/** The settings for authentication. */
export interface AuthOptions {
  readonly keyRing: KeyRing;
  /** As returned by `GET /auth/me`. */
  readonly edition: Edition;
  readonly publicUrl: string;
  /** Origins that may refresh by cookie, in addition to the service's own. */
  readonly corsOrigins: readonly string[];
  readonly accessTtl: Lifetime;
  readonly refreshTtl: Lifetime;
  readonly publicRegistrationEnabled: boolean;
  readonly passwordRules: 'on' | 'off';
  /** Lookups of an email's organisations per minute and IP address; 0 disables them. */
  readonly loginResolvesPerMinute: number;
  readonly loginFailuresPerAccount: number;
  readonly loginFailuresPerIp: number;
  /** Whether roles with admin (edit) need a second factor. */
  readonly mfaRequiredForAdmins: boolean;
  /** Who may use codes sent by mail instead of an authenticator. */
  readonly mfaEmailFallback: EmailFallback;
  /** The issuer name shown in authenticator apps. */
  readonly productName: string;
  /** The domain of passkeys, and the origins whose pages may request them. */
  readonly webauthnRpId: string;
  readonly webauthnOrigins: readonly string[];
  readonly ssoProviders?: readonly SsoProvider[] | undefined;
}

export interface AuthParts {
  /** The platform database, migrated. */
  readonly database: KeyedDatabase;
  readonly clock: Clock;
  readonly changes: Changes;
  readonly mail: MailOutbox;
  readonly log: Log;
  readonly passwords: Passwords;
  readonly signInMethods: SignInMethods;
  readonly plans: Plans;
  readonly directory: Directory;
  /** For requests to URLs set by the operator, and to URLs that these return. */
  readonly outbound: Outbound;
}

/** Creates the first signing key if needed; throws SealError if the key ring cannot decrypt the existing one. */
export async function composeAuth(
  settings: AuthOptions,
  parts: AuthParts,
): Promise<AuthServices & { readonly authenticator: Authenticator }> {
  const { keyRing, publicUrl, corsOrigins, accessTtl, refreshTtl } = settings;
  const { database, clock, changes, mail, passwords, signInMethods, directory } = parts;
  const ownOrigin = new URL(publicUrl).origin;
  const keys = await createSigningKeys({
    database,
    clock,
    keyRing,
    tokenLifetimeMs: Math.max(accessTtl.ms, refreshTtl.ms),
  });
  const tokens = createTokens({ keys, clock, publicUrl, accessTtlMs: accessTtl.ms });
  const issue = createSessionIssue({ clock, tokens, accessTtl, refreshTtl, ownOrigin });
  const limits = createLoginLimits({
    database,
    clock,
    failuresPerAccount: settings.loginFailuresPerAccount,
    failuresPerIp: settings.loginFailuresPerIp,
  });
  const policy = createPasswordPolicy({ strict: settings.passwordRules === 'on' });
  const passwordCheck = createPasswordCheck({ database, clock, passwords, limits });
  const secondFactor = createSecondFactor({ clock, keyRing, requiredForAdmins: settings.mfaRequiredForAdmins });
  const enrolment = createEnrolment({ clock, keyRing, signInMethods, issuer: settings.productName });
  const emailCodes = createEmailCodes({
    database,
    clock,
    keyRing,
    mail,
    passwordCheck,
    limits,
    fallback: settings.mfaEmailFallback,
  });
  const login = createLogin({
    database,
    clock,
    passwordCheck,
    limits,
    issue,
    secondFactor,
    enrolment,
    emailCodes,
    changes,
  });
  const refresh = createRefresh({
    database,
    clock,
    tokens,
    issue,
    changes,
    emailCodes,
    allowedOrigins: [ownOrigin, ...corsOrigins],
  });
  const relyingParty = { id: settings.webauthnRpId, origins: settings.webauthnOrigins, name: settings.productName };
  return {
    authenticator: createAuthenticator({
      directory,
      database,
      clock,
      tokens,
      plans: parts.plans,
      changes,
      secondFactor,
      emailCodes,
    }),
    accounts: createAccounts({
      database,
      clock,
      passwords,
      policy,
      limits,
      issue,
      registrationEnabled: settings.publicRegistrationEnabled,
    }),
    sessions: createSessions({
      database,
      clock,
      changes,
      directory,
      edition: settings.edition,
      login,
      refresh,
      refreshLifetimeMs: issue.refreshLifetimeMs,
    }),
    mfa: createMfa({ database, clock, limits, secondFactor, enrolment, signInMethods, changes }),
    emailCodes,
    profile: createProfile({ database, clock, changes }),
    resolve: createResolve({ database, clock, perMinute: settings.loginResolvesPerMinute }),
    passkeys: createPasskeys({ database, clock, keyRing, limits, issue, signInMethods, changes, relyingParty }),
    sso: createSso({
      database,
      clock,
      keyRing,
      issue,
      changes,
      mail,
      providers: settings.ssoProviders ?? [],
      outbound: parts.outbound,
      publicUrl,
      corsOrigins,
    }),
    keys,
    codes: createCodes({ database, clock }),
    invitations: createInvitations({
      database,
      clock,
      passwords,
      policy,
      issue,
      mail,
      signInMethods,
      changes,
      publicUrl,
    }),
    passwordResets: createPasswordResets({
      database,
      clock,
      passwords,
      policy,
      mail,
      changes,
      log: parts.log,
      publicUrl,
    }),
    changePassword: createChangePassword({
      database,
      clock,
      passwords,
      passwordCheck,
      policy,
      limits,
      signInMethods,
      changes,
    }),
  };
}
