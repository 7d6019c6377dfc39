import { CLAMD_MAX_BYTES } from '../plane/files/scanner/clamd-settings.js';
import {
  boolean,
  bytes,
  integer,
  oneOf,
  origin,
  setting,
  text,
  url,
  type DefaultContext,
  type Fault,
  type Kind,
  type Rule,
  type Setting,
  type Values,
} from '../base/config.js';
import { isOpenPostgres } from '../base/database/postgres-address.js';
import { isLoopback } from '../base/loopback.js';
import { parseKeyRing, SealError, type KeyRing } from '../base/secrets.js';
import { CONTENT_TYPES, mediaType } from '../plane/files/content/content-type.js';
import { objectStoreAddress } from '../plane/files/objects/object-store-address.js';
import { clamdAddress } from '../plane/files/scanner/clamd-stream.js';

/** In the folder in which the program is started. */
export const DEFAULT_DATA_DIR = './data';

/** Settings common to all programs. */
export const PROCESS_SETTINGS = {
  host: setting({ name: 'HOST', about: 'Address to listen on.', kind: text({ max: 255 }), default: '127.0.0.1' }),
  port: setting({
    name: 'PORT',
    about: 'Port to listen on; 0 picks a free one.',
    kind: integer({ min: 0, max: 65_535 }),
    default: 8080,
  }),
  dataDir: setting({
    name: 'DATA_DIR',
    about: 'Directory of SQLite files and generated keys.',
    kind: text({ max: 4_000 }),
    default: DEFAULT_DATA_DIR,
  }),
  logLevel: setting({
    name: 'LOG_LEVEL',
    about: 'Minimum level to log.',
    kind: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
  }),
  metricsToken: setting({
    name: 'METRICS_TOKEN',
    about: 'Bearer token for /metrics, which is disabled if not set.',
    kind: text({ max: 500 }),
    secret: true,
  }),
} as const;

/** The default URL of a database: an SQLite file in the data directory. */
export const databaseDefault =
  (file: string) =>
  ({ textOf }: DefaultContext) =>
    `sqlite:${textOf('DATA_DIR') ?? ''}/${file}`;

