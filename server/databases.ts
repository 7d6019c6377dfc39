import type { ManagedDatabase } from '../data-plane-agent/base/database/managed.js';
import { planeDatabase } from '../data-plane-agent/host/plane-database.js';
import type { Config } from './config.js';
import { PLATFORM_MIGRATIONS } from './store/migrations/index.js';

export type { ManagedDatabase };

/** The databases of this installation, without those of agents. */
export function databasesOf(config: Pick<Config, 'edition' | 'platformDatabaseUrl' | 'tenantDatabaseUrl'>): {
  readonly platform: ManagedDatabase;
  readonly tenant?: ManagedDatabase;
} {
  const platform: ManagedDatabase = {
    name: 'platform',
    url: config.platformDatabaseUrl,
    migrations: PLATFORM_MIGRATIONS,
  };
  return keepsContractData(config) ? { platform, tenant: planeDatabase(config) } : { platform };
}

/** Whether this process keeps contract data. Only this module depends on the edition. */
export const keepsContractData = ({ edition }: Pick<Config, 'edition'>): boolean => edition !== 'enterprise_hybrid';
