import { s, type Static } from '../../../data-plane-agent/base/schema.js';
import { OK, Ok } from '../../../data-plane-agent/plane/contract/records/common.js';
import { edit } from '../../access/permissions.js';
import { actorOf } from '../../access/actor.js';
import { endpoint } from '../../http/endpoint.js';
import type { Channels } from '../../tenants/channels.js';
import { Channel, ChannelInput, ChannelPatch, CHAT_NAMES } from '../../tenants/tenants.schemas.js';
import { stamped } from './stamped.js';

const listChannels = endpoint('GET /tenant-admin/notification-channels', {
  summary: 'List notification channels',
  needs: edit('admin'),
  returns: s.list(Channel, 1_000),
  fails: [],
  run: async ({ principal, services }) =>
    (await services.tenants.channels.list(principal.tenant.id)).map(channelAnswer),
});

const createChannel = endpoint('POST /tenant-admin/notification-channels', {
  summary: 'Add a notification channel',
  description:
    'The first enabled one becomes the default; a disabled one cannot be made it. `chat_a` to `chat_e` stand for slack, teams, feishu, dingtalk and wecom. Addresses on private networks are refused unless the installation allows them. A URL carries tokens: it is sealed, and answers show its host alone and a digest that tells one from another.',
  needs: edit('admin'),
  body: ChannelInput,
  judge: ({ kind, ...fields }, { services }) =>
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

const updateChannel = endpoint('PATCH /tenant-admin/notification-channels/:id', {
  summary: 'Change a notification channel',
  description:
    'Its kind stays. A `target` that is sent back as it was shown changes nothing. One that becomes the default takes the place of the one before; a disabled one cannot. A default that is disabled stays the default, and nothing is sent by default until it is enabled or another takes its place.',
  needs: edit('admin'),
  body: ChannelPatch,
  judge: (fields, { services }) => services.tenants.channels.issues({ fields }),
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

const deleteChannel = endpoint('DELETE /tenant-admin/notification-channels/:id', {
  summary: 'Remove a notification channel',
  description:
    'When it was the default there is none until another one is made it. One that transitions of the lifecycle tell (`effects.notifyChannelId`) stays, and none comes to tell it while it is being removed.',
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
  createdAt,
  updatedAt,
}: Awaited<ReturnType<Channels['add']>>) => ({
  ...stamped({ id, kind, name, target, enabled, isDefault, createdAt, updatedAt }),
  hasSecret: secretSealed !== null,
});

export const channelEndpoints = { listChannels, createChannel, updateChannel, deleteChannel };
