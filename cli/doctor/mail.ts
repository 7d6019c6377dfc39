import { smtpEncryption } from '../../server/notifications/smtp-encryption.js';
import { greetSmtp, smtpCodeOf } from '../../server/notifications/smtp.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/** How long the mail server has for greeting and sign-in together. */
const TIMEOUT_MS = 5_000;

/** The mail server answers and lets us in; one that asks nobody for a password is not asked to. Sends nothing. */
export async function mailCheck({ values: { smtpUrl } }: Pick<LookedAt, 'values'>): Promise<Check> {
  if (smtpUrl === undefined)
    return check.warn(
      'mail',
      'no mail is sent: SMTP_URL is not set; invitations have a link to be handed over by hand, and passwords are reset with "duebook members reset-password"',
      'set SMTP_URL and MAIL_FROM',
    );
  const { hostname, port, username } = new URL(smtpUrl);
  const server = `${hostname}${port === '' ? '' : `:${port}`}`;
  try {
    await greetSmtp({ url: smtpUrl, deadlineMs: TIMEOUT_MS });
    const answers = `${server} answers${username === '' ? '' : ' and does not refuse user and password'}`;
    if (smtpEncryption(smtpUrl) !== 'where offered') return check.ok('mail', answers);
    return check.warn(
      'mail',
      `${answers}; where it offers no TLS, mail goes through the network in the open`,
      'take requireTLS=false out of SMTP_URL, or use smtps://, when the mail server knows TLS',
    );
  } catch (error) {
    const code = smtpCodeOf(error);
    return check.fail('mail', `${server} cannot be used (${code})`, fixOf(code));
  }
}

/** By the library's code, of which the first word is enough. */
function fixOf(code: string): string {
  if (/^(EAUTH|ENOAUTH|EOAUTH2)/.test(code)) return 'correct user and password in SMTP_URL';
  if (code.startsWith('ETLS'))
    return 'look whether the mail server knows STARTTLS and its certificate is trusted here; smtps:// speaks TLS from the start; for a relay without it add ?requireTLS=false to SMTP_URL';
  return 'look whether host and port of SMTP_URL are right and can be reached from here, and with smtps:// whether the certificate is trusted here';
}
