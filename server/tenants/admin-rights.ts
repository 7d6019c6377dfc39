import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { languageOf } from '../notifications/language.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { MemberRecord } from '../store/members.js';
import type { TenantRecord } from '../store/tenants.js';

/**
 * How long after a member has lost admin (edit) only they and the owner can change their address, in milliseconds:
 * otherwise an administrator's account could be taken over by demoting them first.
 */
export const ADMIN_LOST_MS = 7 * 24 * 3_600_000;

/** The maximum number of members notified of one change of a role, active members first. */
export const MAX_NOTIFIED = 1_000;

/** Notifies members by mail that they have gained or lost admin (edit), in case they did not expect it. */
export async function notifyOfAdminChange(
  tx: Transaction,
  mail: MailOutbox,
  { tenant, members, change }: { tenant: TenantRecord; members: readonly MemberRecord[]; change: 'gained' | 'lost' },
): Promise<void> {
  for (const member of members) {
    await mail.enqueue(tx, {
      tenantId: tenant.id,
      to: member.email,
      template: 'admin_changed',
      values: { tenantName: tenant.name, change },
      language: languageOf({ tenant, member }),
      about: { kind: 'member', id: member.id },
    });
  }
}
