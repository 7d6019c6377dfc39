import type { AgentReport, Component } from '../base/link/messages.js';
import type { Log } from '../base/log.js';
import type { Clock } from '../base/clock.js';
import type { HostedPlane } from '../host/open-plane.js';
import type { ObjectStoreAddress } from '../plane/files/objects/object-store-address.js';
import type { AgentConfig } from './config.js';

/** What stands behind this agent, as it last found it. */
export interface Reporting {
  /** The last state; asks nothing. */
  report(): AgentReport;
  /** Looks again. Never rejects. */
  refresh(): Promise<void>;
}

const DATABASE_MS = 1_000;
/** A probe puts and removes an object. */
const STORE_EVERY_MS = 5 * 60_000;
const STORE_RETRY_MS = 60_000;

export function createReporting(
  config: Pick<
    AgentConfig,
    'databaseLocation' | 'objectStoreLocation' | 'scannerLocation' | 'objectStoreUrl' | 'fileScanMode'
  >,
  { hosted, clock, log }: { readonly hosted: HostedPlane; readonly clock: Clock; readonly log: Log },
): Reporting {
  const { database, files } = hosted;
  let outboxDue = false;
  let databaseState: Component['state'] = 'unknown';
  let storeState: Component['state'] = 'unknown';
  let storeProvider: Component['provider'] | undefined;
  let storeDueAt = 0;

  const lookAtStore = async (): Promise<void> => {
    if (clock.now() < storeDueAt) return;
    storeProvider ??= await storeProviderOf(config.objectStoreUrl);
    const faults = await files.objects.probe();
    storeState = faults.length === 0 ? 'up' : 'down';
    storeDueAt = clock.now() + (storeState === 'up' ? STORE_EVERY_MS : STORE_RETRY_MS);
  };
  const lookAtDatabase = async (): Promise<void> => {
    databaseState = (await database.ping(DATABASE_MS)) ? 'up' : 'down';
    if (databaseState === 'up') outboxDue = (await hosted.dueMessages(1)).count > 0;
  };

  return {
    report: () => ({
      components: [
        {
          kind: 'database',
          provider: database.dialect,
          location: orNull(config.databaseLocation),
          state: databaseState,
        },
        {
          kind: 'object_storage',
          provider: storeProvider ?? files.objects.provider,
          location: orNull(config.objectStoreLocation),
          state: storeState,
        },
        {
          kind: 'malware_scanner',
          provider: files.scanner.provider,
          location: orNull(config.scannerLocation),
          state: SCANNER_STATE[files.scanner.state()],
        },
      ],
      outboxDue,
    }),
    refresh: async () => {
      const looked = await Promise.allSettled([lookAtDatabase(), lookAtStore()]);
      for (const one of looked)
        if (one.status === 'rejected') log.warn({ err: one.reason as unknown }, 'a component could not be examined');
    },
  };
}

const SCANNER_STATE = { up: 'up', limited: 'up', untrusted: 'down', down: 'down', off: 'unknown' } as const;

/** An unset location has the empty text as its default. */
export const orNull = (location: string | undefined): string | null => (location ? location : null);

const STORE_MS = 3_000;

/** MinIO answers at a path of its own. Another S3 server, and one that does not answer, counts as S3. */
export async function storeProviderOf(address: ObjectStoreAddress): Promise<'filesystem' | 'minio' | 's3'> {
  if (address.provider === 'filesystem') return 'filesystem';
  const { tls, host, port } = address;
  try {
    const answer = await fetch(`${tls ? 'https' : 'http'}://${host}:${port}/minio/health/live`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(STORE_MS),
    });
    await answer.body?.cancel();
    return answer.status === 200 ? 'minio' : 's3';
  } catch {
    return 's3'; // the probe of the object store reports why it does not answer
  }
}
