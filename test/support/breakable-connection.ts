import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A proxy to a server on loopback whose connections can be interrupted. */
export interface BreakableConnection {
  readonly port: number;
  /** The number of bytes that the server has sent. */
  readonly sentBytes: number;
  /** Closes all connections, and new ones until it is restored. */
  pull(): void;
  putIn(): void;
  stop(): Promise<void>;
}

export async function breakableConnectionTo(port: number): Promise<BreakableConnection> {
  const open = new Set<Socket>();
  let isIn = true;
  let sentBytes = 0;
  const end = (socket: Socket) => void socket.destroy();
  const server = createServer((near) => {
    if (!isIn) return end(near);
    const far = connect(port, '127.0.0.1');
    far.on('data', (bytes: Buffer) => (sentBytes += bytes.length));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      // When one end closes, the other is closed too, with the error.
      one
        .on('error', () => end(other))
        .on('close', () => {
          open.delete(one);
          end(other);
        });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakOff = () => [...open].forEach(end);
  return {
    port: (server.address() as AddressInfo).port, // the server listens on a port, not a pipe
    get sentBytes() {
      return sentBytes;
    },
    pull() {
      isIn = false;
      breakOff();
    },
    putIn: () => void (isIn = true),
    async stop() {
      server.close();
      breakOff();
      await once(server, 'close');
    },
  };
}
