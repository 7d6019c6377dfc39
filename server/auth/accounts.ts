import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { RedeemCodeStore } from '../store/redeem-codes.js';
import { TenantStore } from '../store/tenants.js';
import { insertTenant } from '../tenants/new-tenant.js';
import { codeHash } from './codes.js';
import type { LoginLimits } from './limits.js';
import type { PasswordPolicy } from '../credentials/password-policy.js';
import type { Passwords } from '../credentials/passwords.js';
import type { PlanCode } from '../access/permissions.js';
import type { SessionIssue } from './session-issue.js';
import type { NameProfile } from '../access/person.schemas.js';
import type { AuthLoginResult } from './auth.schemas.js';

export interface Registration {
  readonly tenantName: string;
  readonly tenantSlug: string;
  readonly adminName: string;
  readonly nameProfile?: NameProfile | null;
  /** Lower-cased. */
  readonly email: string;
  readonly password: string;
  readonly subjectName?: string | null;
}

/**
 * Registration of organisations: creates tenant, first subject company, roles, owner and a session in one transaction.
 */
export interface Accounts {
  /** Registers on the plan `free`. Throws REGISTRATION_DISABLED, PASSWORD_TOO_WEAK, TENANT_SLUG_TAKEN. */
  register(registration: Registration, request: RequestInfo): Promise<AuthLoginResult>;
  /**
   * Registers on the code's plan, also if registration is disabled. Throws REDEEM_CODE_INVALID for unknown, used,
   * revoked and expired codes.
   */
  redeem(registration: Registration & { readonly code: string }, request: RequestInfo): Promise<AuthLoginResult>;
}

export function createAccounts({
  database,
  clock,
  passwords,
  policy,
  limits,
  issue,
  registrationEnabled,
}: {
  database: Database;
  clock: Clock;
  passwords: Passwords;
  policy: PasswordPolicy;
  limits: LoginLimits;
  issue: SessionIssue;
  registrationEnabled: boolean;
}): Accounts {
  const scope = { tenantId: null };

  const signUp = async (
    registration: Registration,
    {
      planCode,
      request,
      also,
    }: { planCode: PlanCode; request: RequestInfo; also?: (tx: Transaction, tenantId: string) => Promise<void> },
  ): Promise<AuthLoginResult> => {
    const { tenantSlug, tenantName, subjectName, adminName, nameProfile, email, password } = registration;
    await policy({ password, email, tenantSlug });
    // Checked first to avoid needless hashing; the transaction checks again.
    if (await database.read(scope, (tx) => new TenantStore(tx).bySlug(tenantSlug)))
      throw fail('TENANT_SLUG_TAKEN', { tenantSlug });
    const passwordHash = await passwords.hash(password);
    const entry = await database.write(scope, async (tx) => {
      const draft = {
        slug: tenantSlug,
        name: tenantName,
        planCode,
        subjectName,
        owner: { name: adminName, nameProfile, email, passwordHash },
      };
      const { tenant, owner } = await insertTenant(tx, draft, {
        at: clock.now(),
        actor: { ip: request.ip, requestId: request.id },
      });
      await also?.(tx, tenant.id);
      return { tenant, member: owner, session: await issue.open(tx, { member: owner, request, way: 'registration' }) };
    });
    return issue.loginResult(entry);
  };

  return {
    register: async (registration, request) => {
      if (!registrationEnabled) throw fail('REGISTRATION_DISABLED', {});
      return signUp(registration, { planCode: 'free', request });
    },

    redeem: async ({ code, ...registration }, request) => {
      const attempt = { account: null, ip: request.ip };
      await limits.refuseLocked(attempt);
      const usable = await database.read(scope, (tx) =>
        new RedeemCodeStore(tx).usable({ codeHash: codeHash(code), at: clock.now() }),
      );
      if (!usable) {
        const wait = await database.write(scope, (tx) => limits.failed(tx, attempt));
        throw wait === undefined ? fail('REDEEM_CODE_INVALID', {}) : fail('RATE_LIMITED', { retryAfterSeconds: wait });
      }
      const also = async (tx: Transaction, tenantId: string): Promise<void> => {
        if (!(await new RedeemCodeStore(tx).take({ id: usable.id, tenantId, at: clock.now() })))
          throw fail('REDEEM_CODE_INVALID', {});
      };
      return signUp(registration, { planCode: usable.planCode, request, also });
    },
  };
}
