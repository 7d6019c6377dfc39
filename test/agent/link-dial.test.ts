import { expect } from 'chai';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { proxyFault } from '../../data-plane-agent/agent/link/proxy-support.js';
import { newLinkKey, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { LINK } from '../../data-plane-agent/base/link/limits.js';
import { LOCAL_CERTIFICATE, LOCAL_PRIVATE_KEY } from '../support/certificate.js';
import { skip } from '../support/skip.js';
import { agentOf, controlPlane, eventually, settled, type Agent, type ControlPlane } from './link-support.js';

const FIRST = 8_500;

const addressOf = (server: Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;

describe('the connection of an agent to its control plane', () => {
  let key: LinkKeyPair;
  const ending: (() => Promise<unknown> | void)[] = [];

  before(async () => {
    key = await newLinkKey();
  });
  afterEach(async () => {
    for (const end of ending.splice(0).toReversed()) await end();
  });

  const listen = async <S extends Server>(server: S): Promise<S> => {
    const sockets = new Set<{ destroy(): void }>();
    server.on('connection', (socket: { destroy(): void; on(event: 'error', listener: () => void): void }) => {
      socket.on('error', () => undefined);
      sockets.add(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ending.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });
    return server;
  };
  const overTls = async (): Promise<ControlPlane> => {
    const plane = await controlPlane(key, { tls: true });
    ending.push(plane.close);
    return plane;
  };
  const agentThrough = async (
    plane: Pick<ControlPlane, 'origin' | 'key'>,
    options: ConstructorParameters<typeof HttpsAgent>[0] = {},
  ): Promise<Agent> => {
    const httpAgent = new HttpsAgent({ ca: LOCAL_CERTIFICATE, ...options });
    const agent = await agentOf(plane as ControlPlane, { key, httpAgent });
    ending.push(() => {
      const stopped = agent.link.stop();
      agent.timers.advance(LINK.drainMs);
      return stopped.finally(() => httpAgent.destroy());
    });
    return agent;
  };

  /** A proxy that connects to any host on this machine. */
  const proxy = async (): Promise<{ readonly url: string; readonly targets: string[] }> => {
    const targets: string[] = [];
    const server = createHttpServer();
    server.on('connect', ({ url = '' }, socket) => {
      targets.push(url);
      const upstream = connect({ host: '127.0.0.1', port: Number(url.split(':')[1]) }, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      for (const [one, other] of [
        [upstream, socket],
        [socket, upstream],
      ] as const) {
        one.on('error', () => undefined);
        one.on('close', () => other.destroy());
      }
    });
    return { url: `http://${addressOf(await listen(server))}`, targets };
  };

  it('is made over TLS', async () => {
    const plane = await overTls();
    const agent = await agentThrough(plane);
    await eventually(() => plane.seen.some(({ isReady }) => isReady));
    expect(agent.link.state).to.equal('connected');
  });

  it('is not made to a host whose certificate is not trusted', async () => {
    const plane = await overTls();
    const agent = await agentThrough(plane, { ca: [] });
    await eventually(() => agent.lines.length > 0);
    expect(agent.lines[0]).to.include({ msg: 'the control plane cannot be reached' });
    expect(agent.lines[0]?.['reason']).to.contain('self-signed');
    expect(plane.attempts).to.equal(0);
  });

  it('is not made with a version of TLS before 1.2', async () => {
    const old = createTlsServer({
      key: LOCAL_PRIVATE_KEY,
      cert: LOCAL_CERTIFICATE,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    let secured = 0;
    old.on('secureConnection', () => (secured += 1));
    old.on('tlsClientError', () => undefined);
    const origin = `https://${addressOf(await listen(old))}`;
    const agent = await agentThrough({ origin, key }, { ciphers: 'DEFAULT@SECLEVEL=0' });
    await eventually(() => agent.lines.length > 0);
    expect(agent.lines[0]).to.include({ msg: 'the control plane cannot be reached' });
    expect(secured).to.equal(0);
  });

  it('leaves the bytes of its messages as they are, with a masking key of zeros', async () => {
    const plane = await controlPlane(key);
    ending.push(plane.close);
    const { port } = new URL(plane.origin);
    const sent: Buffer[] = [];
    const recorder = createServer((socket) => {
      const upstream = connect(Number(port), '127.0.0.1');
      upstream.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => sent.push(bytes));
      socket.pipe(upstream).pipe(socket);
    });
    const frame = (): Buffer => {
      const bytes = Buffer.concat(sent);
      return bytes.subarray(bytes.indexOf('\r\n\r\n') + 4);
    };
    await agentThrough(Object.assign(plane, { origin: `http://${addressOf(await listen(recorder))}` }));
    await eventually(() => plane.seen.some(({ isReady }) => isReady));
    // A final binary message; its length, which is short, with the bit of masking; the key; the version of our frames.
    expect(frame()[0]).to.equal(0x82);
    expect((frame()[1] ?? 0) - 0x80).to.be.within(1, 125);
    expect([...frame().subarray(2, 7)]).to.deep.equal([0, 0, 0, 0, 1]);
  });

  it('goes through the proxy of HTTPS_PROXY', async function () {
    const fault = proxyFault(process.versions.node);
    if (fault !== undefined) skip(this, fault);
    const plane = await overTls();
    const { url, targets } = await proxy();
    const agent = await agentThrough(plane, { proxyEnv: { HTTPS_PROXY: url } });
    await eventually(() => plane.seen.some(({ isReady }) => isReady));
    expect(agent.link.state).to.equal('connected');
    expect(targets).to.deep.equal([new URL(plane.origin).host]);
  });

  it('is direct to hosts of NO_PROXY', async () => {
    const plane = await overTls();
    const { url, targets } = await proxy();
    await agentThrough(plane, { proxyEnv: { HTTPS_PROXY: url, NO_PROXY: 'localhost' } });
    await eventually(() => plane.seen.some(({ isReady }) => isReady));
    expect(targets).to.deep.equal([]);
  });

  it('is tried again after a pause when the proxy accepts connections and closes them at once', async function () {
    const fault = proxyFault(process.versions.node);
    if (fault !== undefined) skip(this, fault);
    let accepted = 0;
    const closing = createServer((socket) => {
      accepted += 1;
      socket.destroy();
    });
    const url = `http://${addressOf(await listen(closing))}`;
    const plane = await overTls();
    const agent = await agentThrough(plane, { proxyEnv: { HTTPS_PROXY: url } });
    await eventually(() => agent.timers.isPending(FIRST));
    await settled();
    expect(accepted).to.equal(1);
    agent.timers.advance(FIRST);
    await eventually(() => accepted === 2);
    expect(agent.lines).to.have.length(1);
  });

  it('is given up after ten seconds when what accepts it never answers', async () => {
    let accepted = 0;
    const silent = createServer(() => (accepted += 1));
    const origin = `http://${addressOf(await listen(silent))}`;
    const agent = await agentThrough({ origin, key });
    await eventually(() => accepted === 1);
    agent.timers.advance(LINK.handshakeMs);
    await eventually(() => agent.timers.isPending(FIRST));
    expect(agent.lines[0]).to.include({ reason: 'there was no response within 10 s' });
  });

  it('is not made to something that is no control plane, and says what it was', async () => {
    const page = createHttpServer((_request, response) => response.end('<html>Welcome</html>'));
    const origin = `http://${addressOf(await listen(page))}`;
    const agent = await agentThrough({ origin, key });
    await eventually(() => agent.timers.isPending(FIRST));
    expect(agent.lines[0]).to.include({ msg: 'the control plane cannot be reached', reason: 'HTTP 200' });
  });

  it('follows no redirect', async () => {
    const elsewhere = await overTls();
    const moved = createHttpServer((_request, response) => {
      response.writeHead(302, { Location: `${elsewhere.origin}/link/v1/connect` }).end();
    });
    const agent = await agentThrough({ origin: `http://${addressOf(await listen(moved))}`, key });
    await eventually(() => agent.timers.isPending(FIRST));
    expect(agent.lines[0]).to.include({ reason: 'HTTP 302' });
    expect(elsewhere.attempts).to.equal(0);
  });
});

describe('HTTPS_PROXY', () => {
  it('has an effect on Node.js 22 from 22.21, on 24 from 24.5, and on later ones', () => {
    for (const version of ['22.21.0', '22.22.1', '24.5.0', '24.21.0', '25.0.0', '26.1.0'])
      expect(proxyFault(version), version).to.equal(undefined);
    for (const version of ['22.14.0', '22.20.0', '23.11.0', '24.4.1'])
      expect(proxyFault(version), version).to.contain('has no effect').and.contain(version);
  });
});
