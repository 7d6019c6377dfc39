import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { LOCAL_CERTIFICATE, LOCAL_PRIVATE_KEY } from './certificate.js';
import { speaksHttp, startGuarded } from './guarded.js';
import { endsWithItsRun, freePort } from './guardian.js';
import { overTls } from './over-tls.js';

/** Where `.ci/run` installs it. */
const VERSION = 'v0.0.0-20260212201848-7aac2a2c5b7c';

export interface S3Server {
  readonly origin: string;
  /** `OBJECT_STORE_URL` of a bucket that does not exist yet. */
  url(bucket: string): string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

/** The MinIO server of this run, started by the first call. Throws with the reason if it is not available. */
export function sharedMinio(): Promise<S3Server> {
  return (shared ??= start('us-east-1').then((started) => (running = started).server));
}

/**
 * A separate server that only accepts TLS, with `LOCAL_CERTIFICATE` and a different region. Its buckets are also
 * available as subdomains of `s3.localhost`, which `style=virtual` uses. The caller must stop it.
 */
export const startTlsMinio = (): Promise<StartedMinio> => start('eu-test-1', { tls: true });

export interface StartedMinio {
  readonly server: S3Server;
  stop(): Promise<void>;
}

let shared: Promise<S3Server> | undefined;
let running: StartedMinio | undefined;

async function start(region: string, { tls = false }: { readonly tls?: boolean } = {}): Promise<StartedMinio> {
  const binary = [
    process.env['MINIO_BIN'] ?? '',
    ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'minio')),
    join(homedir(), '.cache', 'duebook', `minio-${VERSION}`, 'minio'),
  ].find((path) => path !== '' && existsSync(path));
  if (binary === undefined) throw new Error('no MinIO server: MINIO_BIN, PATH and the cache of .ci/run have none');
  const port = await freePort();
  const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const [accessKey, secretKey] = [`key-${randomBytes(6).toString('hex')}`, `${randomBytes(18).toString('base64')}/+%`];
  const { stop } = await startGuarded({
    name: 'minio',
    command: (home) => [
      binary,
      'server',
      join(home, 'data'),
      '--address',
      `127.0.0.1:${port}`,
      '--quiet',
      ...(tls ? ['--certs-dir', certificatesIn(home)] : []),
    ],
    env: (home) => ({
      HOME: home,
      PATH: process.env.PATH,
      MINIO_ROOT_USER: accessKey,
      MINIO_ROOT_PASSWORD: secretKey,
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
      MINIO_CI_CD: '1',
      ...(tls ? { MINIO_DOMAIN: 's3.localhost', MINIO_SITE_REGION: region } : {}),
    }),
    // It responds before it is ready, with 503.
    answers: () =>
      tls
        ? overTls(`${origin}/not-there`).then(
            ({ status }) => status < 500,
            () => false,
          )
        : speaksHttp(`${origin}/not-there`),
  });
  return {
    server: {
      origin,
      accessKey,
      secretKey,
      region,
      url: (bucket) =>
        `s3://${encodeURIComponent(accessKey)}:${encodeURIComponent(secretKey)}@127.0.0.1:${port}/${bucket}?tls=${tls}&region=${region}`,
    },
    stop,
  };
}

/** With the file names that MinIO expects. */
function certificatesIn(home: string): string {
  const folder = join(home, 'certificates');
  mkdirSync(folder);
  writeFileSync(join(folder, 'public.crt'), LOCAL_CERTIFICATE);
  writeFileSync(join(folder, 'private.key'), LOCAL_PRIVATE_KEY);
  return folder;
}

/** In tests it is stopped automatically. */
export async function stopMinio(): Promise<void> {
  await running?.stop();
  running = undefined;
  shared = undefined;
}

// Registered when this module is first imported, at the top of a test file, so that it is a hook of the root suite.
if (endsWithItsRun) after('stop MinIO', stopMinio);
