import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { speaksHttp, startGuarded, type Guarded } from './guarded.js';
import { endsWithItsRun, freePort } from './guardian.js';

/** As `.ci/run` installs it. */
const VERSION = 'v0.0.0-20260212201848-7aac2a2c5b7c';

export interface S3Server {
  readonly origin: string;
  /** `OBJECT_STORE_URL` of a bucket that is not there yet. */
  url(bucket: string): string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

/** The MinIO server of this run, started by the first call. Throws with the reason where there is none. */
export function sharedMinio(): Promise<S3Server> {
  return (shared ??= start());
}

let shared: Promise<S3Server> | undefined;
let running: Guarded | undefined;

async function start(): Promise<S3Server> {
  const binary = [process.env['MINIO_BIN'] ?? '', ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'minio')), join(homedir(), '.cache', 'duebook', `minio-${VERSION}`, 'minio')].find((path) => path !== '' && existsSync(path));
  if (binary === undefined) throw new Error('no MinIO server: MINIO_BIN, PATH and the cache of .ci/run have none');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const [accessKey, secretKey, region] = [`key-${randomBytes(6).toString('hex')}`, `${randomBytes(18).toString('base64')}/+%`, 'us-east-1'];
  running = await startGuarded({
    name: 'minio',
    command: (home) => [binary, 'server', join(home, 'data'), '--address', `127.0.0.1:${port}`, '--quiet'],
    env: (home) => ({ HOME: home, PATH: process.env.PATH, MINIO_ROOT_USER: accessKey, MINIO_ROOT_PASSWORD: secretKey, MINIO_BROWSER: 'off', MINIO_UPDATE: 'off', MINIO_CI_CD: '1' }),
    // Alive is sooner than ready: until then it answers 503.
    answers: () => speaksHttp(`${origin}/not-there`),
  });
  return { origin, accessKey, secretKey, region, url: (bucket) => `s3://${encodeURIComponent(accessKey)}:${encodeURIComponent(secretKey)}@127.0.0.1:${port}/${bucket}?tls=false&region=${region}` };
}

/** In tests it is ended by itself. */
export async function stopMinio(): Promise<void> {
  await running?.stop();
  running = undefined;
  shared = undefined;
}

// Registered where this file is first imported, at the top of a test file: a hook of the root suite, with any config.
if (endsWithItsRun) after('stop MinIO', stopMinio);
