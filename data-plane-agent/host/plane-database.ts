import type { ManagedDatabase } from '../base/database/managed.js';
import { TENANT_MIGRATIONS } from '../plane/store/migrations/index.js';
import type { HostSettings } from './settings.js';

/** The tenant database of a plane. In a file of its own, because most commands need it without opening a plane. */
export const planeDatabase = ({ tenantDatabaseUrl }: Pick<HostSettings, 'tenantDatabaseUrl'>): ManagedDatabase => ({
  name: 'tenant',
  url: tenantDatabaseUrl,
  migrations: TENANT_MIGRATIONS,
});
