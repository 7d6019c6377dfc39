import { setTimeout as sleep } from 'node:timers/promises';
import { systemCall } from '../../server/data-planes/system-call.js';
import type { HostedPlane, HostParts } from '../../data-plane-agent/host/open-plane.js';
import { bind } from '../../data-plane-agent/plane/contract/data-plane.js';
import type { OpenedFiles } from '../../data-plane-agent/plane/files/open-services.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import type { Plane } from '../../server/data-planes/plane.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import { signIn } from './accounts.js';
import type { Administration } from './administration.js';
import { needsClamd, startClamd, type TestClamd } from './clamd.js';
import type { Client } from './http.js';
import { sharedMinio } from './minio.js';
import { needsPostgres } from './postgres.js';
import { startServer, type DatabaseKind, type TestServer } from './server.js';
import { skip } from './skip.js';

/** `remote`: behind an agent that connects to the server. */
export type FileServerKind = `${DatabaseKind | 'remote'} and ${'a folder' | 'minio'}`;
/**
 * Each database, each place of the data plane and each store; on machines without MinIO the first one remains, and the
 * suites that name `remote and a folder` besides.
 */
export const FILE_SERVER_KINDS: readonly FileServerKind[] = [
  'sqlite and a folder',
  'postgres and minio',
  'remote and minio',
];

interface FileServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Created for each server. */
  readonly clock?: () => Clock;
  /** Whether files are scanned by a separate clamd. */
  readonly scans?: boolean;
  readonly kinds?: readonly FileServerKind[];
  /** See `startServer`. */
  readonly objects?: HostParts['objects'];
}

let buckets = 0;

/** `TEST_KINDS`, comma-separated, selects some of them; by default all are used. */
const PLACES = process.env['TEST_KINDS']?.split(',');

/**
 * Defines the same suite for each kind of file storage. `server()` and, if files are scanned, `clamd()` return the
 * running ones in hooks and tests.
 */
export function forEachFileServer(
  define: (server: () => TestServer, kind: FileServerKind, clamd: () => TestClamd) => void,
  { env = {}, clock, scans = false, objects, kinds = FILE_SERVER_KINDS }: FileServerOptions = {},
): void {
  for (const kind of kinds) {
    const [place = '', store] = kind.split(' and ');
    if (PLACES && !PLACES.includes(place)) continue;
    describe(`on ${kind}`, () => {
      if (place === 'postgres') needsPostgres();
      if (scans) needsClamd();
      const undo: (() => Promise<void>)[] = [];
      let running: { readonly server: TestServer; readonly clamd: TestClamd | undefined } | undefined;
      before('start the server', async function () {
        this.timeout(180_000); // servers may start slowly on a busy machine
        const bucket =
          store === 'minio'
            ? (
                await sharedMinio().catch((error: unknown) =>
                  skip(this, error instanceof Error ? error.message : String(error)),
                )
              ).url(`duebook-f-${process.pid}-${++buckets}`)
            : undefined;
        const clamd = scans ? await startClamd() : undefined;
        if (clamd) undo.push(() => clamd.stop());
        const server = await startServer({
          env: {
            ...(bucket === undefined ? {} : { OBJECT_STORE_URL: bucket }),
            ...(clamd ? { FILE_SCAN_MODE: 'clamav', CLAMAV_URL: clamd.url } : {}),
            ...env,
          },
          ...(clock ? { clock: clock() } : {}),
          objects,
          ...(place === 'remote' ? { remote: true } : { database: place === 'postgres' ? 'postgres' : 'sqlite' }),
        });
        undo.push(() => server.stop());
        // Creates the bucket, and runs the scanner's self-test.
        await settled(server);
        running = { server, clamd };
      });
      after('stop the server', async () => {
        for (const step of undo.toReversed()) await step();
      });
      const now = () => {
        if (!running) throw new Error('the server runs in hooks and tests, once its suite has begun');
        return running;
      };
      define(
        () => now().server,
        kind,
        () => {
          const { clamd } = now();
          if (!clamd) throw new Error('this suite has no scanner');
          return clamd;
        },
      );
    });
  }
}

export function hostedBy({ foundation: { hosted } }: TestServer): HostedPlane {
  if (!hosted) throw new Error('this edition hosts no data plane');
  return hosted;
}

export const filesOf = (server: TestServer): OpenedFiles => hostedBy(server).files;

/** The sorted keys of all objects of the tenant. */
export async function objectsOf(server: TestServer, { tenant }: Pick<Administration, 'tenant'>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of filesOf(server).objects.list('')) if (key.split('/')[1] === tenant.id) keys.push(key);
  return keys.toSorted();
}

/** Resolves when background work has ended. */
export const settled = (server: TestServer): Promise<void> => hostedBy(server).background.settled();

/** The data plane as a job calls it. */
export function asJob(server: TestServer, { tenant }: Pick<Administration, 'tenant'>, clock: Clock): Plane {
  const call = systemCall({
    tenantId: tenant.id,
    actor: { kind: 'system', id: null, name: 'job', ip: null, requestId: newId() },
    at: clock.now(),
  });
  return bind(server.foundation.dataPlanes.forTenant(tenant.id), call, { operations: OPERATIONS });
}

/** Signs in again, because access tokens expire when the clock is moved. */
export const ownerOf = async (server: TestServer, org: Administration): Promise<Client> =>
  (await signIn(server.client, { tenant: org.tenant, member: org.owner })).client;

/** Polls until the condition is true. */
export async function until<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    await sleep(50);
  }
}
