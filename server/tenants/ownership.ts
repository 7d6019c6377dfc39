import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { isId } from '../../data-plane-agent/base/ids.js';
import type { SignInMethods } from '../credentials/sign-in-methods.js';
import { languageOf } from '../notifications/language.js';
import type { MailOutbox } from '../notifications/mail.js';
import type { Actor } from '../access/actor.js';
import { MemberStore, type ListedMember } from '../store/members.js';
import { SessionStore } from '../store/sessions.js';
import type { TenantRecord } from '../store/tenants.js';
import type { ChangeTenant } from './change.js';
import { administers } from './member-rules.js';
import { OWNER } from './roles.js';

/** The ownership of organisations. */
export interface Ownership {
  /**
   * Makes another member the owner, who then sees all subject companies; the present owner becomes an admin. Throws
   * FORBIDDEN for other callers, RECENT_LOGIN_REQUIRED, REFERENCE_INVALID and SUCCESSOR_INVALID. The present session
   * and the new owner's sessions continue; the previous owner's other sessions end. Both are notified by mail.
   */
  transfer(
    transfer: { readonly tenantId: string; readonly newOwnerId: string },
    actor: Actor,
  ): Promise<{ readonly owner: ListedMember; readonly previousOwner: ListedMember }>;
}

const ADMIN = 'admin';

export function createOwnership({
  change,
  mail,
  signInMethods,
  mfaRequired,
}: {
  change: ChangeTenant;
  mail: MailOutbox;
  signInMethods: Pick<SignInMethods, 'requireRecentLogin'>;
  mfaRequired: boolean;
}): Ownership {
  return {
    transfer: ({ tenantId, newOwnerId }, actor) =>
      change({ tenantId, actor, action: 'owner_transferred', inDirectory: true }, async (tx, tenant, at) => {
        const members = new MemberStore(tx, tenantId);
        const present = actor.id === null ? undefined : await members.listed(actor.id);
        if (present?.roleCode !== OWNER) throw fail('FORBIDDEN', { needs: OWNER });
        const sessionId = await signInMethods.requireRecentLogin(tx, { sessionId: actor.sessionId });
        const next = await successor(members, { newOwnerId, present, mfaRequired });
        // In this order, so that there are never two owners, not even within the transaction.
        await members.update({ id: present.id, fields: { roleCode: ADMIN }, at });
        if (!(await administers(tx, { tenantId, roleCode: ADMIN }))) await members.loseAdmin({ id: present.id, at });
        await members.update({ id: next.id, fields: { roleCode: OWNER, subjectScope: null }, at });
        const sessionsRevoked = await new SessionStore(tx).revokeOthersOf({
          tenantId,
          memberId: present.id,
          sessionId,
          at,
        });
        await notify(tx, mail, { tenant, members: [present, next], from: present, to: next });
        const answer = {
          owner: { ...next, roleCode: OWNER, subjectScope: null, updatedAt: at },
          previousOwner: { ...present, roleCode: ADMIN, updatedAt: at },
        };
        return {
          answer,
          changed: {
            ownerId: { from: present.id, to: next.id },
            previousRole: next.roleCode,
            previousScope: next.subjectScope,
            sessionsRevoked,
          },
        };
      }),
  };
}

async function successor(
  members: MemberStore,
  { newOwnerId, present, mfaRequired }: { newOwnerId: string; present: ListedMember; mfaRequired: boolean },
): Promise<ListedMember> {
  const field = 'newOwnerId';
  const next = isId(newOwnerId) ? await members.listed(newOwnerId) : undefined;
  if (!next) throw fail('REFERENCE_INVALID', { field, value: newOwnerId });
  if (next.id === present.id) throw fail('SUCCESSOR_INVALID', { field, reason: 'the same person' });
  if (next.status !== 'active') throw fail('SUCCESSOR_INVALID', { field, reason: 'disabled' });
  if (mfaRequired && !next.mfaEnrolled) throw fail('SUCCESSOR_INVALID', { field, reason: 'no second factor' });
  return next;
}

async function notify(
  tx: Transaction,
  mail: MailOutbox,
  {
    tenant,
    members,
    from,
    to,
  }: { tenant: TenantRecord; members: readonly ListedMember[]; from: ListedMember; to: ListedMember },
): Promise<void> {
  for (const member of members) {
    await mail.enqueue(tx, {
      tenantId: tenant.id,
      to: member.email,
      template: 'owner_transferred',
      values: { tenantName: tenant.name, fromName: from.name, toName: to.name },
      language: languageOf({ tenant, member }),
      about: { kind: 'member', id: member.id },
    });
  }
}
