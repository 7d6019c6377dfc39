import type { LinkedTenant } from '../../data-plane-agent/base/link/messages.js';
import type { TenantRecord } from '../store/tenants.js';
import { workedTenant } from './system-call.js';

/** A tenant as its agent needs it. */
export const linkedTenant = (tenant: Pick<TenantRecord, 'id' | 'slug' | 'settings' | 'status'>): LinkedTenant => ({
  ...workedTenant(tenant),
  slug: tenant.slug,
  active: tenant.status === 'active',
});
