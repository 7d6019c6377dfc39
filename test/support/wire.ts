import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DataPlane, OperationList } from '../../data-plane-agent/plane/contract/data-plane.js';
import {
  TransportError,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../../data-plane-agent/plane/contract/wire.js';
import { serve } from '../../data-plane-agent/plane/serve.js';

export interface Wire {
  readonly transport: Transport;
  /** Errors that the remote side did not send, in order. */
  readonly faults: readonly unknown[];
  close(): Promise<void>;
}

/** A hook into one exchange: return `'lost'` to cut the connection, before or after the operation ran. */
export type Disturb = (request: WireRequest, when: 'before' | 'after') => 'lost' | undefined;

/**
 * Connects a data plane and the caller of the transport by real HTTP: one route on loopback, JSON in both directions.
 */
export async function serveOverHttp<L extends OperationList>(
  plane: DataPlane<L>,
  names: readonly (keyof L & string)[],
  disturb: Disturb = () => undefined,
): Promise<Wire> {
  const faults: unknown[] = [];
  const far = serve(plane, names, (fault) => faults.push(fault));
  const server = createServer((incoming, answer) => {
    const exchange = async () => {
      const message = JSON.parse(await textOf(incoming)) as WireRequest;
      if (disturb(message, 'before') === 'lost') return void incoming.socket.destroy();
      const disconnected = new AbortController();
      answer.once('close', () => disconnected.abort());
      const reply = await far(message, { signal: disconnected.signal });
      if (disturb(message, 'after') === 'lost') return void incoming.socket.destroy();
      answer.setHeader('Content-Type', 'application/json').end(JSON.stringify(reply));
    };
    exchange().catch((error: unknown) => {
      faults.push(error);
      incoming.socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const near = callOverHttp({ port, path: '/' });
  return {
    faults,
    transport: near.transport,
    async close() {
      near.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The caller's side: posts each message as JSON. */
export function callOverHttp({ port, path }: { readonly port: number; readonly path: string }): {
  readonly transport: Transport;
  close(): void;
} {
  const agent = new Agent({ keepAlive: true });
  return {
    transport: (message, { signal }) => post({ port, path, agent, body: JSON.stringify(message), signal }),
    close: () => agent.destroy(),
  };
}

function post({
  port,
  path,
  agent,
  body,
  signal,
}: {
  readonly port: number;
  readonly path: string;
  readonly agent: Agent;
  readonly body: string;
  readonly signal: AbortSignal;
}): Promise<WireReply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, path, agent, method: 'POST', headers: { 'Content-Type': 'application/json' } },
      (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`the far end answered ${String(answer.statusCode)}`));
        textOf(answer)
          .then((text) => resolve(JSON.parse(text) as WireReply))
          .catch(reject);
      },
    );
    outgoing.on('error', (cause: NodeJS.ErrnoException) =>
      reject(new TransportError('no reply', { nothingRan: cause.code === 'ECONNREFUSED', cause })),
    );
    signal.addEventListener('abort', () => outgoing.destroy(), { once: true });
    outgoing.end(body);
  });
}

async function textOf(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
