import type { Changes } from '../access/changes.js';
import type { Edition } from '../access/edition.js';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Passwords } from '../credentials/passwords.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';
import type { DataPlanes } from '../data-planes/for-tenant.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { NoticeSender } from '../notifications/send.js';
import type { TenantServices } from '../services/services.js';
import type { KeyedDatabase } from '../store/keyed-database.js';
import type { TargetPolicy } from '../tenants/channel-targets.js';
import { createDirectory } from '../tenants/directory.js';
import { createTenants } from '../tenants/tenants.js';

/** The settings for organisations. */
export interface TenantOptions {
  readonly keyRing: KeyRing;
  readonly edition: Edition;
  readonly publicUrl: string;
  /** Whether roles with admin (edit) need a second factor. */
  readonly mfaRequiredForAdmins: boolean;
}

export interface TenantParts {
  readonly database: KeyedDatabase;
  readonly clock: Clock;
  readonly changes: Changes;
  readonly mail: MailOutbox;
  readonly passwords: Passwords;
  readonly signInMethods: SignInMethods;
  readonly dataPlanes: DataPlanes;
  /** Which URLs of tenants may be called, for channels and data planes. */
  readonly outbound: TargetPolicy;
  readonly sender: NoticeSender;
  /** Called after the connection of an agent was revoked, to close its sessions at this replica. */
  readonly onRevoked?: ((connectionId: string) => void) | undefined;
}

export const composeTenants = (
  { keyRing, edition, publicUrl, mfaRequiredForAdmins }: TenantOptions,
  parts: TenantParts,
): TenantServices => ({
  tenants: createTenants({
    ...parts,
    keyRing,
    publicUrl,
    mfaRequired: mfaRequiredForAdmins,
    linked: edition === 'enterprise_hybrid',
  }),
  directory: createDirectory(parts),
});
