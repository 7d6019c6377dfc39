import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../data-plane-agent/base/clock.js';
import { createLifecycle } from '../../data-plane-agent/base/lifecycle.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { reportFaults } from '../../data-plane-agent/base/config.js';
import { openPlane, type HostParts } from '../../data-plane-agent/host/open-plane.js';
import { embedded } from '../../server/data-planes/for-tenant.js';
import type { Argon2 } from '../../server/credentials/passwords.js';
import type { Config } from '../../server/config.js';
import { loadServerConfig } from '../../server/config-load.js';
import type { TurnsOptions } from '../../server/http/turns.js';
import { serve } from '../../server/serve.js';
import type { Foundation, Host } from '../../server/foundation.js';
import type { Schedules } from '../../data-plane-agent/base/schedules.js';
import type { Services } from '../../server/services/services.js';
import { onceArgon2 } from './accounts.js';
import { hostedByAgents } from './agents-here.js';
import { sharedCalendar } from './calendar-provider.js';
import { client, type Client } from './http.js';
import { migratedFile } from './migrated.js';
import { SERVER_URL, sharedOidc } from './oidc.js';
import { createDatabase, needsPostgres } from './postgres.js';

export interface TestServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Not signed in; `client.as(token)` is. */
  readonly client: Client;
  readonly services: Services;
  readonly foundation: Foundation;
  readonly schedules: Schedules;
  readonly config: Config;
  /** The log lines. */
  readonly logged: readonly Record<string, unknown>[];
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** By default `sqlite`. */
  readonly database?: DatabaseKind;
  /** Environment variables that override those of a development server. */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly argon2?: Argon2;
  /**
   * Contract data is reached over links, as behind agents: each organisation has one in this process, and all have one
   * data plane. `TEST_LINK` selects the transport, `TEST_AGENT_DATABASE` the database.
   */
  readonly remote?: boolean;
  /** Called with the name of each operation that a remote data plane has answered without a failure. */
  readonly onAnswered?: ((operation: string) => void) | undefined;
  /** Replaces the object store, given the one of the settings. */
  readonly objects?: HostParts['objects'];
  /** By default, answers that do not match their declaration are 500. */
  readonly checkAnswers?: boolean;
  /** By default, requests wait for their turn as long as they have to, however slow the machine is. */
  readonly turns?: TurnsOptions;
}
export type DatabaseKind = 'sqlite' | 'postgres';
/** The kinds of `forEachServer`: on `remote` the contract data of an SQLite server is reached over links to agents. */
const SERVER_KINDS = ['sqlite', 'postgres', 'remote'] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];
/**
 * By default each database, and each place of the data plane, is used once: suites differ on SQLite in this process and
 * behind an agent only by the link. `TEST_KINDS`, comma-separated, selects others.
 */
const KINDS: readonly string[] = (process.env['TEST_KINDS'] ?? 'postgres,remote').split(',');

/**
 * The complete service as with `npm start`, on a free port, with its own databases. Answers that do not match their
 * declaration are 500.
 */
export async function startServer({
  database = 'sqlite',
  env = {},
  clock = systemClock,
  argon2 = onceArgon2,
  remote = false,
  onAnswered,
  objects,
  checkAnswers = true,
  turns = { longestWaitMs: 120_000 },
}: ServerOptions = {}): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'duebook-server-'));
  const undo: (() => Promise<void>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  const remove = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    const urls = database === 'postgres' ? await postgresUrls(undo) : {};
    if (database === 'sqlite') await migratedFiles(dataDir);
    const loaded = await loadServerConfig({
      DATA_DIR: dataDir,
      PORT: '0',
      PUBLIC_URL: SERVER_URL,
      SSO_PROVIDERS: JSON.stringify([(await sharedOidc()).settings()]),
      // The shared one has no https addresses, which production requires.
      ...(env['NODE_ENV'] === 'production' ? {} : (await sharedCalendar()).env),
      LOG_LEVEL: 'info',
      ...urls,
      ...env,
    });
    if (!loaded.ok) throw new Error(reportFaults(loaded.faults));
    const logged: Record<string, unknown>[] = [];
    const log = createLog({
      level: loaded.config.logLevel,
      name: 'test',
      destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
    });
    const lifecycle = createLifecycle({ log });
    undo.push(async () => void (await lifecycle.stop('test')));
    const { port, services, foundation, schedules } = await serve(loaded.config, {
      clock,
      log,
      lifecycle,
      residentBytes: () => process.memoryUsage.rss(),
      checkAnswers,
      argon2,
      turns,
      host: remote ? hostedByAgents({ undo, objects, onAnswered }) : hostedHere(objects),
    });
    const url = `http://127.0.0.1:${port}`;
    return { url, client: client(url), services, foundation, schedules, config: loaded.config, logged, stop: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Defines the same suite for a server on PostgreSQL, and one whose data plane is remote and on SQLite, unless
 * `TEST_KINDS` names others. `server()` returns the running one in hooks and tests.
 */
export function forEachServer(
  define: (server: () => TestServer, kind: ServerKind) => void,
  options: Omit<ServerOptions, 'database' | 'remote'> = {},
): void {
  for (const kind of SERVER_KINDS.filter((each) => KINDS.includes(each))) {
    describe(`on ${kind}`, () => {
      if (kind === 'postgres') needsPostgres();
      let running: TestServer | undefined;
      before('start the server', async () => {
        running = await startServer({ ...options, ...(kind === 'remote' ? { remote: true } : { database: kind }) });
      });
      after('stop the server', () => running?.stop());
      define(() => {
        if (!running) throw new Error('the server runs in hooks and tests, once its suite has begun');
        return running;
      }, kind);
    });
  }
}

const hostedHere =
  (objects: HostParts['objects']): Host =>
  async (settings, parts) => {
    const hosted = await openPlane(settings, { ...parts, objects });
    return { hosted, dataPlanes: embedded(hosted.plane) };
  };

/** The server's default path for files. */
async function migratedFiles(dataDir: string): Promise<void> {
  for (const schema of ['platform', 'tenant'] as const)
    await writeFile(join(dataDir, `${schema}.db`), await migratedFile(schema), { mode: 0o600 });
}

async function postgresUrls(undo: (() => Promise<void>)[]): Promise<Record<string, string>> {
  const [platform, tenant] = await Promise.all([
    createDatabase({ migrated: 'platform' }),
    createDatabase({ migrated: 'tenant' }),
  ]);
  undo.push(platform.drop, tenant.drop);
  return { PLATFORM_DATABASE_URL: platform.url, TENANT_DATABASE_URL: tenant.url };
}
