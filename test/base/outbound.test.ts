import { expect } from 'chai';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import {
  createOutbound,
  OutboundError,
  type Outbound,
  type OutboundRequest,
  type Resolve,
} from '../../data-plane-agent/base/outbound.js';
import { CERTIFICATE, PRIVATE_KEY } from '../support/certificate.js';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const PUBLIC = '93.184.215.14';

describe('an outbound request', () => {
  const servers: Server[] = [];
  const sockets = new Set<{ destroy(): void }>();
  after(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  });
  const portOf = (server: Server): Promise<number> =>
    new Promise((resolve) => {
      servers.push(server);
      server.on('connection', (socket) => sockets.add(socket));
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  const serve = (answer: (request: IncomingMessage, response: ServerResponse) => void) => portOf(createServer(answer));

  /** Outside production, with this machine listed, unless the test overrides it. */
  const outbound = (options: Partial<Parameters<typeof createOutbound>[0]> = {}): Outbound =>
    createOutbound({ allowPrivate: LOOPBACK, production: false, ...options });

  describe('is refused', () => {
    const strict = createOutbound({ allowPrivate: [], production: true, resolve: () => Promise.resolve([PUBLIC]) });
    /** In every notation that URLs support. */
    const refused = [
      'https://127.0.0.1/',
      'https://127.1/',
      'https://2130706433/',
      'https://0x7f000001/',
      'https://0x7f.0.0.1/',
      'https://0177.0.0.1/',
      'https://017700000001/',
      'https://127.0.0.1./',
      'https://①②⑦.⓪.⓪.①/',
      'https://127。0。0。1/',
      'https://0.0.0.0/',
      'https://0/',
      'https://10.0.0.8/',
      'https://100.64.0.1/',
      'https://172.16.0.1/',
      'https://172.31.255.255/',
      'https://192.168.1.1/',
      'https://192.0.0.8/',
      'https://192.0.2.1/',
      'https://198.18.0.1/',
      'https://198.51.100.7/',
      'https://203.0.113.9/',
      'https://224.0.0.1/',
      'https://240.0.0.1/',
      'https://255.255.255.255/',
      'https://169.254.169.254/latest/meta-data',
      'https://168.63.129.16/',
      'https://[::1]/',
      'https://[::]/',
      'https://[0:0:0:0:0:0:0:1]/',
      'https://[::ffff:127.0.0.1]/',
      'https://[::ffff:7f00:1]/',
      'https://[::ffff:a9fe:a9fe]/',
      'https://[::127.0.0.1]/',
      'https://[64:ff9b::7f00:1]/',
      'https://[::ffff:0:127.0.0.1]/',
      'https://[::ffff:0:a00:1]/',
      'https://[64:ff9b::a9fe:a9fe]/',
      'https://[2002:7f00:1::]/',
      'https://[2001::1]/',
      'https://[2001:db8::1]/',
      'https://[fc00::1]/',
      'https://[fd12:3456::1]/',
      'https://[fe80::1]/',
      'https://[ff02::1]/',
      'https://[fd00:ec2::254]/',
      'http://hooks.example.test/',
      `http://${PUBLIC}/`,
      'https://user@hooks.example.test/',
      'https://user:secret@hooks.example.test/',
      'https://hooks.example.test:22/',
      'https://hooks.example.test:25/',
      'ftp://hooks.example.test/',
      'file:///etc/passwd',
      'gopher://127.0.0.1:6379/_x',
      'data:text/plain,x',
      'javascript:alert(1)',
      '//hooks.example.test/',
      '/etc/passwd',
      '',
      'https://',
      'https://[fe80::1%25eth0]/',
      'https://256.1.1.1/',
      'https://exa mple.test/',
    ];
    for (const url of refused) {
      it(`when it is for ${JSON.stringify(url)}`, async () => {
        expect(strict.refusalOf(url)).to.match(/^must /);
        expect(await codeOf(strict, { url })).to.equal('ADDRESS_REFUSED');
      });
    }

    it('when a name has one private address among public ones', async () => {
      for (const address of [
        '127.0.0.1',
        '10.1.2.3',
        '::1',
        '::ffff:10.0.0.1',
        'fe80::1%eth0',
        'fd00::1',
        'not an address',
      ]) {
        expect(
          await codeOf(outbound({ allowPrivate: [], resolve: () => Promise.resolve([PUBLIC, address]) }), {
            url: 'https://rebinding.example.test/',
          }),
          address,
        ).to.equal('ADDRESS_REFUSED');
      }
    });

    it('when a metadata or link-local address is listed, also one embedded in a translated address', async () => {
      const open = outbound({ allowPrivate: ['0.0.0.0/0', '::/0'] });
      for (const host of [
        '169.254.169.254',
        '[fe80::1]',
        '[::ffff:169.254.169.254]',
        '[64:ff9b::a9fe:a9fe]',
        '[::ffff:0:169.254.169.254]',
        '[2002:a9fe:a9fe::]',
        '100.100.100.200',
        '168.63.129.16',
        '[fd00:ec2::254]',
        '[fd20:ce::254]',
      ]) {
        expect(open.refusalOf(`https://${host}/`), host).to.match(/^must not be a private/);
      }
      for (const host of [
        '10.0.0.1',
        '192.168.0.9',
        '[fd00::1]',
        '[::1]',
        '[64:ff9b::a00:1]',
        '[::ffff:0:a00:1]',
        '[::ffff:10.0.0.1]',
      ])
        expect(open.refusalOf(`https://${host}/`), host).to.equal(undefined);
    });

    it('over http to another machine, even if its address is listed', async () => {
      const open = outbound({ allowPrivate: ['10.0.0.0/8'], resolve: () => Promise.resolve(['10.0.0.1']) });
      expect(await codeOf(open, { url: 'http://internal.example.test/' })).to.equal('ADDRESS_REFUSED');
    });

    it('over http in production, even to this machine', async () => {
      const port = await serve((_, response) => response.end('reached'));
      expect(await codeOf(outbound({ production: true }), { url: `http://127.0.0.1:${port}/` })).to.equal(
        'ADDRESS_REFUSED',
      );
    });

    it('to this machine if it is not listed', async () => {
      const port = await serve((_, response) => response.end('reached'));
      expect(await codeOf(outbound({ allowPrivate: [] }), { url: `http://127.0.0.1:${port}/` })).to.equal(
        'ADDRESS_REFUSED',
      );
      expect(
        await codeOf(outbound({ allowPrivate: [], resolve: () => Promise.resolve(['127.0.0.1']) }), {
          url: `http://hooks.example.test:${port}/`,
        }),
      ).to.equal('ADDRESS_REFUSED');
    });
  });

  it('accepts public addresses', () => {
    for (const url of [
      'https://hooks.example.test/x?y=1',
      `https://${PUBLIC}/`,
      'https://[2606:4700::1111]/',
      'https://hooks.example.test:8443/',
      'https://hooks.example.test:443/',
    ])
      expect(outbound({ allowPrivate: [] }).refusalOf(url), url).to.equal(undefined);
  });

  it('sends method, headers and body, with the name as Host, and returns the response', async () => {
    let seen: object = {};
    const port = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (body: string) => {
        seen = {
          method: request.method,
          url: request.url,
          host: request.headers.host,
          type: request.headers['content-type'],
          body,
        };
        response.writeHead(418, { 'X-Answer': 'yes' }).end('short and stout');
      });
    });
    const { status, headers, body } = await outbound({ resolve: () => Promise.resolve(['127.0.0.1']) }).request({
      url: `http://hooks.example.test:${port}/in?a=1`,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"a":1}',
    });
    expect(seen).to.deep.equal({
      method: 'POST',
      url: '/in?a=1',
      host: `hooks.example.test:${port}`,
      type: 'application/json',
      body: '{"a":1}',
    });
    expect([status, headers.get('x-answer'), body.toString()]).to.deep.equal([418, 'yes', 'short and stout']);
  });

  it('resolves the name once and connects to the checked address, even when the name resolves to another one a moment later', async () => {
    const port = await serve((_, response) => response.end('the one that was checked'));
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['10.0.0.1']];
    const asked: string[] = [];
    const rebinding: Resolve = (hostname) => Promise.resolve(answers[asked.push(hostname) - 1] ?? []);
    const { body } = await outbound({ resolve: rebinding }).request({ url: `http://rebinding.example.test:${port}/` });
    expect(body.toString()).to.equal('the one that was checked');
    expect(asked).to.deep.equal(['rebinding.example.test']);
  });

  it('tries the next address of a name when the first does not answer', async () => {
    const port = await serve((_, response) => response.end('second'));
    const { body } = await outbound({ resolve: () => Promise.resolve(['127.0.0.2', '127.0.0.1']) }).request({
      url: `http://hooks.example.test:${port}/`,
    });
    expect(body.toString()).to.equal('second');
  });

  it('follows no redirect, such as one to the metadata service', async () => {
    let hits = 0;
    const port = await serve((_, response) => {
      hits += 1;
      response.writeHead(302, { Location: hits === 1 ? '/again' : 'http://169.254.169.254/latest/meta-data' }).end();
    });
    const { status, headers } = await outbound().request({ url: `http://127.0.0.1:${port}/` });
    expect([status, headers.get('location'), hits]).to.deep.equal([302, '/again', 1]);
  });

  it('stops reading at the limit', async () => {
    const port = await serve((request, response) => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', pour);
      if (request.url === '/exact') response.end('x'.repeat(1000));
      else pour();
    });
    expect(await codeOf(outbound(), { url: `http://127.0.0.1:${port}/endless` })).to.equal('ANSWER_TOO_LARGE');
    expect((await outbound().request({ url: `http://127.0.0.1:${port}/exact`, maxBytes: 1000 })).body).to.have.length(
      1000,
    );
    expect(await codeOf(outbound(), { url: `http://127.0.0.1:${port}/exact`, maxBytes: 999 })).to.equal(
      'ANSWER_TOO_LARGE',
    );
  });

  it('times out for a server that sends slowly, one that sends nothing, one that does not complete the TLS handshake, and a name that is not resolved', async () => {
    const drip = await serve((_, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const silent = await serve(() => undefined);
    const handless = await portOf(createTcpServer(() => undefined));
    const hasty = outbound({ totalMs: 150 });
    expect(await codeOf(hasty, { url: `http://127.0.0.1:${drip}/` })).to.equal('TIMED_OUT');
    expect(await codeOf(hasty, { url: `http://127.0.0.1:${silent}/` })).to.equal('TIMED_OUT');
    expect(await codeOf(outbound({ connectMs: 100 }), { url: `https://127.0.0.1:${handless}/` })).to.equal('TIMED_OUT');
    expect(
      await codeOf(outbound({ totalMs: 100, resolve: () => new Promise(() => undefined) }), {
        url: 'https://hooks.example.test/',
      }),
    ).to.equal('TIMED_OUT');
  });

  it('reports no answer for a closed port, an invalid or truncated response, and a name without an address', async () => {
    const closed = await portOf(createTcpServer());
    servers.at(-1)?.close();
    const broken = await portOf(createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
    const cut = await portOf(
      createTcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc')),
    );
    for (const port of [closed, broken, cut])
      expect(await codeOf(outbound(), { url: `http://127.0.0.1:${port}/` })).to.equal('UNREACHABLE');
    expect(
      await codeOf(outbound({ resolve: () => Promise.resolve([]) }), { url: 'https://hooks.example.test/' }),
    ).to.equal('UNREACHABLE');
    expect(
      await codeOf(outbound({ resolve: () => Promise.reject(new Error('ENOTFOUND')) }), {
        url: 'https://hooks.example.test/',
      }),
    ).to.equal('UNREACHABLE');
  });

  it('checks the certificate against the name, although it connects to an address', async () => {
    const names: string[] = [];
    const server = createTlsServer(
      {
        cert: CERTIFICATE,
        key: PRIVATE_KEY,
        SNICallback: (name, done) => {
          names.push(name);
          done(null);
        },
      },
      (_, response) => response.end('private talk'),
    );
    const port = await portOf(server);
    const here = outbound({ resolve: () => Promise.resolve(['127.0.0.1']) });
    expect(
      (await here.request({ url: `https://hooks.example.test:${port}/`, ca: CERTIFICATE })).body.toString(),
    ).to.equal('private talk');
    expect(names).to.deep.equal(['hooks.example.test']);
    expect(await codeOf(here, { url: `https://other.example.test:${port}/`, ca: CERTIFICATE })).to.equal('UNREACHABLE');
    expect(await codeOf(here, { url: `https://127.0.0.1:${port}/`, ca: CERTIFICATE })).to.equal('UNREACHABLE');
    expect(await codeOf(here, { url: `https://hooks.example.test:${port}/` })).to.equal('UNREACHABLE');
  });

  it('verifies certificates, whatever the environment variables say', async () => {
    const port = await portOf(
      createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (_, response) => response.end('private talk')),
    );
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(
        await codeOf(outbound({ resolve: () => Promise.resolve(['127.0.0.1']) }), {
          url: `https://hooks.example.test:${port}/`,
        }),
      ).to.equal('UNREACHABLE');
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  it('reports no detail of the internal network', async () => {
    const error = await outbound({ allowPrivate: [], resolve: () => Promise.resolve(['10.20.30.40']) })
      .request({ url: 'https://hooks.example.test/' })
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(OutboundError);
    expect((error as OutboundError).message).not.to.match(/10\.20|hooks/);
  });
});

async function codeOf(outbound: Outbound, request: OutboundRequest): Promise<string> {
  try {
    const { status } = await outbound.request(request);
    return `answered ${status}`;
  } catch (error) {
    if (error instanceof OutboundError) return error.code;
    throw error;
  }
}
