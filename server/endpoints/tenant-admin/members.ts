import { s } from '../../../data-plane-agent/base/schema.js';
import { iso, isoOrNull } from '../../../data-plane-agent/base/instants.js';
import { OK, Ok } from '../../../data-plane-agent/plane/contract/records/common.js';
import { edit } from '../../access/permissions.js';
import { actorInSession, actorOf } from '../../access/actor.js';
import { endpoint } from '../../http/endpoint.js';
import type { Members } from '../../tenants/members.js';
import {
  HandoverPreview,
  Member,
  MemberPatch,
  Offboarded,
  Offboarding,
  OwnerTransfer,
  OwnerTransferred,
} from '../../tenants/tenants.schemas.js';
import { standInWarnings } from './stand-in-warnings.js';

const listMembers = endpoint('GET /tenant-admin/members', {
  summary: 'List members',
  description: 'Includes disabled members, in the order in which they joined.',
  needs: edit('admin'),
  returns: s.list(
    Member,
    100_000,
    'A plain array: clients show all members, for example to choose an owner. An organisation has at most 100 000.',
  ),
  fails: [],
  run: async ({ principal, services }) => (await services.tenants.members.list(principal.tenant.id)).map(memberAnswer),
});

const updateMember = endpoint('PATCH /tenant-admin/members/:id', {
  summary: 'Update a member',
  description:
    "The change applies from the member's next request; disabling a member ends their sessions. Members cannot change their own role, scope or status, and nobody can be made owner here. The owner's role, scope and status cannot be changed, and the owner's email address only by the owner.\n\n" +
    "The email address is used to sign in, so it can be changed only within ten minutes of the caller's sign-in. The address of a member with `admin (edit)` can be changed only by that member, the address of a member who lost `admin (edit)` within the last seven days only by the owner, and all others by any administrator. " +
    'The previous address is notified by mail, all sessions of the member end except the one in which they made the change themselves, and for 24 hours no code sent by mail replaces their authenticator.\n\n' +
    "Granting a role with `admin (edit)`, or enabling a disabled member who has it, is possible only within ten minutes of the caller's sign-in too. Members who gain or lose `admin (edit)` are notified by mail.",
  needs: edit('admin'),
  body: MemberPatch,
  returns: Member,
  fails: [
    'RECENT_LOGIN_REQUIRED',
    'EMAIL_CHANGE_FORBIDDEN',
    'SELF_CHANGE_FORBIDDEN',
    'LAST_OWNER',
    'OWNER_TRANSFER_REQUIRED',
    'MEMBER_EXISTS',
    'REFERENCE_INVALID',
  ],
  run: async ({ params, body, principal, request, services }) =>
    memberAnswer(
      await services.tenants.members.update(
        { tenantId: principal.tenant.id, memberId: params.id, ...body },
        actorInSession(principal, request),
      ),
    ),
});

const endMemberSessions = endpoint('DELETE /tenant-admin/members/:id/sessions', {
  summary: 'End all sessions of a member',
  description:
    "The member is signed out everywhere, but can sign in again: disable the member to prevent that. Only the owner can end the owner's sessions. Callers who end their own sessions also end the session of this request.",
  needs: edit('admin'),
  returns: Ok,
  fails: ['LAST_OWNER'],
  run: async ({ params, principal, request, services }) => {
    await services.tenants.members.endSessions(
      { tenantId: principal.tenant.id, memberId: params.id },
      actorOf(principal.user, request),
    );
    return OK;
  },
});

const previewMemberHandover = endpoint('GET /tenant-admin/members/:id/handover-preview', {
  summary: 'Preview the offboarding of a member',
  description:
    'Totals cover the whole organisation; samples contain the latest 20 records of each kind, limited to those visible to the caller.',
  needs: edit('admin'),
  returns: HandoverPreview,
  calls: ['getHandoverExtent'],
  fails: [],
  run: async ({ params, plane, principal, request, services }) => {
    const { member, totals, samples, blockers, suggestedSuccessors } = await services.tenants.handover.preview(
      { tenantId: principal.tenant.id, memberId: params.id },
      plane,
      actorOf(principal.user, request),
    );
    return {
      member: memberAnswer(member),
      totals,
      samples,
      blockers: [...blockers],
      suggestedSuccessors: suggestedSuccessors.map(memberAnswer),
    };
  },
});

