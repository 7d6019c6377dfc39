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

/** How a program of ours runs, whatever it is for. */
export const PROCESS_SETTINGS = {
  host: setting({ name: 'HOST', about: 'Address to listen on.', kind: text({ max: 255 }), default: '127.0.0.1' }),
  port: setting({
    name: 'PORT',
    about: 'Port to listen on; 0 takes a free one.',
    kind: integer({ min: 0, max: 65_535 }),
    default: 8080,
  }),
  dataDir: setting({
    name: 'DATA_DIR',
    about: 'Folder of SQLite files and generated keys.',
    kind: text({ max: 4_000 }),
    default: './data',
  }),
  logLevel: setting({
    name: 'LOG_LEVEL',
    about: 'The least that is logged.',
    kind: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
  }),
  metricsToken: setting({
    name: 'METRICS_TOKEN',
    about: 'Bearer token of /metrics, which without one is not there.',
    kind: text({ max: 500 }),
    secret: true,
  }),
} as const;

/** Of a database that is a file of the program's data folder unless it is set. */
export const databaseDefault =
  (file: string) =>
  ({ textOf }: DefaultContext) =>
    `sqlite:${textOf('DATA_DIR') ?? ''}/${file}`;

/** Every setting of a data plane, for each program that hosts one. They stand behind `DATA_DIR` in its table. */
export const HOST_SETTINGS = {
  tenantDatabaseUrl: setting({
    name: 'TENANT_DATABASE_URL',
    about: 'Database of contract data.',
    kind: url({ protocols: ['sqlite', 'postgres', 'postgresql'] }),
    default: databaseDefault('tenant.db'),
  }),
  objectStoreUrl: setting({
    name: 'OBJECT_STORE_URL',
    about:
      'Where the bytes of files are: file: and a folder, or a bucket of an S3 server as s3://key:secret@host:9000/bucket, with ?tls=false where it speaks no TLS, region=…, and style=virtual where the bucket stands before the host.',
    kind: objectStoreAddress(),
    default: ({ textOf }) => `file:${textOf('DATA_DIR') ?? ''}/files`,
  }),
  objectStorePublicUrl: setting({
    name: 'OBJECT_STORE_PUBLIC_URL',
    about:
      'Where users reach the object store, when under another address: for a folder PUBLIC_URL unless set, for an S3 server the address in OBJECT_STORE_URL. Links to files begin with it.',
    kind: origin(),
  }),
  fileMaxBytes: setting({
    name: 'FILE_MAX_BYTES',
    about: 'How many bytes one file may have, at most 5 GiB.',
    kind: bytes({ min: 1, max: 5 * 1024 ** 3 }),
    default: 52_428_800,
  }),
  fileContentTypes: setting({
    name: 'FILE_CONTENT_TYPES',
    about: 'Content types that may be uploaded, comma-separated, of those that files can be checked for.',
    kind: contentTypes(),
    default: CONTENT_TYPES.join(','),
  }),
  fileScanMode: setting({
    name: 'FILE_SCAN_MODE',
    about: 'Who looks for malware in files; off takes them in unseen.',
    kind: oneOf('off', 'clamav'),
    default: (context) => (context.production ? 'clamav' : 'off'),
  }),
  clamavUrl: setting({
    name: 'CLAMAV_URL',
    about:
      'The clamd that scans files, as tcp://host:3310 or unix:/path; docker/clamd.conf sets one up. Needed beside FILE_SCAN_MODE=clamav.',
    kind: clamavUrl(),
  }),
  fileDownloadRequiresCleanScan: setting({
    name: 'FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN',
    about: 'Whether a file that is not scanned yet, or could not be scanned, stays here; an infected one always does.',
    kind: boolean(),
    default: true,
  }),
  tenantStorageQuotaBytes: setting({
    name: 'TENANT_STORAGE_QUOTA_BYTES',
    about: 'How many bytes the files of one organisation may have together; without it there is no limit.',
    kind: bytes({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  }),
  databasePoolMax: setting({
    name: 'DATABASE_POOL_MAX',
    about: 'Connections to each PostgreSQL database.',
    kind: integer({ min: 1, max: 1_000 }),
    default: 10,
  }),
  keyRing: setting({
    name: 'SECRET_KEYS',
    about: 'Keys that seal secrets, as id:base64,…; the first seals, all open.',
    kind: keyRing(),
    required: 'in production',
    secret: true,
  }),
} as const;

/** What a plane is opened from: its settings, and where users reach the program that hosts it. */
export type HostSettings = Omit<Values<typeof HOST_SETTINGS>, 'keyRing'> & {
  readonly keyRing: KeyRing;
  readonly publicUrl: string;
};

/** For the rules of a program that hosts a plane. */
export const HOST_REFUSALS: readonly Rule<typeof HOST_SETTINGS>[] = [
  ({ fileScanMode, clamavUrl: url }) =>
    fileScanMode === 'clamav' && url === undefined
      ? [
          {
            name: 'CLAMAV_URL',
            problem:
              'is required beside FILE_SCAN_MODE=clamav: set it to the address of a clamd, or FILE_SCAN_MODE=off to take files in that nothing has looked into',
          },
        ]
      : [],
];

/** For its cautions. */
export const HOST_CAUTIONS: readonly Rule<typeof HOST_SETTINGS & { readonly publicUrl: Setting<string, string> }>[] = [
  ({ fileScanMode }, context) =>
    context.production && fileScanMode === 'off'
      ? [{ name: 'FILE_SCAN_MODE', problem: 'is off: nothing looks for malware in files' }]
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
  ({ tenantDatabaseUrl }) => readableOnItsWay('TENANT_DATABASE_URL', tenantDatabaseUrl),
  ({ publicUrl, objectStoreUrl, objectStorePublicUrl }, context) => {
    const links =
      objectStorePublicUrl ??
      (objectStoreUrl.provider === 's3'
        ? `${objectStoreUrl.tls ? 'https' : 'http'}://${objectStoreUrl.host}`
        : publicUrl);
    // Whoever reads a link on its way may use it as well as the one for whom it was made.
    const open =
      context.production && publicUrl.startsWith('https:') && links.startsWith('http:') && !isLoopback(links);
    return open
      ? [
          {
            name: 'OBJECT_STORE_PUBLIC_URL',
            problem:
              'is not https: links to files go through the network in the open, and browsers refuse them on a page that is',
          },
        ]
      : [];
  },
];

/** The caution about a database whose traffic others could read. */
export const readableOnItsWay = (name: string, address: string): Fault[] =>
  isOpenPostgres(address)
    ? [
        {
          name,
          problem:
            'is a PostgreSQL on another machine without TLS: what it is asked and answers goes through the network in the open; add ?sslmode=verify-full',
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
            problem: `has types that files cannot be checked for: ${unknown.slice(0, 10).join(', ').slice(0, 300)}`,
          };
    },
    show: (value) => value.join(','),
  };
}
