import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { sqlitePath } from '../../data-plane-agent/base/database/open.js';
import { listSigningKeys } from '../../server/auth/keys.js';
import { databasesOf } from '../../server/databases.js';
import { listenFault } from '../../data-plane-agent/base/http/listen-fault.js';
import { withDatabase, type LookedAt } from '../installation.js';
import { check, reasonOf, type Check } from './check.js';

/** The server can listen on HOST and PORT, or the server of this installation already listens there. */
export async function portCheck({ values }: Pick<LookedAt, 'values'>): Promise<Check> {
  const { host, port } = values;
  if (port === 0) return check.ok('port', 'PORT=0: a free port is chosen at the start');
  const address = `${host}:${port}`;
  const reason = await obstacleAt({ host, port });
  if (reason === undefined) return check.ok('port', `${address} is free`);
  const fault = listenFault(reason, values);
  if (!fault) return check.fail('port', `${address} cannot be listened on (${reason})`, 'check HOST and PORT');
  if (reason !== 'EADDRINUSE') return check.fail('port', fault.problem, fault.fix);
  const served = await keyIdsAt({ host, port });
  const own = await ownKeyIds(values);
  if (served.length > 0 && own === undefined)
    return check.warn(
      'port',
      `a Duebook server listens on ${address}; whether it is this installation's was not examined, because the platform database cannot be read`,
      'make the platform database readable first',
    );
  if (served.some((id) => own?.includes(id))) return check.ok('port', `this server listens on ${address}`);
  return check.fail(
    'port',
    `${address} is in use by ${served.length > 0 ? 'another installation' : 'another program'}`,
    'stop that program, or set PORT to another port',
  );
}

/** The code of the error when listening fails; undefined if it succeeds. */
function obstacleAt({ host, port }: { host: string; port: number }): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(reasonOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

const ANSWER_TIMEOUT_MS = 3_000;

/** The ids of the token keys that a server publishes at this address; none if it is another program. */
async function keyIdsAt({ host, port }: { host: string; port: number }): Promise<string[]> {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const origin = `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
  try {
    const answer = await fetch(`${origin}/.well-known/jwks.json`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    const { keys } = (await answer.json()) as { readonly keys?: unknown };
    return Array.isArray(keys) ? keys.flatMap((key: unknown) => keyIdOf(key)) : [];
  } catch {
    return []; // no answer, or not a key set
  }
}

const keyIdOf = (key: unknown): string[] =>
  typeof key === 'object' && key !== null && 'kid' in key && typeof key.kid === 'string' ? [key.kid] : [];

/** The ids of the keys in the database; undefined if it cannot be read, which its own check reports. */
async function ownKeyIds(values: LookedAt['values']): Promise<string[] | undefined> {
  const { platform } = databasesOf(values);
  const file = sqlitePath(platform.url);
  if (file !== undefined && !existsSync(file)) return [];
  return withDatabase(platform, values, async (database) =>
    (await listSigningKeys(database)).map(({ kid }) => kid),
  ).catch(() => undefined);
}
