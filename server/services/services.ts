import type { PlatformAudit } from '../audit/platform-audit.js';
import type { Accounts } from '../auth/accounts.js';
import type { BotChallenge } from '../auth/challenge.js';
import type { Codes } from '../auth/codes.js';
import type { EmailCodes } from '../auth/email-code.js';
import type { Invitations } from '../auth/invitations.js';
import type { SigningKeys } from '../auth/keys.js';
import type { Mfa } from '../auth/mfa.js';
import type { Passkeys } from '../auth/passkeys.js';
import type { ChangePassword } from '../auth/password-change.js';
import type { PasswordResets } from '../auth/password-reset.js';
import type { Profile } from '../auth/profile.js';
import type { Resolve } from '../auth/resolve.js';
import type { Sessions } from '../auth/sessions.js';
import type { Sso } from '../auth/sso.js';
import type { RunReminders } from '../collections/run-now.js';
import type { AiGateway } from '../integrations/ai-gateway/ai-gateway.js';
import type { Deliveries } from '../deliveries/deliveries.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { NoticeSender } from '../notifications/send.js';
import type { Calendar } from '../integrations/calendar/calendar.js';
import type { Directory } from '../tenants/directory.js';
import type { Reminders } from '../collections/reminders.js';
import type { Tenants } from '../tenants/tenants.js';
import type { Health } from './health.js';

/** Authentication of members. */
export interface AuthServices {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly mfa: Mfa;
  readonly emailCodes: EmailCodes;
  readonly profile: Profile;
  readonly resolve: Resolve;
  readonly passkeys: Passkeys;
  readonly sso: Sso;
  readonly keys: SigningKeys;
  readonly codes: Codes;
  readonly invitations: Invitations;
  readonly passwordResets: PasswordResets;
  readonly changePassword: ChangePassword;
}

/** Organisations and their data in the platform database. */
export interface TenantServices {
  readonly tenants: Tenants;
  readonly directory: Directory;
}

/**
 * The services that endpoints call. Each is created once, in `compose.ts`. Access is checked before an endpoint runs.
 */
export interface Services extends AuthServices, TenantServices {
  readonly audit: PlatformAudit;
  readonly health: Health;
  readonly aiGateway: AiGateway;
  readonly calendar: Calendar;
  readonly mail: MailOutbox;
  readonly sender: NoticeSender;
  readonly deliveries: Deliveries;
  readonly reminders: Reminders;
  readonly runReminders: RunReminders;
  /** Called by the handler for every endpoint whose body has a `challengeToken`. */
  readonly challenge: BotChallenge;
}
