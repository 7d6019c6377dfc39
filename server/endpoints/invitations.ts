import { OK, Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { iso } from '../../data-plane-agent/base/instants.js';
import type { Invitation as InvitationState, SentInvitation as SentInvitationState } from '../auth/invitations.js';
import { edit } from '../access/permissions.js';
import { NameProfile, personName } from '../access/person.schemas.js';
import { AuthLoginResult } from '../auth/auth.schemas.js';
import { endpoint } from '../http/endpoint.js';
import { withRefreshCookie } from './refresh-cookie.js';
import { challengeToken } from './challenge-token.js';

const fields = {
  id: s.id(),
  email: s.text({ max: 254 }),
  roleCode: s.text({ max: 64 }),
  subjectScope: s.nullable(
    s.list(s.id(), 10_000, 'The subject companies visible to the member; null means all, an empty list none.'),
  ),
  status: s.enum(['open', 'expired']),
  deliveryStatus: s.enum(['not_sent', 'queued', 'sent', 'failed'], 'The delivery status of the latest mail.'),
  invitedBy: s.id('The member who last sent the invitation. It is valid only while this member may invite.'),
  expiresAt: s.instant(),
  createdAt: s.instant(),
  updatedAt: s.instant(),
};
const Invitation = s.object(fields, { title: 'Invitation' });
const SentInvitation = s.object(
  {
    ...fields,
    inviteLink: s.nullable(
      s.verbatim({
        max: 4_096,
        about: 'Set only if no mail server is configured: pass the link on manually. It is not shown again.',
      }),
    ),
  },
  { title: 'SentInvitation' },
);

export const invitationEndpoints = {
  acceptInvitation: endpoint('POST /auth/invitations/accept', {
    summary: 'Accept an invitation',
    description:
      'Creates the account with the address, role and scope of the invitation, and signs it in. If the policy requires a second factor, it is enrolled at the next login. An invitation is valid only while the member who last sent it is active and has `admin (edit)`; otherwise 422 `TOKEN_INVALID`.',
    needs: 'public',
    body: s.object(
      {
        token: s.verbatim({ min: 16, max: 200 }),
        tenantSlug: s.optional(s.text({ max: 64, about: 'If sent, the invitation must belong to this organisation.' })),
        name: personName(),
        nameProfile: s.optional(NameProfile),
        password: s.verbatim({ min: 8, max: 256 }),
        challengeToken,
      },
      { title: 'InvitationAcceptance' },
    ),
    returns: AuthLoginResult,
    status: 201,
    fails: ['TOKEN_INVALID', 'PASSWORD_TOO_WEAK', 'MEMBER_EXISTS', 'OVERLOADED'],
    run: async ({ body: { token, tenantSlug = null, name, nameProfile = null, password }, request, services }) =>
      withRefreshCookie(
        await services.invitations.accept({ token, tenantSlug, name, nameProfile, password }, request),
        services,
      ),
  }),

  createInvitation: endpoint('POST /tenant-admin/invitations', {
    summary: 'Invite a member',
    description:
      "Mails a token that is valid for seven days and for one use. Inviting to a role with `admin (edit)` is possible only within ten minutes of the caller's sign-in. An organisation can send 100 invitations per hour, including those sent again; after that the answer is 429 until `Retry-After` has passed.",
    needs: edit('admin'),
    body: s.object(
      {
        email: s.email(),
        roleCode: s.text({ max: 64 }),
        subjectScope: s.optional(
          s.list(s.id(), 10_000, 'Omitted or null: all subject companies. An empty list: none.'),
        ),
      },
      { title: 'NewInvitation' },
    ),
    returns: SentInvitation,
    status: 201,
    fails: [
      'RECENT_LOGIN_REQUIRED',
      'OWNER_TRANSFER_REQUIRED',
      'REFERENCE_INVALID',
      'MEMBER_EXISTS',
      'INVITATION_OPEN',
      'RATE_LIMITED',
    ],
    run: async ({ body: { email, roleCode, subjectScope = null }, principal, request, services }) =>
      sentAnswer(await services.invitations.create({ email, roleCode, subjectScope }, principal, request)),
  }),

  listInvitations: endpoint('GET /tenant-admin/invitations', {
    summary: 'List invitations',
    description: 'Invitations that were not accepted, including expired ones; newest first.',
    needs: edit('admin'),
    returns: s.list(Invitation, 1_000, 'A plain array: the 1 000 newest invitations that were not accepted.'),
    fails: [],
    run: async ({ principal, services }) => (await services.invitations.list(principal.tenant.id)).map(answer),
  }),

  resendInvitation: endpoint('POST /tenant-admin/invitations/:id/resend', {
    summary: 'Send an invitation again',
    description:
      "Sends a new token, valid for another seven days; the previous token becomes invalid. The caller becomes its `invitedBy`. For a role with `admin (edit)` this is possible only within ten minutes of the caller's sign-in. It counts towards the 100 invitations that an organisation can send per hour; after that the answer is 429 until `Retry-After` has passed.",
    needs: edit('admin'),
    returns: SentInvitation,
    fails: ['RECENT_LOGIN_REQUIRED', 'MEMBER_EXISTS', 'RATE_LIMITED'],
    run: async ({ params, principal, request, services }) =>
      sentAnswer(await services.invitations.resend(params, principal, request)),
  }),

  withdrawInvitation: endpoint('DELETE /tenant-admin/invitations/:id', {
    summary: 'Withdraw an invitation',
    needs: edit('admin'),
    returns: Ok,
    fails: [],
    run: async ({ params, principal, request, services }) => {
      await services.invitations.withdraw(params, principal, request);
      return OK;
    },
  }),
};

const answer = ({
  id,
  email,
  roleCode,
  subjectScope,
  status,
  deliveryStatus,
  invitedBy,
  expiresAt,
  createdAt,
  updatedAt,
}: InvitationState) => ({
  id,
  email,
  roleCode,
  subjectScope: subjectScope && [...subjectScope],
  status,
  deliveryStatus,
  invitedBy,
  expiresAt: iso(expiresAt),
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
});

const sentAnswer = ({ inviteLink, ...invitation }: SentInvitationState) => ({ ...answer(invitation), inviteLink });
