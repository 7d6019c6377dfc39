import { availableParallelism } from 'node:os';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { createChanges } from '../tenants/changes.js';
import { createDirectory, type Directory } from '../tenants/directory.js';
import type { Plans } from '../tenants/plans.js';
import { createTenants, type Tenants } from '../tenants/tenants.js';
import { createAccounts, type Accounts } from './accounts.js';
import { createAuthenticator, type Authenticator } from './authenticator.js';
import { createCodes, type Codes } from './codes.js';
import { createSigningKeys, type SigningKeys } from './keys.js';
import { createLoginLimits } from './limits.js';
import { createLogin } from './login.js';
import { createPasswordPolicy } from './password-policy.js';
import { createPasswords, type Argon2 } from './passwords.js';
import { createRefresh } from './refresh.js';
import { createSessionIssue, type Lifetime } from './session-issue.js';
import { createSessions, type Sessions } from './sessions.js';
import { createTokens } from './tokens.js';

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
  /** Refuses common passwords: in production. */
  readonly strictPasswords: boolean;
  readonly loginFailures: { readonly perAccount: number; readonly perIp: number };
  /** For tests that count the hashing. */
  readonly argon2?: Argon2;
}

/** Everything about who may come in. */
export interface Identity {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly authenticator: Authenticator;
  readonly keys: SigningKeys;
  readonly codes: Codes;
  readonly tenants: Tenants;
  readonly directory: Directory;
}

/** Puts the parts together. Makes the first signing key; throws SealError when the key ring cannot open the one that is there. */
export async function createIdentity(options: IdentityOptions): Promise<Identity> {
  const { database, clock, keyRing, plans, edition, publicUrl, accessTtl, refreshTtl } = options;
  const changes = createChanges();
  const ownOrigin = new URL(publicUrl).origin;
  const passwords = await createPasswords({ cores: availableParallelism(), ...(options.argon2 && { argon2: options.argon2 }) });
  const keys = await createSigningKeys({ database, clock, keyRing, tokenLifetimeMs: Math.max(accessTtl.ms, refreshTtl.ms) });
  const tokens = createTokens({ keys, clock, publicUrl, accessTtlMs: accessTtl.ms });
  const limits = createLoginLimits({ database, clock, failuresPerAccount: options.loginFailures.perAccount, failuresPerIp: options.loginFailures.perIp });
  const policy = createPasswordPolicy({ strict: options.strictPasswords });
  const issue = createSessionIssue({ clock, tokens, accessTtl, refreshTtl, ownOrigin });
  const directory = createDirectory({ database, clock, changes });
  const login = createLogin({ database, clock, passwords, limits, issue });
  const refresh = createRefresh({ database, clock, tokens, issue, changes, allowedOrigins: [ownOrigin, ...options.corsOrigins] });
  return {
    accounts: createAccounts({ database, clock, passwords, policy, limits, issue, registrationEnabled: options.registrationEnabled }),
    sessions: createSessions({ database, clock, changes, directory, edition, login, refresh, refreshLifetimeMs: issue.refreshLifetimeMs }),
    authenticator: createAuthenticator({ database, clock, tokens, plans, changes }),
    keys,
    codes: createCodes({ database, clock }),
    tenants: createTenants({ database, clock, passwords, changes }),
    directory,
  };
}
