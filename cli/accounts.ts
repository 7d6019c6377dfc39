import { isFailure } from '../data-plane-agent/base/failures.js';
import { createLoginLimits } from '../server/auth/limits.js';
import { createMemberAccess, type MemberAccess } from '../server/auth/member-access.js';
import { createPasswordPolicy } from '../server/credentials/password-policy.js';
import { createPasswords } from '../server/credentials/passwords.js';
import type { Config } from '../server/config.js';
import type { Cli } from './cli.js';
import { CommandError } from './errors.js';
import { withPlatform } from './installation.js';

/** The options by which a command names a member. */
export const TENANT_OPTION = ['--tenant <slug>', 'the organisation'] as const;
export const EMAIL_OPTION = ['--email <email>', "the member's email"] as const;

export interface AccountOptions {
  readonly tenant: string;
  readonly email: string;
  readonly json?: true;
}

/**
 * Runs an operator command on the members of an organisation. Throws NOT_FOUND, naming the missing organisation or
 * member.
 */
export async function withMemberAccess<T>(
  config: Config,
  { cli: { clock }, tenant, email }: { readonly cli: Cli; tenant: string; email?: string },
  work: (access: MemberAccess) => Promise<T>,
): Promise<T> {
  return withPlatform(config, async (database) => {
    const limits = createLoginLimits({
      database,
      clock,
      failuresPerAccount: config.loginFailuresPerAccount,
      failuresPerIp: config.loginFailuresPerIp,
    });
    const access = createMemberAccess({
      database,
      clock,
      passwords: await createPasswords({ cores: 1 }),
      policy: createPasswordPolicy({ strict: config.passwordRules === 'on' }),
      limits,
    });
    try {
      return await work(access);
    } catch (error) {
      if (!isFailure(error, 'NOT_FOUND')) throw error;
      throw new CommandError(
        'NOT_FOUND',
        email === undefined
          ? `there is no organisation ${tenant}`
          : `${email} is not an active member of an organisation ${tenant}`,
      );
    }
  });
}
