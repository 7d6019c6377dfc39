import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../base/command-line/errors.js';
import type { Clock } from '../base/clock.js';
import { versionOf } from '../base/package-version.js';
import { generateKeyRingText, parseKeyRing, type KeyRing } from '../base/secrets.js';
import type { BackupSource } from '../host/backup/create.js';
import type { Secrets } from '../host/backup/format.js';
import { writeNewFile } from '../host/backup/new-file.js';
import type { RestoreAgentFiles, RestoreTarget } from '../host/backup/restore.js';
import { planeDatabase } from '../host/plane-database.js';
import { ownSecretKeysPath } from '../host/secret-keys.js';
import type { ObjectStore } from '../plane/files/objects/object-store.js';
import { openObjectStore } from '../plane/files/objects/open-store.js';
import type { LookedAtAgent } from './agent-cli.js';
import type { AgentConfig } from './config.js';
import { IDENTITY_FILES, identityFiles } from './identity-files.js';
import { dayFiles, logFolder } from './operation-log-files.js';
import { privateFolder, readIfThere, writeWhole } from './stored-files.js';

type StoreSettings = Pick<AgentConfig, 'objectStoreUrl' | 'objectStorePublicUrl' | 'publicUrl'>;

/** Links are not made, so that any key does. */
const storeOf = (
  { objectStoreUrl, objectStorePublicUrl, publicUrl }: StoreSettings,
  { clock, keyRing }: { readonly clock: Clock; readonly keyRing: KeyRing },
): ObjectStore =>
  openObjectStore(objectStoreUrl, { publicUrl, storePublicUrl: objectStorePublicUrl, keyRing, clock }).store;

/** What a backup of this agent contains. Close `store.objects` afterwards. */
export function agentBackupSource(config: AgentConfig, { clock }: { readonly clock: Clock }): BackupSource {
  const { name, url } = planeDatabase(config);
  const log = logFolder(config.dataDir);
  return {
    product: 'duebook-agent',
    version: versionOf(import.meta.url),
    databases: [
      {
        name,
        url,
        readUrl: config.backupTenantDatabaseUrl ?? url,
        readSetting: 'BACKUP_TENANT_DATABASE_URL',
      },
    ],
    store: { address: config.objectStoreUrl, objects: storeOf(config, { clock, keyRing: config.keyRing }) },
    secrets: { secretKeys: config.keyRing.reveal(), identity: storedIdentity(config.dataDir) },
    keyIds: config.keyRing.keyIds,
    // The head first: entries that follow the one it names are no fault.
    operations: [
      { name: 'head.json', path: join(log, 'head.json') },
      ...dayFiles(log).map(({ day, path }) => ({ name: `${day}.jsonl`, path })),
    ],
    policy: readIfThere(config.policyFile),
  };
}

/** A join that has begun and is not completed is not part of an identity. */
const BACKED_UP = [
  IDENTITY_FILES.key,
  IDENTITY_FILES.pinned,
  IDENTITY_FILES.tenant,
  IDENTITY_FILES.sequence,
  // Last: an identity with this file is complete.
  IDENTITY_FILES.connection,
] as const;

function storedIdentity(dataDir: string): Secrets['identity'] {
  return BACKED_UP.flatMap((name) => {
    const content = readIfThere(join(dataDir, 'identity', name));
    return content === undefined ? [] : [{ name, content }];
  });
}

/** Where a backup of an agent is restored. Creates no keys: a target without keys gets those of the backup. */
export function agentRestoreTarget({ values }: LookedAtAgent, { clock }: { readonly clock: Clock }): RestoreTarget {
  const keyRing = values.keyRing ?? parseKeyRing(generateKeyRingText());
  const path = ownSecretKeysPath(values.dataDir);
  return {
    product: 'duebook-agent',
    databases: [planeDatabase(values)],
    dataDir: values.dataDir,
    objects: storeOf(values, { clock, keyRing }),
    keys: {
      present: values.keyRing?.reveal(),
      write: (text) => {
        if (!existsSync(path)) writeNewFile(path, `${text}\n`);
      },
    },
    agent: agentFiles(values),
  };
}

/** What an agent with the same identity has is newer than a backup, and is kept. */
function agentFiles({ dataDir, policyFile }: Pick<AgentConfig, 'dataDir' | 'policyFile'>): RestoreAgentFiles {
  const operations = logFolder(dataDir);
  const staged = `${operations}.restoring`;
  return {
    refuseOther: (identity, { isResumed, force }) => {
      rmSync(staged, { recursive: true, force: true });
      const present = instanceOf(readIfThere(identityFiles(dataDir).pathOf('key')));
      const restored = instanceOf(identity.find(({ name }) => name === IDENTITY_FILES.key)?.content);
      if (present === undefined || present === restored || isResumed || force) return;
      throw new CommandError(
        'OTHER_IDENTITY',
        `${dataDir} has the identity of another agent than the backup. Nothing was changed. Set DATA_DIR to an empty directory, or replace it with --force`,
      );
    },
    writeOperations: (name, content) => {
      writeNewFile(join(privateFolder(staged), name), content);
    },
    writePolicy: (content) => {
      if (!existsSync(policyFile)) writeNewFile(policyFile, content);
    },
    finish: (identity) => {
      if (existsSync(staged) && (!existsSync(operations) || readdirSync(operations).length === 0)) {
        rmSync(operations, { recursive: true, force: true });
        renameSync(staged, operations);
      }
      rmSync(staged, { recursive: true, force: true });
      const files = identityFiles(dataDir);
      const key = identity.find(({ name }) => name === IDENTITY_FILES.key)?.content;
      if (instanceOf(readIfThere(files.pathOf('key'))) === instanceOf(key) && existsSync(files.pathOf('connection')))
        return;
      privateFolder(files.folder);
      for (const name of BACKED_UP) {
        const content = identity.find((one) => one.name === name)?.content;
        if (content !== undefined) writeWhole(join(files.folder, name), content);
      }
    },
  };
}

/** The id of the agent in the content of its `key.json`. */
function instanceOf(content: string | undefined): string | undefined {
  const value: unknown = content === undefined ? undefined : JSON.parse(content);
  return typeof value === 'object' && value !== null && 'instanceId' in value ? String(value.instanceId) : undefined;
}
