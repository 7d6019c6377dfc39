import { smtpEncryption } from '../../server/notifications/smtp-encryption.js';
import { greetSmtp, smtpCodeOf, smtpReasonOf } from '../../server/notifications/smtp.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

/** Timeout of greeting and sign-in together. */
const TIMEOUT_MS = 5_000;

/** The mail server answers and accepts user and password, if SMTP_URL has them. Sends no mail. */
export async function mailCheck({ values: { smtpUrl } }: Pick<LookedAt, 'values'>): Promise<Check> {
  if (smtpUrl === undefined)
    return check.warn(
      'mail',
      'no mail is sent: SMTP_URL is not set; invitation links must be passed on by hand, and passwords reset with "duebook members reset-password"',
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
      `${answers}; where it offers no TLS, mail is sent unencrypted`,
      'take requireTLS=false out of SMTP_URL, or use smtps://, if the mail server supports TLS',
    );
  } catch (error) {
    const code = smtpCodeOf(error);
    return check.fail('mail', `${server} cannot be used (${smtpReasonOf(error)})`, fixOf(code));
  }
}

/** The fix for an error code of nodemailer. */
function fixOf(code: string): string {
  if (/^(EAUTH|ENOAUTH|EOAUTH2)/.test(code)) return 'correct the user and password in SMTP_URL';
  if (code.startsWith('ETLS'))
    return 'check that the mail server supports STARTTLS and that its certificate is trusted here; use smtps:// for TLS from the start; for a relay without TLS add ?requireTLS=false to SMTP_URL';
  return 'check that host and port of SMTP_URL are correct and reachable from here, and with smtps:// that the certificate is trusted here';
}
