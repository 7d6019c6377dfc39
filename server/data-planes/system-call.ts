import { systemCall as callOfSystem, type WorkedTenant } from '../../data-plane-agent/host/system-call.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import type { Actor } from '../access/actor.js';
import { settingsOf } from '../access/settings.js';
import type { TenantRecord } from '../store/tenants.js';

/** What a job needs to know of a tenant: what it has set, and the defaults for the rest. */
export function workedTenant({ id, settings }: Pick<TenantRecord, 'id' | 'settings'>): WorkedTenant {
  const { timezone, reminderLeadDays, defaultCurrency, defaultLanguage } = settingsOf(settings);
  return { id, timeZone: timezone, reminderLeadDays, currencyCode: defaultCurrency, language: defaultLanguage };
}

/**
 * A call that no member makes: a schedule's or the CLI's, over all of a tenant's contract data. Without settings it is
 * for what no setting has a say in.
 */
export const systemCall = ({
  tenantId,
  settings = {},
  actor,
  at,
}: {
  tenantId: string;
  settings?: TenantRecord['settings'];
  actor: Actor;
  at: number;
}): Call => callOfSystem({ tenant: workedTenant({ id: tenantId, settings }), actor, requestId: actor.requestId, at });
