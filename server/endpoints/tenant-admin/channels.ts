import { isoOrNull } from '../../../data-plane-agent/base/instants.js';
import { s, type Static } from '../../../data-plane-agent/base/schema.js';
import { OK, Ok } from '../../../data-plane-agent/plane/contract/records/common.js';
import { edit } from '../../access/permissions.js';
import { actorOf } from '../../access/actor.js';
import { endpoint } from '../../http/endpoint.js';
import type { Channels } from '../../tenants/channels.js';
import { Channel, ChannelInput, ChannelPatch, ChannelTest, CHAT_NAMES } from '../../tenants/tenants.schemas.js';
import { stamped } from './stamped.js';

const listNotificationChannels = endpoint('GET /tenant-admin/notification-channels', {
  summary: 'List notification channels',
  needs: edit('admin'),
  returns: s.list(Channel, 1_000, 'A plain array: an organisation has at most 1 000 channels.'),
  fails: [],
  run: async ({ principal, services }) =>
    (await services.tenants.channels.list(principal.tenant.id)).map(channelAnswer),
});

const createNotificationChannel = endpoint('POST /tenant-admin/notification-channels', {
  summary: 'Create a notification channel',
  description:
    'The first enabled channel becomes the default; a disabled channel cannot be the default. `chat_a` to `chat_e` are slack, teams, feishu, dingtalk and wecom. Addresses on private networks are refused unless the installation allows them. URLs contain tokens, so they are stored encrypted, and answers contain only the host and a digest to distinguish them.',
  needs: edit('admin'),
  body: ChannelInput,
  furtherIssues: ({ kind, ...fields }, { services }) =>
    services.tenants.channels.issues({ kind: kind && realKind(kind), fields }),
  returns: Channel,
  status: 201,
  fails: ['LIMIT_REACHED'],
  run: async ({ body: { kind, ...fields }, principal, request, services }) =>
    channelAnswer(
      await services.tenants.channels.add(
        { tenantId: principal.tenant.id, kind: realKind(kind), fields },
        actorOf(principal.user, request),
      ),
    ),
});

const updateNotificationChannel = endpoint('PATCH /tenant-admin/notification-channels/:id', {
  summary: 'Update a notification channel',
  description:
    'The kind cannot be changed. Sending a `target` back as it was returned changes nothing. A new default replaces the previous one; a disabled channel cannot become the default. A default channel that is disabled stays the default, and nothing is sent by default until it is enabled or another channel becomes the default.',
  needs: edit('admin'),
  body: ChannelPatch,
  furtherIssues: (fields, { services }) => services.tenants.channels.issues({ fields }),
  returns: Channel,
  fails: [],
  run: async ({ params, body, principal, request, services }) =>
    channelAnswer(
      await services.tenants.channels.update(
        { tenantId: principal.tenant.id, channelId: params.id, fields: body },
        actorOf(principal.user, request),
      ),
    ),
});

const deleteNotificationChannel = endpoint('DELETE /tenant-admin/notification-channels/:id', {
  summary: 'Delete a notification channel',
  description:
    'After the default channel is deleted, there is none until another channel is made the default. A channel used by lifecycle transitions (`effects.notifyChannelId`) cannot be deleted, and no transition can start to use it during the deletion.',
  needs: edit('admin'),
  returns: Ok,
  fails: ['CHANNEL_IN_USE'],
  run: async ({ params, principal, request, services }) => {
    await services.tenants.channels.remove(
      { tenantId: principal.tenant.id, channelId: params.id },
      actorOf(principal.user, request),
    );
    return OK;
  },
});

const sendTestNotification = endpoint('POST /tenant-admin/notification-channels/:id/test', {
  summary: 'Send a test message through a notification channel',
  description:
    'Sends a message now and answers what happened: 200 with `delivered: false` if the receiver refused it or did not respond within ten seconds. A disabled channel is tested too, so that it can be tested before it is enabled; the test does not enable it. An `email` channel without a target sends to the caller. The result is also shown on the channel (`lastDeliveredAt`, `lastError`), and a receiver that answers 410 disables it. At most 20 tests of a channel and 60 of an organisation per minute. With an `Idempotency-Key`, a repeated request sends nothing and gets the same answer.',
  needs: edit('admin'),
  returns: ChannelTest,
  fails: [],
  run: ({ params, principal, request, services }) =>
    services.tenants.testChannel(
      {
        tenant: principal.tenant,
        channelId: params.id,
        email: principal.user.email,
        language: principal.settings.defaultLanguage,
      },
      actorOf(principal.user, request),
    ),
});

type Kind = Static<typeof ChannelInput>['kind'];

const realKind = (kind: Kind) => (isNeutral(kind) ? CHAT_NAMES[kind] : kind);
const isNeutral = (kind: Kind): kind is keyof typeof CHAT_NAMES => kind in CHAT_NAMES;

const channelAnswer = ({
  id,
  kind,
  name,
  target,
  enabled,
  isDefault,
  secretSealed,
  lastError,
  lastErrorAt,
  lastDeliveredAt,
  disabledReason,
  createdAt,
  updatedAt,
}: Awaited<ReturnType<Channels['add']>>) =>
  stamped({
    id,
    kind: kind as Static<typeof Channel>['kind'], // the column's closed vocabulary
    name,
    target,
    enabled,
    isDefault,
    hasSecret: secretSealed !== null,
    lastError,
    lastErrorAt: isoOrNull(lastErrorAt),
    lastDeliveredAt: isoOrNull(lastDeliveredAt),
    disabledReason,
    createdAt,
    updatedAt,
  });

export const channelEndpoints = {
  listNotificationChannels,
  createNotificationChannel,
  updateNotificationChannel,
  deleteNotificationChannel,
  sendTestNotification,
};
