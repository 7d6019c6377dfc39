import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { AGENT } from '../data-planes/connection-status.js';
import { ChannelStore } from '../store/channels.js';
import { ConnectionStore } from '../store/connections.js';
import { MemberStore } from '../store/members.js';
import { RoleStore } from '../store/roles.js';
import { SubjectStore } from '../store/subjects.js';
import { TenantStore } from '../store/tenants.js';

export const BOOTSTRAP_STEPS = ['subject', 'members', 'channel', 'roles', 'lifecycle', 'settings'] as const;
export type BootstrapStep = (typeof BOOTSTRAP_STEPS)[number];

/**
 * Returns which setup steps of an organisation are done. Subject company, roles and the default lifecycle template are
 * created with the tenant; the template is created in the data plane, which may be an agent's and is then available
 * once connected.
 */
export async function bootstrapSteps(
  tx: Transaction,
  { tenantId, linked }: { tenantId: string; linked: boolean },
): Promise<Readonly<Record<BootstrapStep, boolean>>> {
  const settings = (await new TenantStore(tx).byId(tenantId))?.settings ?? {};
  return {
    subject: (await new SubjectStore(tx, tenantId).all()).length > 0,
    members: (await new MemberStore(tx, tenantId).names()).length > 1,
    channel: (await new ChannelStore(tx, tenantId).all()).some(({ enabled }) => enabled),
    roles: (await new RoleStore(tx, tenantId).all()).length > 0,
    lifecycle: !linked || (await new ConnectionStore(tx, tenantId).byKind(AGENT))?.status === 'connected',
    settings: Object.keys(settings).length > 0,
  };
}
