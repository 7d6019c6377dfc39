import { existsSync } from 'node:fs';
import { openObjectStore } from '../data-plane-agent/plane/files/objects/open-store.js';
import type { ObjectStore } from '../data-plane-agent/plane/files/objects/object-store.js';
import type { BackupSource } from '../data-plane-agent/host/backup/create.js';
import { ownSecretKeysPath } from '../data-plane-agent/host/secret-keys.js';
import { writeNewFile } from '../data-plane-agent/host/backup/new-file.js';
import type { RestoreTarget } from '../data-plane-agent/host/backup/restore.js';
import type { ToolSettings } from '../data-plane-agent/host/backup/postgres-tools.js';
import { versionOf } from '../data-plane-agent/base/package-version.js';
import { generateKeyRingText, parseKeyRing, type KeyRing } from '../data-plane-agent/base/secrets.js';
import type { Config } from '../server/config.js';
import { databasesOf } from '../server/databases.js';
import type { Cli } from './cli.js';
import type { LookedAt } from './installation.js';

export const toolsOf = ({ pgDump }: Pick<Config, 'pgDump'>, { env }: Cli): ToolSettings => ({
  pgDump,
  path: env()['PATH'] ?? '',
});

type StoreSettings = Pick<Config, 'objectStoreUrl' | 'objectStorePublicUrl' | 'publicUrl'>;

/** Links are not made, so that any key does. */
const storeOf = (
  { objectStoreUrl, objectStorePublicUrl, publicUrl }: StoreSettings,
  { clock }: Cli,
  keyRing: KeyRing,
): ObjectStore =>
  openObjectStore(objectStoreUrl, { publicUrl, storePublicUrl: objectStorePublicUrl, keyRing, clock }).store;

/** What a backup of this installation contains. Close `store.objects` afterwards. */
export function sourceOf(config: Config, cli: Cli): BackupSource {
  const { platform, tenant } = databasesOf(config);
  return {
    product: 'duebook',
    version: versionOf(import.meta.url),
    databases: [
      ...(tenant
        ? [
            {
              name: tenant.name,
              url: tenant.url,
              readUrl: config.backupTenantDatabaseUrl ?? tenant.url,
              readSetting: 'BACKUP_TENANT_DATABASE_URL',
            },
          ]
        : []),
      {
        name: platform.name,
        url: platform.url,
        readUrl: config.backupPlatformDatabaseUrl ?? platform.url,
        readSetting: 'BACKUP_PLATFORM_DATABASE_URL',
      },
    ],
    store: { address: config.objectStoreUrl, objects: storeOf(config, cli, config.keyRing) },
    secrets: { secretKeys: config.keyRing.reveal(), identity: [] },
    keyIds: config.keyRing.keyIds,
  };
}

/** Where a backup is restored. Creates no keys: a target without keys gets those of the backup. */
export function targetOf({ values }: LookedAt, cli: Cli): RestoreTarget {
  const { tenant, platform } = databasesOf(values);
  const keyRing = values.keyRing ?? parseKeyRing(generateKeyRingText());
  const path = ownSecretKeysPath(values.dataDir);
  return {
    product: 'duebook',
    databases: [...(tenant ? [tenant] : []), platform],
    dataDir: values.dataDir,
    objects: storeOf(values, cli, keyRing),
    keys: {
      present: values.keyRing?.reveal(),
      write: (text) => {
        if (!existsSync(path)) writeNewFile(path, `${text}\n`);
      },
    },
  };
}
