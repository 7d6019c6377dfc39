import { join } from 'node:path';
import type { Answers } from './questions.js';
import type { Variables } from './env-file.js';

/** What an installation has that nobody is asked for: made once, and kept by later runs. */
export interface Secrets {
  readonly secretKeys: string;
  readonly metricsToken: string;
  /** Of the database and the object store that Compose brings. */
  readonly databasePassword: string;
  readonly objectStorePassword: string;
}

/** The settings of the server. `dataDir` is where it will run. */
export function settingsOf(
  answers: Answers,
  { secrets, dataDir }: { readonly secrets: Secrets; readonly dataDir: string },
): Variables {
  const { target, edition = 'self_hosted', publicUrl = '', port, mail = 'none', mailFrom = '' } = answers;
  const bundled = target === 'compose';
  const keepsContracts = edition !== 'enterprise_hybrid';
  const scanner = bundled ? 'unix:/run/clamav/clamd.sock' : (answers.scanner ?? 'off');
  return {
    NODE_ENV: 'production',
    EDITION: edition,
    ...(port === undefined ? {} : { HOST: '127.0.0.1', PORT: port }),
    PUBLIC_URL: publicUrl,
    // The server speaks http: a proxy with TLS is in front of it.
    TRUST_PROXY: publicUrl.startsWith('https:') ? '1' : '0',
    DATA_DIR: dataDir,
    PLATFORM_DATABASE_URL: databaseUrl(bundled ? bundledDatabase('platform', secrets) : answers.platformDatabase, {
      dataDir,
      file: 'platform.db',
    }),
    ...(keepsContracts
      ? {
          TENANT_DATABASE_URL: databaseUrl(bundled ? bundledDatabase('contracts', secrets) : answers.tenantDatabase, {
            dataDir,
            file: 'tenant.db',
          }),
          OBJECT_STORE_URL: bundled
            ? `s3://duebook:${secrets.objectStorePassword}@minio:9000/duebook?tls=false`
            : answers.objectStore === 'folder'
              ? `file:${join(dataDir, 'files')}`
              : (answers.objectStore ?? ''),
          ...(answers.filesUrl ? { OBJECT_STORE_PUBLIC_URL: answers.filesUrl } : {}),
          ...(scanner === 'off' ? { FILE_SCAN_MODE: 'off' } : { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: scanner }),
        }
      : // Agents have the files scanned.
        { FILE_SCAN_MODE: 'off' }),
    ...(mail === 'none' ? {} : { SMTP_URL: mail, MAIL_FROM: mailFrom }),
    SECRET_KEYS: secrets.secretKeys,
    METRICS_TOKEN: secrets.metricsToken,
  };
}

const databaseUrl = (
  answer: string | undefined,
  { dataDir, file }: { readonly dataDir: string; readonly file: string },
): string => (answer === 'sqlite' ? `sqlite:${join(dataDir, file)}` : (answer ?? ''));

const bundledDatabase = (name: string, { databasePassword }: Secrets): string =>
  `postgres://duebook:${databasePassword}@postgres/duebook_${name}`;