const offboardMember = endpoint('POST /tenant-admin/members/:id/offboard', {
  summary: "Transfer a member's responsibilities and disable the member",
  description:
    "The successor becomes owner and superior of the member's contracts, including archived ones but not deleted ones; creators and history do not change. If the successor would become their own superior, the successor's own superior is set instead, or none, with a warning. " +
    "The member's fulfillment tasks that are not completed, accepted or canceled are transferred too. " +
    "The member's reminders that are not sent yet go to the successor; if they are not transferred, they go to the member even where the contract is transferred, or to the owner of the organisation once the member is disabled. " +
    "The member's personal views are transferred to the successor, named `<name> (from <member>)`, or copied under such names if the member is not disabled. Team views managed by the member are managed by the successor. " +
    "Then the member is disabled and the member's sessions end. Each part can be switched off. Repeating the request transfers nothing and returns zero counts.",
  needs: edit('admin'),
  body: Offboarding,
  idempotencyKey: 'always',
  returns: Offboarded,
  calls: ['listSuperiors', 'handOver'],
  fails: ['LAST_OWNER', 'SELF_CHANGE_FORBIDDEN', 'REFERENCE_INVALID', 'SUCCESSOR_INVALID'],
  run: async ({ params, body, plane, principal, request, services }) => {
    const {
      successorUserId,
      transferContracts,
      transferContractSupervisors,
      transferTasks,
      transferReminders,
      transferSavedViews,
      disableMember,
    } = body;
    const leaving = {
      tenantId: principal.tenant.id,
      memberId: params.id,
      successorUserId,
      transferContracts: transferContracts ?? true,
      transferContractSupervisors: transferContractSupervisors ?? true,
      transferTasks: transferTasks ?? true,
      transferReminders: transferReminders ?? true,
      transferSavedViews: transferSavedViews ?? true,
      disable: disableMember ?? true,
    };
    const { transferred, disabled, auditId, ...stoodIn } = await services.tenants.handover.offboard(
      leaving,
      plane,
      actorOf(principal.user, request),
    );
    return { transferred, disabled, auditId, warnings: standInWarnings(stoodIn) };
  },
});

const transferOwnership = endpoint('POST /tenant-admin/owner-transfer', {
  summary: 'Make another member the owner',
  description:
    "Only for the present owner (403 `owner` for other callers), within ten minutes of their sign-in; the present owner becomes an admin. The session of this request and those of the new owner continue, with the new roles applied at once; the previous owner's other sessions end. Both are notified by mail. The new owner sees all subject companies.",
  needs: edit('admin'),
  body: OwnerTransfer,
  returns: OwnerTransferred,
  fails: ['RECENT_LOGIN_REQUIRED', 'REFERENCE_INVALID', 'SUCCESSOR_INVALID'],
  run: async ({ body, principal, request, services }) => {
    const { owner, previousOwner } = await services.tenants.ownership.transfer(
      { tenantId: principal.tenant.id, newOwnerId: body.newOwnerId },
      actorInSession(principal, request),
    );
    return { owner: memberAnswer(owner), previousOwner: memberAnswer(previousOwner) };
  },
});

/** Lists the fields explicitly, so that the password hash is never returned. */
const memberAnswer = ({
  id,
  name,
  email,
  roleCode,
  subjectScope,
  status,
  mfaEnrolled,
  lastLoginAt,
  createdAt,
  updatedAt,
}: Awaited<ReturnType<Members['update']>>) => ({
  id,
  name,
  email,
  roleCode,
  subjectScope: subjectScope && [...subjectScope],
  status,
  mfaEnrolled,
  lastLoginAt: isoOrNull(lastLoginAt),
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
});

export const memberEndpoints = {
  listMembers,
  updateMember,
  endMemberSessions,
  previewMemberHandover,
  offboardMember,
  transferOwnership,
};
