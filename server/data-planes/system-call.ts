import { systemCall as callOfSystem, type WorkedTenant } from '../../data-plane-agent/host/system-call.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import type { Actor } from '../access/actor.js';
import { settingsOf } from '../access/settings.js';
import type { TenantRecord } from '../store/tenants.js';

/** The settings of a tenant that jobs need, with defaults. */
export function workedTenant({ id, settings }: Pick<TenantRecord, 'id' | 'settings'>): WorkedTenant {
  const { timezone, reminderLeadDays, reminderEscalationDays, reminderHour, defaultCurrency, defaultLanguage } =
    settingsOf(settings);
  return {
    id,
    timeZone: timezone,
    reminderLeadDays,
    reminderEscalationDays,
    reminderHour,
    currencyCode: defaultCurrency,
    language: defaultLanguage,
  };
}

/**
 * A call without a member, by a schedule or the CLI, with access to all contract data of a tenant. Settings may be
 * omitted for operations that do not depend on them.
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
