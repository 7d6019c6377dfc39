import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { keyIdOf, newLinkKey, verifierOf, type PublicKey } from '../../data-plane-agent/base/link/keys.js';
import type { Joined, JoinRequest, LinkedTenant, RotateRequest } from '../../data-plane-agent/base/link/messages.js';
import { verifyJoin, verifyRotation } from '../../data-plane-agent/base/link/proofs.js';
import { verifyToken } from '../../data-plane-agent/base/link/tokens.js';
import { linkedTenant } from './agent.js';
import type { Outcome } from './cli.js';
import { COMPILE_CACHE, program } from './programs.js';

export interface AgentProcess {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when standard output contains the text; rejects if the process ends before. */
  printed(text: string): Promise<string>;
  readonly ended: Promise<Outcome>;
}

/** Starts `duebook-agent` with these variables alone. `input` is its complete standard input. */
export function startAgent(
  args: readonly string[],
  {
    cwd,
    env = {},
    input = '',
  }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>>; readonly input?: string },
): AgentProcess {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program('data-plane-agent/agent/main.ts'), ...args], {
    cwd,
    env: { PATH, HOME, ...COMPILE_CACHE, ...env },
  });
  let stdout = '';
  let stderr = '';
  let look: () => void = () => undefined;
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    stdout += piece;
    look();
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece));
  // A process may end without reading its input.
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    ended,
    printed: (wanted) =>
      new Promise((resolve, reject) => {
        look = () => {
          if (stdout.includes(wanted)) resolve(stdout);
        };
        look();
        void ended.then((outcome) =>
          reject(new Error(`ended before it printed "${wanted}": ${JSON.stringify(outcome)}`)),
        );
      }),
  };
}

/** The paths of a control plane at which agents join and replace their keys, with the real proofs. */
export interface JoiningPlane {
  readonly origin: string;
  readonly token: string;
  readonly tenant: LinkedTenant;
  /** The keys that agents have joined with, and replaced theirs with, in order. */
  readonly keys: readonly PublicKey[];
  /** What the next request is answered with instead. `drop` processes it and closes the connection. */
  next: 'normal' | 'drop' | 'refuse' | 'nonsense';
  /** How far its clock is ahead. */
  aheadMs: number;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export async function openJoiningPlane({
  accessMode = 'direct',
  tenant = linkedTenant(),
}: { readonly accessMode?: Joined['accessMode']; readonly tenant?: LinkedTenant } = {}): Promise<JoiningPlane> {
  const keys: PublicKey[] = [];
  const requests: string[] = [];
  const own = await newLinkKey();
  const connectionId = newId();
  const server = createServer((request, response) => {
    const answer = async (): Promise<{ status: number; body: unknown }> => {
      const body = JSON.parse(await text(request)) as unknown;
      requests.push(request.url ?? '');
      if (request.url === '/link/v1/challenge')
        return {
          status: 200,
          body: { nonce: 'nonce', controlPlane: plane.origin, serverTime: systemClock.now() + plane.aheadMs },
        };
      if (plane.next === 'refuse')
        return {
          status: 401,
          body: { error: { code: 'JOIN_TOKEN_INVALID', message: 'The join token is unknown.', details: {} } },
        };
      if (plane.next === 'nonsense') return { status: 200, body: { hello: 'world' } };
      if (request.url === '/link/v1/join') {
        const { joinToken, key, proof, instanceId } = body as JoinRequest;
        await verifyJoin(proof, { controlPlane: plane.origin, instanceId, joinToken }, { key, clock: systemClock });
        keys.push(key);
        const joined: Joined = { connectionId, controlPlane: plane.origin, accessMode, tenant, keys: [own.publicJwk] };
        return { status: 200, body: joined };
      }
      const { key, proof } = body as RotateRequest;
      const [present] = keys.slice(-1);
      if (!present) throw new Error('no agent has joined');
      const authorization = await verifyToken(
        (request.headers.authorization ?? '').replace('Bearer ', ''),
        { type: 'rotate', issuer: connectionId, audience: plane.origin },
        {
          clock: systemClock,
          keyOf: async (kid) => {
            for (const known of keys) if ((await keyIdOf(known)) === kid) return verifierOf(known);
            return undefined;
          },
        },
      );
      await verifyRotation(
        { authorization, proof },
        { controlPlane: plane.origin, connectionId, key },
        { clock: systemClock },
      );
      keys.push(key);
      return { status: 200, body: { oldKeyUntil: systemClock.now() + 86_400_000 } };
    };
    answer().then(
      ({ status, body }) => {
        if (plane.next === 'drop' && request.url !== '/link/v1/challenge') return void request.socket.destroy();
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const plane: JoiningPlane = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'dpj_0123456789',
    tenant,
    keys,
    next: 'normal',
    aheadMs: 0,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return plane;
}
