import { expect } from 'chai';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { systemClock } from '../../../data-plane-agent/base/clock.js';
import { createS3Store } from '../../../data-plane-agent/plane/files/objects/s3-store.js';
import type { ObjectStore, StoreFault } from '../../../data-plane-agent/plane/files/objects/object-store.js';
import { freePort } from '../../support/guardian.js';
import { sharedMinio, type S3Server } from '../../support/minio.js';
import { skip } from '../../support/skip.js';
import { addressOf, bytesOf, listening, never, onS3, putObject } from '../../support/stores.js';

const KEY = 'uploads/tenant/file';

describe('an unusable S3 store', () => {
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  });
  const storeAt = (port: number, timeoutMs = 200): ObjectStore => {
    const address = addressOf(`s3://key:secret@127.0.0.1:${port}/bucket?tls=false`);
    if (address.provider !== 's3') throw new Error('expected an S3 address');
    const store = createS3Store({ address, clock: systemClock, timeoutMs });
    undo.push(() => store.close());
    return store;
  };
  const callsOf = (store: ObjectStore): Record<string, () => Promise<unknown>> => ({
    head: () => store.head(KEY),
    read: () => store.read(KEY, { sizeBytes: 5, signal: never() }),
    write: () => putObject(store, KEY, bytesOf('bytes')),
    copy: () => store.copy(KEY, 'tenants/tenant/2026/11/file', 'an etag'),
    remove: () => store.remove(KEY),
    list: async () => {
      for await (const object of store.list('uploads/')) return object;
      return undefined;
    },
  });
  const expectUnavailable = async (store: ObjectStore): Promise<void> => {
    for (const [name, call] of Object.entries(callsOf(store)))
      expect(await failureOf(call()), name).to.include({ name: 'ObjectStoreError', code: 'unavailable' });
    const [fault, ...more] = await store.probe();
    expect(fault?.step).to.equal('reach');
    expect(more).to.deep.equal([]);
  };

  it('is unavailable if nothing listens', async () => {
    await expectUnavailable(storeAt(await freePort()));
  });

  it('is unavailable if the server accepts the request and never answers', async () => {
    await expectUnavailable(storeAt(await blackHole(undo)));
  });

  it('is unavailable if the server answers 503', async () => {
    const server = createServer((question, answer) => {
      question.resume();
      answer.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    });
    await expectUnavailable(storeAt(Number(new URL(await listening(server, undo)).port)));
  });

  it('is unavailable if the server is not an S3 server', async () => {
    const server = createServer((question, answer) => {
      question.resume();
      answer.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>');
    });
    const store = storeAt(Number(new URL(await listening(server, undo)).port));
    for (const name of ['write', 'copy'] as const)
      expect(await failureOf(callsOf(store)[name]?.() ?? Promise.resolve()), name).to.include({
        name: 'ObjectStoreError',
        code: 'unavailable',
      });
    expect(await store.probe()).not.to.deep.equal([]);
  });

  it('still signs links, which needs no request', async () => {
    const store = storeAt(await freePort());
    expect(
      (
        await store.uploadUrl({
          key: KEY,
          contentType: 'application/pdf',
          sizeBytes: 5,
          expiresAt: Date.now() + 60_000,
        })
      ).url,
    ).to.contain('X-Amz-SignedHeaders=content-length%3Bcontent-type%3Bhost');
  });

  it('buffers no more than a line of the content while it waits', async () => {
    let asked = 0;
    const content = Readable.from(
      (function* () {
        for (; asked < 1_000; asked += 1) yield Buffer.alloc(1_000_000);
      })(),
    );
    expect(
      await failureOf(
        storeAt(await blackHole(undo)).write(KEY, content, {
          sizeBytes: 1_000_000_000,
          contentType: 'application/pdf',
        }),
      ),
    ).to.include({ code: 'unavailable' });
    expect(asked).to.be.below(30);
    expect(content.destroyed).to.equal(true);
  });
});

