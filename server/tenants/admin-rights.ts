import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { languageOf } from '../notifications/language.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { MemberRecord } from '../store/members.js';
import type { TenantRecord } from '../store/tenants.js';

/**
 * For so long after a member has lost admin (edit), in milliseconds, nobody sets their address but themselves and the
 * owner: else demoting an administrator would be the first step of taking over their account.
 */
export const ADMIN_LOST_MS = 7 * 24 * 3_600_000;

/** So many holders of a role are told of one change of it, active members first. */
export const MOST_TOLD = 1_000;

/**
 * Tells members by mail that they have admin (edit) now, or have it no more, so that they learn of it who did not ask
 * for it.
 */
export async function tellOfAdmin(
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
