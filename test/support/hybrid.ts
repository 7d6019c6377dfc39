import type { Clock } from '../../data-plane-agent/base/clock.js';
import { freePort } from './guardian.js';
import { startServer, type DatabaseKind, type TestServer } from './server.js';

/** A control plane whose contract data is stored by agents, at its own public URL. */
export async function startHybrid({
  clock,
  database = 'sqlite',
  env = {},
}: {
  readonly clock?: Clock;
  /** The platform database. */
  readonly database?: DatabaseKind;
  readonly env?: Readonly<Record<string, string>>;
} = {}): Promise<TestServer> {
  const port = String(await freePort());
  return startServer({
    ...(clock && { clock }),
    database,
    env: { EDITION: 'enterprise_hybrid', PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, ...env },
  });
}