describe('the probe of an S3 store', () => {
  const undo: (() => unknown)[] = [];
  let minio: S3Server | undefined;
  let bucket = 0;
  before('MinIO', async function () {
    this.timeout(180_000);
    minio = await sharedMinio().catch((error: unknown) =>
      skip(this, error instanceof Error ? error.message : String(error)),
    );
  });
  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  });
  /** MinIO behind a proxy that denies requests as a policy would. */
  const denying = async (
    denies: (question: IncomingMessage) => boolean,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<readonly StoreFault[]> => {
    if (!minio) throw new Error('expected a running MinIO');
    const name = `probed-${process.pid}-${++bucket}`;
    await onS3(minio.url(name), undo);
    const { port } = new URL(minio.origin);
    const proxy = createServer((question, answer) => {
      if (denies(question)) refuse(question, answer);
      else forward(question, answer, { port, headers });
    });
    const { port: ours } = new URL(await listening(proxy, undo));
    const address = addressOf(minio.url(name).replace(`:${port}/`, `:${ours}/`));
    if (address.provider !== 's3') throw new Error('expected an S3 address');
    const store = createS3Store({ address, clock: systemClock });
    undo.push(() => store.close());
    return store.probe();
  };
  const isCopy = ({ headers }: IncomingMessage): boolean => 'x-amz-copy-source' in headers;
  const isSigned = ({ headers, url = '' }: IncomingMessage): boolean =>
    headers.authorization !== undefined || url.includes('X-Amz-Signature');
  const ofObject = ({ url = '' }: IncomingMessage): boolean => url.includes('/probe/');

  it('reports nothing if everything is allowed', async () => {
    expect(await denying(() => false)).to.deep.equal([]);
  });

  for (const [step, permission, denies] of [
    [
      'put',
      's3:PutObject',
      (question: IncomingMessage) => question.method === 'PUT' && ofObject(question) && !isCopy(question),
    ],
    [
      'get',
      's3:GetObject',
      (question: IncomingMessage) => question.method === 'GET' && ofObject(question) && isSigned(question),
    ],
    [
      'list',
      's3:ListBucket',
      (question: IncomingMessage) => question.method === 'GET' && !ofObject(question) && isSigned(question),
    ],
    ['copy', 's3:GetObject and s3:PutObject', isCopy],
    ['delete', 's3:DeleteObject', (question: IncomingMessage) => question.method === 'DELETE'],
  ] as const) {
    it(`names ${permission} if ${step} is denied`, async () => {
      const faults = await denying(denies);
      expect(faults.map((fault) => fault.step)).to.deep.equal([step]);
      expect(faults[0]?.problem).to.contain('AccessDenied');
      expect(faults[0]?.fix).to.contain(`grant ${permission} on the bucket`).and.contain(minio?.accessKey);
    });
  }

  it('reports a bucket that is public', async () => {
    if (!minio) throw new Error('expected a running MinIO');
    const name = `probed-${process.pid}-${++bucket}`;
    const { store } = await onS3(minio.url(name), undo);
    const { Client } = await import('minio');
    const { hostname, port } = new URL(minio.origin);
    const client = new Client({
      endPoint: hostname,
      port: Number(port),
      useSSL: false,
      accessKey: minio.accessKey,
      secretKey: minio.secretKey,
    });
    await client.setBucketPolicy(
      name,
      JSON.stringify({
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: { AWS: ['*'] },
            Action: ['s3:GetObject'],
            Resource: [`arn:aws:s3:::${name}/*`],
          },
        ],
      }),
    );
    const faults = await store.probe();
    expect(faults.map(({ step, problem }) => [step, problem])).to.deep.equal([
      ['private', 'anyone may read its objects'],
    ]);
  });

  it('reports a difference of the clocks', async () => {
    const faults = await denying(() => false, { date: new Date(Date.now() + 120_000).toUTCString() });
    expect(faults.map(({ step }) => step)).to.deep.equal(['clock']);
    expect(faults[0]?.problem).to.match(/^the clock of the object store is 1[12]\d s ahead of ours$/);
  });

  it('creates no bucket if the settings forbid it', async () => {
    if (!minio) throw new Error('expected a running MinIO');
    const address = addressOf(minio.url(`not-made-${process.pid}`));
    if (address.provider !== 's3') throw new Error('expected an S3 address');
    const store = createS3Store({ address, clock: systemClock });
    undo.push(() => store.close());
    for (const _again of [1, 2])
      expect((await store.probe({ makes: false })).map(({ step, problem }) => [step, problem])).to.deep.equal([
        ['bucket', `the bucket not-made-${process.pid} does not exist`],
      ]);
    expect(await store.probe()).to.deep.equal([]);
  });
});

function refuse(question: IncomingMessage, answer: ServerResponse): void {
  question.resume();
  question.once('end', () =>
    answer
      .writeHead(403, { 'Content-Type': 'application/xml' })
      .end('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>'),
  );
}

function forward(
  question: IncomingMessage,
  answer: ServerResponse,
  { port, headers }: { port: string; headers: Readonly<Record<string, string>> },
): void {
  const onward = send(
    { host: '127.0.0.1', port, method: question.method, path: question.url, headers: question.headers },
    (given) => {
      answer.writeHead(given.statusCode ?? 500, { ...given.headers, ...headers });
      given.pipe(answer);
    },
  );
  onward.on('error', () => answer.destroy());
  question.pipe(onward);
}

/** Accepts connections and reads nothing. */
async function blackHole(undo: (() => unknown)[]): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createTcpServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined); // reset by the side that gave up
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address for a loopback port');
  return address.port;
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure');
}
