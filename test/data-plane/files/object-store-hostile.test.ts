import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../data-plane-agent/base/clock.js';
import { createS3Store } from '../../../data-plane-agent/plane/files/objects/s3-store.js';
import { ObjectStoreError, type ObjectStore } from '../../../data-plane-agent/plane/files/objects/object-store.js';
import { addressOf, bytesOf, listening, never, putObject } from '../../support/stores.js';

const KEY = 'uploads/tenant/file';
const TIMEOUT_MS = 300;
const MEGABYTE = 2 ** 20;

const CALLS: Readonly<Record<string, (store: ObjectStore) => Promise<unknown>>> = {
  head: (store) => store.head(KEY),
  read: (store) => store.read(KEY, { sizeBytes: 5, signal: never() }),
  write: (store) => putObject(store, KEY, bytesOf('bytes')),
  copy: (store) => store.copy(KEY, 'tenants/tenant/2026/11/file', 'an etag'),
  remove: (store) => store.remove(KEY),
  list: async (store) => {
    for await (const object of store.list('uploads/')) return object;
    return undefined;
  },
};

const head = (status: number, ...headers: string[]): string =>
  ['HTTP/1.1 ', status, ' Whatever\r\n', ...headers.map((header) => `${header}\r\n`)].join('');
const xml = (status: number): string => `${head(status, 'Content-Type: application/xml')}\r\n`;

describe('an S3 server whose answers do not end', () => {
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  });

  /** Answers every request with `begin`, and then with `more` as fast as it is read, or slowly in small pieces. */
  const serverThatSays = async (begin: string, more: string, everyMs?: number) => {
    let sentBytes = 0;
    const open = new Set<Socket>();
    const serve = (socket: Socket): void => {
      if (socket.destroyed) return;
      sentBytes += more.length;
      const hasSpace = socket.write(more);
      if (everyMs !== undefined) setTimeout(() => serve(socket), everyMs);
      else if (hasSpace) setImmediate(() => serve(socket));
      else socket.once('drain', () => serve(socket));
    };
    const server = createTcpServer((socket) => {
      open.add(socket);
      socket.on('error', () => undefined); // reset by the side that gave up
      socket.once('close', () => open.delete(socket));
      socket.once('data', () => {
        socket.write(begin);
        serve(socket);
        socket.resume();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    undo.push(() => {
      for (const socket of open) socket.destroy();
      server.close();
    });
    return {
      store: storeAt((server.address() as AddressInfo).port),
      sent: () => sentBytes,
      isLeft: () => open.size === 0,
    };
  };
  const storeAt = (port: number): ObjectStore => {
    const address = addressOf(`s3://key:secret@127.0.0.1:${port}/bucket?tls=false`);
    if (address.provider !== 's3') throw new Error('expected an S3 address');
    const store = createS3Store({ address, clock: systemClock, timeoutMs: TIMEOUT_MS });
    undo.push(() => store.close());
    return store;
  };
  /** A server that answers each request with such a page. */
  const serverOfPages = async (page: () => string): Promise<ObjectStore> => {
    const server = createServer((question, answer) => {
      question.resume();
      answer.writeHead(200, { 'Content-Type': 'application/xml' }).end(page());
    });
    return storeAt(Number(new URL(await listening(server, undo)).port));
  };
  const expectBrokenOff = async (
    { store, isLeft }: { store: ObjectStore; isLeft: () => boolean },
    call: (store: ObjectStore) => Promise<unknown>,
  ): Promise<void> => {
    const begun = performance.now();
    expect(
      await call(store).then(
        () => 'an answer',
        (error: unknown) => error,
      ),
    ).to.be.instanceOf(ObjectStoreError);
    // The longest case may take three times the timeout, and no listener may remain after the call.
    while (!isLeft() && performance.now() - begun < 20 * TIMEOUT_MS) await sleep(5);
    expect(isLeft(), 'the connection is closed').to.equal(true);
  };

  for (const [name, call] of Object.entries(CALLS)) {
    describe(`on a request to ${name}`, () => {
      for (const status of [200, 400, 403, 500, 503]) {
        it(`is cut off after a few megabytes if it answers ${status} without end`, async () => {
          const server = await serverThatSays(xml(status), '<Key>key</Key>'.repeat(4_000));
          await expectBrokenOff(server, call);
          // Data already in the socket buffers is sent, but never read.
          expect(server.sent()).to.be.below(16 * MEGABYTE);
        });
      }

      it('is cut off if its body comes in small pieces', async () => {
        await expectBrokenOff(await serverThatSays(xml(403), ' ', 20), call);
      });

      it('is cut off if its headers come in small pieces', async () => {
        await expectBrokenOff(await serverThatSays(`${head(200)}X-Slow: `, 'x', 20), call);
      });

      it('is cut off if its headers have no end', async () => {
        const server = await serverThatSays(head(200), `X-More: ${'x'.repeat(1_000)}\r\n`);
        await expectBrokenOff(server, call);
        expect(server.sent()).to.be.below(16 * MEGABYTE);
      });

      it('is cut off if it sends only interim responses', async () => {
        await expectBrokenOff(await serverThatSays('', `${head(102)}\r\n`, 20), call);
      });
    });
  }

  it('delivers no more of an object than its declared length', async () => {
    const { store, isLeft } = await serverThatSays(`${head(200, 'Content-Length: 5')}\r\n`, 'bytes'.repeat(10_000));
    const content = await store.read(KEY, { sizeBytes: 5, signal: never() });
    expect(content && (await text(content))).to.equal('bytes');
    while (!isLeft()) await sleep(5);
  });

  it('is not asked for further pages of a list that makes no progress', async () => {
    let asked = 0;
    const page =
      '<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken></ListBucketResult>';
    const store = await serverOfPages(() => {
      asked += 1;
      return page;
    });
    expect(await CALLS['list']?.(store).catch((error: unknown) => error)).to.include({
      name: 'ObjectStoreError',
      message: 'the object store returned an endless list',
    });
    expect(asked).to.equal(2);
  });

  it('may send a page of a thousand keys of the maximum length, with all metadata that servers add', async () => {
    const keys = Array.from(
      { length: 1_000 },
      (_unused, n) =>
        `quarantine/0192f0a0-0000-7000-8000-000000000001/0192f0a0-0000-7000-9000-${String(n).padStart(12, '0')}`,
    );
    const about = `<LastModified>2026-11-22T06:00:00.000Z</LastModified><ETag>&#34;5d41402abc4b2a76b9719d911017c592&#34;</ETag><Size>5</Size><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType><Owner><ID>${'f'.repeat(64)}</ID><DisplayName>${'d'.repeat(64)}</DisplayName></Owner><StorageClass>INTELLIGENT_TIERING</StorageClass>`;
    const store = await serverOfPages(
      () =>
        `<ListBucketResult><IsTruncated>false</IsTruncated>${keys.map((key) => `<Contents><Key>${key}</Key>${about}</Contents>`).join('')}</ListBucketResult>`,
    );
    const listed: string[] = [];
    for await (const { key } of store.list('quarantine/')) listed.push(key);
    expect(listed).to.deep.equal(keys);
  });
});
