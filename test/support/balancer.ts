import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Passes connections on to one server, as a load balancer in front of replicas does. */
export interface Balancer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** From now on, connections go to the server of that URL. */
  to(url: string): void;
  stop(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  let target = '';
  const open = new Set<Socket>();
  const server = createServer((incoming) => {
    if (target === '') return void incoming.destroy();
    const { hostname, port } = new URL(target);
    const outgoing = connect({ host: hostname, port: Number(port) });
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to: (url) => {
      target = url;
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
