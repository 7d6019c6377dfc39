import { newId } from '../../data-plane-agent/base/ids.js';
import { Leases } from '../../data-plane-agent/base/database/leases.js';
import type { AuditHead } from '../../data-plane-agent/base/audit/records.js';
import { eachTenant, type TenantsOptions } from '../data-planes/each-tenant.js';
import { TenantStore } from '../store/tenants.js';
import { HEAD_MESSAGE } from './head-message.js';
import { PLATFORM_CHAIN, type PlatformAudit } from './platform-audit.js';

/**
 * Logs the head of every chain once a day, in one process. If the log is shipped elsewhere, an attacker with access to
 * the database cannot change these heads.
 */
export type LogHeads = (signal?: AbortSignal) => Promise<void>;

/** Slightly less than a day, so that the time of day does not drift. */
const DAY_MS = 24 * 3_600_000 - 10 * 60_000;

export function createLogHeads({ audit, ...parts }: TenantsOptions & { readonly audit: PlatformAudit }): LogHeads {
  const { database, clock, log } = parts;
  const logHead = (
    { source, tenantId }: { source: 'platform' | 'data'; tenantId: string | null },
    { position, hash, waiting }: AuditHead,
  ): void => log.info({ source, tenantId, events: position, hash, waiting }, HEAD_MESSAGE);

  const logAll = async (signal: AbortSignal | undefined): Promise<void> => {
    logHead({ source: 'platform', tenantId: null }, await audit.head(PLATFORM_CHAIN));
    for (const tenantId of await database.read({ tenantId: null }, (tx) => new TenantStore(tx).ids()))
      logHead({ source: 'platform', tenantId }, await audit.head(tenantId));
    await eachTenant(parts, {
      job: 'audit-heads',
      signal,
      step: async (plane, tenantId) => {
        logHead({ source: 'data', tenantId }, await plane.getAuditHead({}));
        return { more: false };
      },
    });
  };

  return async (signal) => {
    // A new holder each time: the lease covers the day and is never renewed.
    const leases = new Leases(database, clock, { holder: newId(), log });
    const day = await leases.take('audit-heads-of-the-day', DAY_MS);
    if (!day) return;
    try {
      await logAll(signal);
    } catch (error) {
      await leases.release(day);
      throw error;
    }
  };
}
