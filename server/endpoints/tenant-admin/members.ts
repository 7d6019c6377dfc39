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
  description: 'Disabled ones too, in the order in which they came.',
  needs: edit('admin'),
  returns: s.list(Member, 100_000),
  fails: [],
  run: async ({ principal, services }) => (await services.tenants.members.list(principal.tenant.id)).map(memberAnswer),
});

const updateMember = endpoint('PATCH /tenant-admin/members/:id', {
  summary: 'Change a member',
  description:
    "It holds from the member's next request on; disabling ends their sessions. Nobody changes their own role, scope or status; nobody becomes owner here; and the owner keeps role, scope, status and, from others, email.\n\n" +
    "An address is how somebody signs in: another one is set only within ten minutes of the caller's sign-in, for a member with `admin (edit)` by nobody but that member, for one who has lost it within seven days by the owner alone, and for others by any administrator. " +
    'The old address is told by mail, all sessions of the member end but the one in which they did it themselves, and for 24 hours no code by mail stands in for their authenticator.\n\n' +
    "A role with `admin (edit)` is given, and a disabled member who has it let in again, only within ten minutes of the caller's sign-in too. Who gains or loses `admin (edit)` is told by mail.",
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
    "They are signed out everywhere, and may sign in again: disable them to keep them out. The owner's sessions are ended by the owner alone. Of one's own the session of this request ends too.",
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

const previewHandover = endpoint('GET /tenant-admin/members/:id/handover-preview', {
  summary: 'Show what offboarding a member would move',
  description: "Totals are the organisation's; samples, of each kind the latest 20, show only what the caller may see.",
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
  summary: 'Hand over what a member is responsible for, and close his way in',
  description:
    'Live contracts, archived ones included, go to the successor with owner and superior; who made what, and the history, stay. Where the successor would become his own superior, his own superior stands in, or nobody: a warning says so. ' +
    'So do his fulfillment tasks that are not completed, accepted or canceled. ' +
    "His personal views become the successor's, named `<name> (from <member>)`, or are copied to the successor under such names where the member stays; and the team's views that he looked after are looked after by the successor. " +
    'Then the member is disabled and his sessions end. All of it may be switched off part by part. Done again it moves nothing and answers the same with zero counts.',
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
    "For the present owner only (403 `owner` for anybody else), who becomes an admin, and only within ten minutes of their sign-in. The session in which it is done and those of the new owner go on, with the new roles at once; the previous owner's other sessions end. Both get a notice by mail. The new owner sees every subject company.",
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

/** Field by field: a password's hash is not among them. */
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
  previewHandover,
  offboardMember,
  transferOwnership,
};
