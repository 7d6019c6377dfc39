import { randomToken } from '../data-plane-agent/base/secrets.js';
import { createPasswordPolicy } from '../server/credentials/password-policy.js';
import type { Cli } from './cli.js';
import { CommandError } from './errors.js';

const MIN_LENGTH = 8;
const MAX_LENGTH = 256;

/**
 * Takes the password from standard input when it is not empty, else asks on a terminal, else generates one. Throws
 * PASSWORD_LENGTH and PASSWORD_TOO_WEAK.
 */
export async function choosePassword(
  { io }: Pick<Cli, 'io'>,
  { email, tenantSlug }: { email: string; tenantSlug: string },
  { strict }: { strict: boolean },
): Promise<{ password: string; generated: boolean }> {
  const password = (await io.input()) || (io.interactive ? await askedTwice({ io }, email) : '');
  if (password === '') return { password: randomToken(18), generated: true };
  if (password.length < MIN_LENGTH || password.length > MAX_LENGTH)
    throw new CommandError(
      'PASSWORD_LENGTH',
      `the password must have ${MIN_LENGTH} to ${MAX_LENGTH} characters; nothing was created`,
    );
  await createPasswordPolicy({ strict })({ password, email, tenantSlug });
  return { password, generated: false };
}

async function askedTwice({ io }: Pick<Cli, 'io'>, email: string): Promise<string> {
  const first = await io.ask(`Password for ${email} (leave empty to generate one):  `, { hidden: true });
  if (first !== '' && (await io.ask('Once more: ', { hidden: true })) !== first)
    throw new CommandError('PASSWORDS_DIFFER', 'the two passwords differ; nothing was created');
  return first;
}
