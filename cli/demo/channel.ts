import type { Actor } from '../../server/access/actor.js';
import type { Composed } from '../../server/compose.js';
import type { ChannelKind } from '../../server/notifications/channels/index.js';
import type { ChannelFields } from '../../server/tenants/channels.js';

interface DemoChannel {
  readonly kind: ChannelKind;
  readonly fields: ChannelFields & { readonly name: string };
}

/**
 * None of them reaches anybody: mails need a mail server, and addresses and hosts under `.example` belong to nobody.
 * The automatic reminders use the default, whose mails are addressed to the owners of the contracts.
 */
const CHANNELS = {
  reminders: { kind: 'email', fields: { name: '催款提醒', isDefault: true } },
  /** Is notified of contracts waiting for the board. */
  office: { kind: 'email', fields: { name: '合同管理部', target: 'contracts@huayue.example' } },
  /** Failed a few days ago. */
  ledger: { kind: 'webhook', fields: { name: '应收账款系统', target: 'https://ledger.huayue.example/hooks/duebook' } },
} as const satisfies Readonly<Record<string, DemoChannel>>;

/** The ids of the demo's channels. */
export type DemoChannels = Readonly<Record<keyof typeof CHANNELS, string>>;

/** The channels, created if missing. */
export async function demoChannels(
  { services }: Composed,
  { tenantId, actor }: { tenantId: string; actor: Actor },
): Promise<DemoChannels> {
  const { channels } = services.tenants;
  const all = await channels.list(tenantId);
  const made = async ({ kind, fields }: DemoChannel): Promise<string> =>
    (all.find((channel) => channel.name === fields.name) ?? (await channels.add({ tenantId, kind, fields }, actor))).id;
  return {
    reminders: await made(CHANNELS.reminders),
    office: await made(CHANNELS.office),
    ledger: await made(CHANNELS.ledger),
  };
}