/** The settings of a data plane, for each program that hosts one. They come after `DATA_DIR` in its table. */
export const HOST_SETTINGS = {
  tenantDatabaseUrl: setting({
    name: 'TENANT_DATABASE_URL',
    about: 'Database of contract data: another database than that of PLATFORM_DATABASE_URL.',
    kind: url({ protocols: ['sqlite', 'postgres', 'postgresql'] }),
    default: databaseDefault('tenant.db'),
  }),
  objectStoreUrl: setting({
    name: 'OBJECT_STORE_URL',
    about:
      'Where files are stored: file: and a directory, or a bucket of an S3 server as s3://key:secret@host:9000/bucket, with ?tls=false if it does not use TLS, region=…, and style=virtual if the bucket is part of the host name.',
    kind: objectStoreAddress(),
    default: ({ textOf }) => `file:${textOf('DATA_DIR') ?? ''}/files`,
  }),
  objectStorePublicUrl: setting({
    name: 'OBJECT_STORE_PUBLIC_URL',
    about:
      'URL at which users reach the object store; links to files begin with it. If not set: PUBLIC_URL for a directory, the address in OBJECT_STORE_URL for an S3 server.',
    kind: origin(),
  }),
  fileMaxBytes: setting({
    name: 'FILE_MAX_BYTES',
    about: 'Maximum size of a file in bytes, at most 5 GiB.',
    kind: bytes({ min: 1, max: 5 * 1024 ** 3 }),
    default: 52_428_800,
  }),
  fileContentTypes: setting({
    name: 'FILE_CONTENT_TYPES',
    about: 'Content types that may be uploaded, comma-separated; only types whose content can be checked.',
    kind: contentTypes(),
    default: CONTENT_TYPES.join(','),
  }),
  fileScanMode: setting({
    name: 'FILE_SCAN_MODE',
    about: 'Malware scanner for files; off accepts them unscanned.',
    kind: oneOf('off', 'clamav'),
    default: (context) => (context.production ? 'clamav' : 'off'),
  }),
  clamavUrl: setting({
    name: 'CLAMAV_URL',
    about:
      'The clamd that scans files, as tcp://host:3310 or unix:/path; docs/scanner.md says how to configure one. Required with FILE_SCAN_MODE=clamav.',
    kind: clamavUrl(),
  }),
  fileDownloadRequiresCleanScan: setting({
    name: 'FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN',
    about:
      'Whether files that have not been scanned, or could not be scanned, cannot be downloaded; infected files never can.',
    kind: boolean(),
    default: true,
  }),
  tenantStorageQuotaBytes: setting({
    name: 'TENANT_STORAGE_QUOTA_BYTES',
    about: 'Maximum total size of the files of one organisation in bytes; unlimited if not set.',
    kind: bytes({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  }),
  databasePoolMax: setting({
    name: 'DATABASE_POOL_MAX',
    about:
      'Maximum number of connections to each PostgreSQL database; several processes of one service divide them, and each has at least 2.',
    kind: integer({ min: 1, max: 1_000 }),
    default: 10,
  }),
  keyRing: setting({
    name: 'SECRET_KEYS',
    about: 'Keys that seal secrets, as id:base64,…; the first seals, all open.',
    kind: keyRing(),
    required: 'in production',
    howToMake:
      'make a key with: echo "k1:$(openssl rand -base64 32)" ; then set SECRET_KEYS to it and keep a copy elsewhere',
    secret: true,
  }),
} as const;

/** The settings of backups, for each program that has the commands `backup` and `restore`. */
export const BACKUP_SETTINGS = {
  backupPassphrase: setting({
    name: 'BACKUP_PASSPHRASE',
    about:
      'Passphrase of backups, at least 12 characters: encrypts the keys in a backup and proves that it was not altered. If not set, the commands read it from standard input.',
    kind: text({ max: 1_000 }),
    secret: true,
  }),
  backupTenantDatabaseUrl: setting({
    name: 'BACKUP_TENANT_DATABASE_URL',
    about:
      'The database of TENANT_DATABASE_URL as a role that reads the rows of all organisations, for pg_dump: a superuser, or one with BYPASSRLS.',
    kind: url({ protocols: ['postgres', 'postgresql'] }),
  }),
  pgDump: setting({
    name: 'PG_DUMP',
    about:
      'The program pg_dump, of the version of the PostgreSQL server or a newer one; pg_restore is taken from the same folder. If not set, the pg_dump on the PATH.',
    kind: text({ max: 4_000 }),
  }),
} as const;

/** What a plane needs to open: its settings, and the public URL of the program that hosts it. */
export type HostSettings = Omit<Values<typeof HOST_SETTINGS>, 'keyRing'> & {
  readonly keyRing: KeyRing;
  readonly publicUrl: string;
};

/** Rules for the configuration of a program that hosts a plane. */
export const HOST_REFUSALS: readonly Rule<typeof HOST_SETTINGS>[] = [
  ({ fileScanMode, clamavUrl: url }) =>
    fileScanMode === 'clamav' && url === undefined
      ? [
          {
            name: 'CLAMAV_URL',
            problem:
              'is required with FILE_SCAN_MODE=clamav: set it to the address of a clamd, or set FILE_SCAN_MODE=off to accept files unscanned',
          },
        ]
      : [],
];

/** Rules whose findings are only warnings. */
export const HOST_CAUTIONS: readonly Rule<typeof HOST_SETTINGS & { readonly publicUrl: Setting<string, string> }>[] = [
  ({ fileScanMode }, context) =>
    context.production && fileScanMode === 'off'
      ? [{ name: 'FILE_SCAN_MODE', problem: 'is off: files are not scanned for malware' }]
      : [],
  ({ fileScanMode, fileDownloadRequiresCleanScan }) =>
    fileScanMode !== 'off' && !fileDownloadRequiresCleanScan
      ? [
          {
            name: 'FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN',
            problem: 'is false: files that could not be scanned can be downloaded',
          },
        ]
      : [],
  ({ fileScanMode, fileMaxBytes }) =>
    fileScanMode === 'clamav' && fileMaxBytes > CLAMD_MAX_BYTES
      ? [
          {
            name: 'FILE_MAX_BYTES',
            problem: `is more than clamd can scan: files above ${CLAMD_MAX_BYTES} bytes wait forever`,
          },
        ]
      : [],
  ({ tenantDatabaseUrl }) => readableOnItsWay('TENANT_DATABASE_URL', tenantDatabaseUrl),
  ({ publicUrl, objectStoreUrl, objectStorePublicUrl }, context) => {
    const links =
      objectStorePublicUrl ??
      (objectStoreUrl.provider === 's3'
        ? `${objectStoreUrl.tls ? 'https' : 'http'}://${objectStoreUrl.host}`
        : publicUrl);
    const warning = (problem: string): Fault[] => [{ name: 'OBJECT_STORE_PUBLIC_URL', problem }];
    if (!context.production) return [];
    if (isLoopback(links) && !isLoopback(publicUrl))
      return warning(
        `${objectStorePublicUrl === undefined ? 'is not set, and OBJECT_STORE_URL names' : 'names'} this machine: links to files begin with it and open on this machine only: set it to the https URL of the object store for users`,
      );
    // Anyone who intercepts a link can use it.
    return publicUrl.startsWith('https:') && links.startsWith('http:') && !isLoopback(links)
      ? warning('is not https: links to files are sent unencrypted, and browsers block them on https pages')
      : [];
  },
];

/** Warns about a database connection without encryption. */
export const readableOnItsWay = (name: string, address: string): Fault[] =>
  isOpenPostgres(address)
    ? [
        {
          name,
          problem:
            'is a PostgreSQL server on another machine without TLS: queries and results are sent unencrypted; add ?sslmode=verify-full',
        },
      ]
    : [];

function keyRing(): Kind<KeyRing> {
  return {
    parse: (given) => {
      try {
        return { ok: true, value: parseKeyRing(given) };
      } catch (error) {
        if (error instanceof SealError) return { ok: false, problem: `is not valid: ${error.message}` };
        throw error;
      }
    },
    show: ({ keyIds }) => keyIds.join(','),
  };
}

function clamavUrl(): Kind<string> {
  return {
    parse: (given) =>
      clamdAddress(given.trim())
        ? { ok: true, value: given.trim() }
        : { ok: false, problem: 'must be tcp://host:port or unix:/path' },
    show: (value) => value,
  };
}

function contentTypes(): Kind<readonly string[]> {
  return {
    parse: (given) => {
      const types = given
        .split(',')
        .map(mediaType)
        .filter((type) => type !== '');
      const unknown = types.filter((type) => !CONTENT_TYPES.includes(type));
      return unknown.length === 0
        ? { ok: true, value: types }
        : {
            ok: false,
            problem: `contains types whose content cannot be checked: ${unknown.slice(0, 10).join(', ').slice(0, 300)}`,
          };
    },
    show: (value) => value.join(','),
  };
}
