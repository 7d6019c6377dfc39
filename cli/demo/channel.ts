import type { Composed } from '../../server/compose.js';
import type { Actor } from '../../server/access/actor.js';

const CHANNEL = { kind: 'email', name: '合同管理部', target: 'contracts@huayue.example' } as const;

/** The id of the channel that notifies the contract office of contracts waiting for the board. Created if missing. */
export async function demoChannel(
  { services }: Composed,
  { tenantId, actor }: { tenantId: string; actor: Actor },
): Promise<string> {
  const { channels } = services.tenants;
  const { kind, name, target } = CHANNEL;
  const present = (await channels.list(tenantId)).find((channel) => channel.name === name);
  return (present ?? (await channels.add({ tenantId, kind, fields: { name, target } }, actor))).id;
}
