import { newId } from '../../data-plane-agent/base/ids.js';
import { Leases } from '../../data-plane-agent/base/database/leases.js';
import type { AuditHead } from '../../data-plane-agent/base/audit/records.js';
import { eachTenant, type TenantsOptions } from '../data-planes/each-tenant.js';
import { TenantStore } from '../store/tenants.js';
import { PLATFORM_CHAIN, type PlatformAudit } from './platform-audit.js';

/**
 * Writes how far every chain has come to the log, once a day whichever process asks: a log that is shipped elsewhere
 * keeps them where whoever has the database cannot reach.
 */
export type LogHeads = (signal?: AbortSignal) => Promise<void>;

/** By this message `audit verify --expect` knows the lines. */
export const HEAD_MESSAGE = 'audit head';

/** A little less than a day, so that the hour of the day does not wander. */
const DAY_MS = 24 * 3_600_000 - 10 * 60_000;

export function createLogHeads({ audit, ...parts }: TenantsOptions & { readonly audit: PlatformAudit }): LogHeads {
  const { database, clock, log } = parts;
  const tell = (
    { source, tenantId }: { source: 'platform' | 'data'; tenantId: string | null },
    { position, hash, waiting }: AuditHead,
  ): void => log.info({ source, tenantId, events: position, hash, waiting }, HEAD_MESSAGE);

  const tellAll = async (signal: AbortSignal | undefined): Promise<void> => {
    tell({ source: 'platform', tenantId: null }, await audit.head(PLATFORM_CHAIN));
    for (const tenantId of await database.read({ tenantId: null }, (tx) => new TenantStore(tx).ids()))
      tell({ source: 'platform', tenantId }, await audit.head(tenantId));
    await eachTenant(parts, {
      job: 'audit-heads',
      signal,
      step: async (plane, tenantId) => {
        tell({ source: 'data', tenantId }, await plane.getAuditHead({}));
        return { more: false };
      },
    });
  };

  return async (signal) => {
    // A holder of its own each time: the lease is the day's, and nobody prolongs it, this process neither.
    const leases = new Leases(database, clock, { holder: newId(), log });
    const day = await leases.take('audit-heads-of-the-day', DAY_MS);
    if (!day) return;
    try {
      await tellAll(signal);
    } catch (error) {
      await leases.release(day);
      throw error;
    }
  };
}
