import { isLoopback } from '../data-plane-agent/base/loopback.js';
import type { Config } from './config.js';

/** The settings that decide how strict an installation is. */
export type StrictnessSettings = Pick<
  Config,
  | 'publicRegistrationEnabled'
  | 'mfaRequiredForAdmins'
  | 'mfaEmailFallback'
  | 'passwordRules'
  | 'fileScanMode'
  | 'edition'
  | 'publicUrl'
>;

/** What the current settings allow that is not suitable for real data, each with the setting that changes it. */
export function risksOf(settings: StrictnessSettings): string[] {
  const { publicUrl, edition } = settings;
  const found: readonly (readonly [applies: boolean, text: string])[] = [
    [settings.publicRegistrationEnabled, 'anyone may register an organisation (PUBLIC_REGISTRATION_ENABLED)'],
    [!settings.mfaRequiredForAdmins, 'administrators sign in with a password alone (MFA_REQUIRED_FOR_ADMINS)'],
    [
      settings.mfaEmailFallback === 'all',
      'a code by mail replaces the authenticator, also for administrators (MFA_EMAIL_FALLBACK)',
    ],
    [settings.passwordRules === 'off', 'weak passwords are accepted (PASSWORD_RULES)'],
    [
      settings.fileScanMode === 'off' && edition !== 'enterprise_hybrid',
      'files are not scanned for malware (FILE_SCAN_MODE)',
    ],
    [
      publicUrl.startsWith('http:') && !isLoopback(publicUrl),
      'passwords and tokens are sent unencrypted (PUBLIC_URL is http)',
    ],
  ];
  return found.flatMap(([applies, text]) => (applies ? [text] : []));
}

/** The warning outside production, for the log and for `duebook doctor`. */
export const notProduction = (settings: StrictnessSettings): string =>
  ['not a production installation (NODE_ENV is not production)', risksOf(settings).join('; ')]
    .filter((part) => part !== '')
    .join(': ');
