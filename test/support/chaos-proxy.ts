import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

/**
 * What the proxy does to connections:
 * - `latency`: passes each piece late, by a random time.
 * - `blackHole`: accepts connections and bytes and passes nothing, then resets the connections that lost bytes.
 * - `reset`: resets all connections (RST).
 * - `slice`: passes bytes in segments of at most 64 bytes.
 * - `limit`: closes a connection after a random number of bytes.
 * - `afterRequest`: closes a connection once the bytes of a request were passed, and passes nothing of the reply.
 * - `afterCommit`: passes requests and drops the replies for a moment, so that what was asked for is done, then closes.
 */
export const FAULTS = ['latency', 'blackHole', 'reset', 'slice', 'limit', 'afterRequest', 'afterCommit'] as const;
export type Fault = (typeof FAULTS)[number];

/** A TCP proxy between a control plane and an agent that misbehaves when it is asked to. */
export interface ChaosProxy {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** From now on, connections go to the server of that URL. */
  to(url: string): void;
  /** Begins the fault, and resolves when it is over; `ms` replaces the random time that it lasts. */
  inflict(fault: Fault, options?: { readonly ms?: number }): Promise<void>;
  /** Connections that were broken. */
  readonly broken: number;
  /** Bytes of requests that arrived while their replies were dropped, and bytes of dropped replies. */
  readonly dropped: { readonly requests: number; readonly replies: number };
  /** Closes all connections, and refuses new ones until `open`. */
  shut(): void;
  open(): void;
  stop(): Promise<void>;
}

export interface ChaosOptions {
  /** Who sends requests: the side that opened the connection, or the other one. */
  readonly requestsBy: 'client' | 'server';
  /** From 0 to 1. */
  readonly random: () => number;
}

type Way = 'request' | 'reply';

interface Connection {
  readonly sockets: readonly [Socket, Socket];
  hasLost: boolean;
}

export async function startChaosProxy({ requestsBy, random }: ChaosOptions): Promise<ChaosProxy> {
  const between = (least: number, most: number): number => Math.round(least + random() * (most - least));
  const connections = new Set<Connection>();
  const dropped = { requests: 0, replies: 0 };
  let target = '';
  let isShut = false;
  let broken = 0;
  let fault: Fault | undefined;
  /** Bytes that `limit` still passes. */
  let allowed = 0;

  const breakUp = (connection: Connection): void => {
    if (!connections.delete(connection)) return;
    broken += 1;
    for (const socket of connection.sockets) socket.resetAndDestroy();
  };
  /** Ends it as a proxy that is stopped does: what was passed arrives. */
  const closeUp = (connection: Connection): void => {
    if (!connections.delete(connection)) return;
    broken += 1;
    for (const socket of connection.sockets) socket.end(() => socket.destroy());
  };
  const write = async (to: Socket, bytes: Uint8Array): Promise<void> => {
    if (to.destroyed || bytes.length === 0) return;
    if (!to.write(bytes)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
  };
  const slices = async (to: Socket, bytes: Buffer): Promise<void> => {
    for (let at = 0; at < bytes.length && !to.destroyed;) {
      const size = between(1, 64);
      await write(to, bytes.subarray(at, at + size));
      at += size;
      await turn();
    }
  };

  const pass = async (connection: Connection, { to, way, bytes }: { to: Socket; way: Way; bytes: Buffer }) => {
    switch (fault) {
      case 'latency':
        await sleep(between(1, 40));
        return write(to, bytes);
      case 'blackHole':
        connection.hasLost = true;
        return undefined;
      case 'slice':
        return slices(to, bytes);
      case 'limit':
        await write(to, bytes.subarray(0, Math.max(0, allowed)));
        allowed -= bytes.length;
        if (allowed < 0) closeUp(connection);
        return undefined;
      case 'afterRequest':
        if (way === 'request') await write(to, bytes);
        connection.hasLost = true;
        return closeUp(connection);
      case 'afterCommit':
        dropped[way === 'request' ? 'requests' : 'replies'] += bytes.length;
        if (way === 'request') return write(to, bytes);
        connection.hasLost = true;
        return undefined;
      case 'reset':
      case undefined:
        return write(to, bytes);
    }
  };
  const pump = async (connection: Connection, { from, to, way }: { from: Socket; to: Socket; way: Way }) => {
    try {
      for await (const bytes of from as AsyncIterable<Buffer>) await pass(connection, { to, way, bytes });
      // A connection that lost bytes stays open until the fault is over.
      if (!connection.hasLost) to.end();
    } catch {
      breakUp(connection);
    }
  };

  const server = createServer({ noDelay: true }, (incoming) => {
    incoming.on('error', () => undefined);
    if (isShut || target === '') return void incoming.resetAndDestroy();
    const { hostname, port } = new URL(target);
    const outgoing = connect({ host: hostname, port: Number(port), noDelay: true });
    outgoing.on('error', () => undefined);
    const connection: Connection = { sockets: [incoming, outgoing], hasLost: false };
    connections.add(connection);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const)
      socket.on('close', () => {
        connections.delete(connection);
        other.destroy();
      });
    const [asks, answers] = requestsBy === 'client' ? [incoming, outgoing] : [outgoing, incoming];
    void pump(connection, { from: asks, to: answers, way: 'request' });
    void pump(connection, { from: answers, to: asks, way: 'reply' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const during = async (one: Fault, ms: number): Promise<void> => {
    fault = one;
    await sleep(ms);
    fault = undefined;
    for (const connection of connections) if (connection.hasLost) breakUp(connection);
  };
  const TIMES: Readonly<Record<Fault, readonly [number, number]>> = {
    latency: [300, 900],
    blackHole: [200, 900],
    reset: [0, 0],
    slice: [200, 500],
    limit: [50, 400],
    afterRequest: [20, 100],
    afterCommit: [30, 150],
  };
  const shut = (): void => {
    isShut = true;
    for (const connection of connections) breakUp(connection);
  };

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to: (url) => {
      target = url;
    },
    inflict: async (one, { ms = between(...TIMES[one]) } = {}) => {
      if (one === 'reset') for (const connection of connections) breakUp(connection);
      if (one === 'limit') allowed = between(1, 6_000);
      await during(one, ms);
    },
    get broken() {
      return broken;
    },
    dropped,
    shut,
    open: () => {
      isShut = false;
    },
    stop: () =>
      new Promise((resolve) => {
        shut();
        server.close(() => resolve());
      }),
  };
}
