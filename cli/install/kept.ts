import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyRingText, parseKeyRing, randomToken, SealError } from '../../data-plane-agent/base/secrets.js';
import { CommandError } from '../errors.js';
import { variablesIn, type Variables } from './env-file.js';
import { ENV_FILE } from './files.js';
import type { Target } from './questions.js';
import type { Secrets } from './settings.js';

/** What an earlier installation in the folder has, and secrets for what it lacks. */
export interface Kept {
  readonly secrets: Secrets;
  /** Settings that operators have added to its file. */
  readonly added: Variables;
}

/**
 * The secrets of an earlier installation, or new ones. Throws SECRETS_UNREADABLE instead of making new keys when there
 * is a file but not its keys: data that was sealed with them would be lost.
 */
export function keptIn(folder: string, target: Target): Kept {
  const path = join(folder, ENV_FILE[target]);
  const before = existsSync(path) ? variablesIn(readFileSync(path, 'utf8')) : undefined;
  const inFolder = (name: string): string | undefined => {
    const file = join(folder, 'secrets', name);
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  };
  const keys = target === 'compose' ? inFolder('secret_keys') : before?.['SECRET_KEYS'];
  if (before && keys === undefined)
    throw new CommandError(
      'SECRETS_UNREADABLE',
      `${path} exists, but its SECRET_KEYS cannot be found: nothing was written; restore them, or move the file away if nothing was ever stored with them`,
    );
  if (keys !== undefined) refuseBadKeys(keys, path);
  return {
    secrets: {
      secretKeys: keys ?? generateKeyRingText(),
      metricsToken: before?.['METRICS_TOKEN'] ?? randomToken(24),
      databasePassword: inFolder('database_password') ?? randomToken(24),
      objectStorePassword: inFolder('object_store_password') ?? randomToken(24),
    },
    added: Object.fromEntries(Object.entries(before ?? {}).filter(([name]) => !WRITTEN.has(name))),
  };
}

function refuseBadKeys(keys: string, path: string): void {
  try {
    parseKeyRing(keys);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new CommandError('SECRETS_UNREADABLE', `the SECRET_KEYS of ${path} are not valid: nothing was written`);
  }
}

/** What "duebook install" writes: anything else is an operator's. */
const WRITTEN = new Set([
  'NODE_ENV',
  'EDITION',
  'HOST',
  'PORT',
  'PUBLIC_URL',
  'TRUST_PROXY',
  'DATA_DIR',
  'PLATFORM_DATABASE_URL',
  'TENANT_DATABASE_URL',
  'OBJECT_STORE_URL',
  'OBJECT_STORE_PUBLIC_URL',
  'FILE_SCAN_MODE',
  'CLAMAV_URL',
  'SMTP_URL',
  'MAIL_FROM',
  'SECRET_KEYS',
  'METRICS_TOKEN',
]);
