import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { attachmentDisposition } from '../../../data-plane-agent/base/content-disposition.js';
import { createFileLinks } from '../../../data-plane-agent/plane/files/objects/file-system-links.js';
import { createFileSystemStore } from '../../../data-plane-agent/plane/files/objects/file-system-store.js';
import { objectStoreAddress } from '../../../data-plane-agent/plane/files/objects/object-store-address.js';
import type { ObjectStore } from '../../../data-plane-agent/plane/files/objects/object-store.js';
import { generateKeyRingText, parseKeyRing } from '../../../data-plane-agent/base/secrets.js';
import { skip } from '../../support/skip.js';
import { bytesOf, never, onFileSystem, putObject, type TestStore } from '../../support/stores.js';

describe('a file-system store', () => {
  const undo: (() => unknown)[] = [];
  let opened: TestStore & { readonly directory: string };
  before(async () => {
    opened = await onFileSystem(undo, { idleMs: 150 });
  });
  after(async () => {
    for (const step of undo.toReversed()) await step();
  });
  const soon = (): number => Date.now() + 60_000;

  it('refuses every key in another format', async () => {
    const { store } = opened;
    for (const key of [
      '',
      'a',
      '/a/b',
      '../a',
      'a/../b',
      'a/./b',
      'a//b',
      'a/b/',
      'a/.incoming',
      '.incoming/a',
      'a\\b/c',
      'a/b\0',
      'a/b\n',
      `a/${'b'.repeat(600)}`,
    ]) {
      const calls: (() => Promise<unknown>)[] = [
        () => store.head(key),
        () => store.read(key, { sizeBytes: 1, signal: never() }),
        () => putObject(store, key, bytesOf('x')),
        () => store.copy('a/b', key, 'etag'),
        () => store.copy(key, 'a/b', 'etag'),
        () => store.remove(key),
      ];
      for (const call of calls) {
        expect(await failureOf(Promise.resolve().then(call)), JSON.stringify(key)).to.include({
          message: 'not a valid object key',
        });
      }
    }
  });

  it('stores each object as a plain file that only its owner may read', async () => {
    const { store, directory } = opened;
    await putObject(store, 'tenants/t/2026/11/file', bytesOf('plain'));
    const path = join(directory, 'tenants', 't', '2026', '11', 'file');
    expect(await readFile(path, 'utf8')).to.equal('plain');
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect((await stat(join(directory, 'tenants'))).mode & 0o777).to.equal(0o700);
  });

  it('removes temporary files of writes interrupted an hour ago, and none of possibly active ones', async () => {
    const { store, directory } = opened;
    const [old, young] = [join(directory, '.incoming', 'old'), join(directory, '.incoming', 'young')];
    for (const path of [old, young]) await writeFile(path, 'half');
    const hourAgo = new Date(Date.now() - 3_600_001);
    await utimes(old, hourAgo, hourAgo);
    await store.tidy();
    expect(await readdir(join(directory, '.incoming'))).to.deep.equal(['young']);
    await rm(young);
  });

  it('does not list its own files', async () => {
    const { store, directory } = opened;
    await writeFile(join(directory, '.incoming', 'half'), 'half');
    for await (const { key } of store.list('')) expect(key).not.to.contain('incoming');
    await rm(join(directory, '.incoming', 'half'));
  });

  describe('the check that the bytes are unchanged', () => {
    const KEY = 'tenants/t/2026/11/large';
    const SIZE = 8_000_000;
    let minutes = 0;
    let store: ObjectStore;
    let path: string;
    beforeEach(async () => {
      minutes = 1;
      store = opened.another({ now: () => Date.now() + minutes * 60_000 });
      path = join(opened.directory, KEY);
      await putObject(store, KEY, Buffer.alloc(SIZE, 1));
    });
    const head = async () => {
      const before = await readBytes();
      const etag = (await store.head(KEY))?.etag;
      return { etag, hasRead: (await readBytes()) - before >= SIZE };
    };
    /** Bytes that this process has read from files and pipes, where the system reports them (Linux). */
    const readBytes = async (): Promise<number> =>
      Number(/^rchar: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8'))?.[1]);

    it('reads them once an hour, and otherwise relies on the inode', async function () {
      if (process.platform !== 'linux') skip(this, 'only Linux tells what a process reads');
      const { etag, hasRead } = await head();
      expect([etag, hasRead]).to.deep.equal([createHash('sha256').update(Buffer.alloc(SIZE, 1)).digest('hex'), true]);
      expect(await head()).to.deep.equal({ etag, hasRead: false });
      minutes += 61;
      expect(await head()).to.deep.equal({ etag, hasRead: true });
    });

    it('reads them again after another process wrote to the file, whatever its timestamps', async () => {
      const asBefore = () => utimes(path, 1_700_000_000, 1_700_000_000);
      await asBefore();
      const { etag } = await head();
      await writeFile(path, Buffer.alloc(SIZE, 2));
      await asBefore();
      const other = await head();
      expect(other.etag)
        .to.equal(createHash('sha256').update(Buffer.alloc(SIZE, 2)).digest('hex'))
        .and.not.equal(etag);
    });

    it('accepts them after a restore from a backup', async () => {
      const { etag } = await head();
      await writeFile(`${path}-restored`, Buffer.alloc(SIZE, 1));
      await rename(`${path}-restored`, path);
      expect((await head()).etag).to.equal(etag);
    });

    it('does not rely on the inode of a file written a moment ago', async function () {
      if (process.platform !== 'linux') skip(this, 'only Linux tells what a process reads');
      minutes = 0;
      for (const _again of [1, 2]) expect((await head()).hasRead).to.equal(true);
    });
  });

  it('is unavailable if its folder is a file, and reports so in its probe', async () => {
    const path = join(opened.directory, '..', 'no-folder');
    await writeFile(path, '');
    const links = createFileLinks({
      origin: 'http://localhost',
      keyRing: parseKeyRing(generateKeyRingText()),
      clock: Date,
    });
    const store = createFileSystemStore({ directory: path, links, clock: Date });
    expect(await failureOf(putObject(store, 'a/b', bytesOf('x')))).to.include({
      name: 'ObjectStoreError',
      code: 'unavailable',
    });
    const faults = await store.probe();
    expect(faults.map(({ step }) => step)).to.deep.equal(['reach']);
    expect(faults[0]?.fix).to.contain(path).and.contain('OBJECT_STORE_URL');
  });

  it('creates its folder for the first file', async () => {
    const directory = join(opened.directory, '..', 'new', 'files');
    const links = createFileLinks({
      origin: 'http://localhost',
      keyRing: parseKeyRing(generateKeyRingText()),
      clock: Date,
    });
    const store = createFileSystemStore({ directory, links, clock: Date });
    await putObject(store, 'a/b', bytesOf('x'));
    expect(await readFile(join(directory, 'a', 'b'), 'utf8')).to.equal('x');
    expect((await stat(directory)).mode & 0o777).to.equal(0o700);
  });

  it('writes nothing to the mount point of a disk that is unmounted, and loses nothing on it', async () => {
    const key = 'tenants/t/2026/11/kept';
    const { store, directory } = opened;
    await putObject(store, key, bytesOf('x'));
    await rename(directory, `${directory}-disk`);
    const refused = async () => {
      for (const step of [
        () => putObject(store, 'tenants/t/2026/11/new', bytesOf('y')),
        () => store.head(key),
        () => store.copy(key, `${key}-copy`, 'a'),
      ])
        expect(await failureOf(step())).to.include({ name: 'ObjectStoreError', code: 'unavailable' });
    };
    await refused();
    expect(existsSync(directory)).to.equal(false);
    // The mount point.
    await mkdir(directory);
    await refused();
    expect(await readdir(directory)).to.deep.equal([]);
    await rm(directory, { recursive: true });
    await rename(`${directory}-disk`, directory);
    expect(await store.head(key)).to.include({ sizeBytes: 1 });
  });

  it('serves ranges of a file, and its headers alone', async () => {
    await putObject(opened.store, 'tenants/t/2026/11/ranged', bytesOf('0123456789'));
    const link = await opened.store.downloadUrl({
      key: 'tenants/t/2026/11/ranged',
      fileName: 'a.txt',
      contentType: 'text/plain',
      expiresAt: soon(),
    });
    const asked = async (range: string): Promise<(string | number | null)[]> => {
      const answer = await fetch(link, { headers: { Range: range } });
      return [answer.status, answer.headers.get('content-range'), await answer.text()];
    };
    expect(await asked('bytes=2-4')).to.deep.equal([206, 'bytes 2-4/10', '234']);
    expect(await asked('bytes=7-')).to.deep.equal([206, 'bytes 7-9/10', '789']);
    expect(await asked('bytes=-3')).to.deep.equal([206, 'bytes 7-9/10', '789']);
    expect(await asked('bytes=8-99')).to.deep.equal([206, 'bytes 8-9/10', '89']);
    expect((await asked('bytes=10-')).slice(0, 2)).to.deep.equal([416, 'bytes */10']);
    for (const odd of ['bytes=4-2', 'bytes=0-1,3-4', 'bytes=-', 'lines=1-2', 'bytes=a-b'])
      expect((await asked(odd)).slice(0, 2), odd).to.deep.equal([200, null]);
    const head = await fetch(link, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).to.deep.equal([200, '10', '']);
  });

  it('ends a stalled upload, and removes what it received', async () => {
    const { url } = await opened.store.uploadUrl({
      key: 'uploads/t/slow',
      contentType: 'text/plain',
      sizeBytes: 100,
      expiresAt: soon(),
    });
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const slow = request(
        url,
        { method: 'PUT', headers: { 'Content-Type': 'text/plain', 'Content-Length': '100' } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      );
      slow.on('error', reject);
      slow.write('only this');
    });
    expect(status).to.equal(408);
    expect(await opened.store.head('uploads/t/slow')).to.equal(undefined);
    expect(await readdir(join(opened.directory, '.incoming'))).to.deep.equal([]);
  });

  it('accepts at most two concurrent uploads with one link, as each could fill the disk', async () => {
    const { store } = await onFileSystem(undo);
    const { url } = await store.uploadUrl({
      key: 'uploads/t/crowd',
      contentType: 'text/plain',
      sizeBytes: 100,
      expiresAt: soon(),
    });
    const puts = Array.from({ length: 20 }, () => {
      const put = request(url, { method: 'PUT', headers: { 'Content-Type': 'text/plain', 'Content-Length': '100' } });
      put.write('x'.repeat(50));
      return {
        put,
        answer: new Promise<number | undefined>((resolve, reject) =>
          put.on('response', (said) => resolve(said.resume().statusCode)).on('error', reject),
        ),
      };
    });
    const refused = new Set<object>();
    await new Promise<void>((resolve) => {
      for (const { put, answer } of puts)
        void answer.then((status) => status === 503 && refused.add(put).size === 18 && resolve());
    });
    for (const { put } of puts) put.end('x'.repeat(50));
    expect(await Promise.all(puts.filter(({ put }) => !refused.has(put)).map(({ answer }) => answer))).to.deep.equal([
      200, 200,
    ]);
    expect(
      (await fetch(url, { method: 'PUT', headers: { 'Content-Type': 'text/plain' }, body: 'y'.repeat(100) })).status,
      'there is free space again',
    ).to.equal(200);
  });
});

describe('OBJECT_STORE_URL', () => {
  const kind = objectStoreAddress();

  it('takes a folder or a bucket', () => {
    expect(kind.parse('file:./data/files')).to.deep.equal({
      ok: true,
      value: { provider: 'filesystem', directory: './data/files' },
    });
    expect(kind.parse('file:///var/files')).to.deep.equal({
      ok: true,
      value: { provider: 'filesystem', directory: '/var/files' },
    });
    const bucket = {
      provider: 's3',
      host: 'minio',
      port: 9000,
      tls: false,
      region: 'eu-1',
      bucket: 'book',
      accessKey: 'key',
      secretKey: 'a/b+c@d',
      style: 'path',
    };
    expect(kind.parse('s3://key:a%2Fb%2Bc%40d@minio:9000/book?tls=false&region=eu-1')).to.deep.equal({
      ok: true,
      value: bucket,
    });
    expect(kind.parse('s3://key:a%2Fb%2Bc%40d@minio:9000/my.book?tls=false&region=eu-1&style=virtual')).to.deep.equal({
      ok: true,
      value: { ...bucket, bucket: 'my.book', style: 'virtual' },
    });
    expect(kind.parse('s3://k:s@s3.example.com/book?style=virtual')).to.deep.equal({
      ok: true,
      value: {
        ...bucket,
        host: 's3.example.com',
        port: 443,
        tls: true,
        region: 'us-east-1',
        accessKey: 'k',
        secretKey: 's',
        style: 'virtual',
      },
    });
  });

  it('refuses any other value with the reason, and never reveals the secret', () => {
    for (const wrong of [
      '',
      'files',
      'http://host/bucket',
      'file:',
      'file://host/share',
      's3://',
      's3://host/book',
      's3://key@host/book',
      's3://key:planted@host',
      's3://key:planted@host/',
      's3://key:planted@host/a/b',
      's3://key:planted@host/Book',
      's3://key:planted@host/10.0.0.1',
      's3://key:planted@host/book?tls=yes',
      's3://key:planted@host/book?other=1',
      's3://key:planted@host/book?tls=true&tls=true',
      's3://key:planted@host/book?region=%20',
      's3://key:planted@host/book?style=odd',
      's3://key:planted@host/my.book?style=virtual',
      's3://key:planted@host/book#x',
      's3://key:planted%@host/book',
      's3://key:pla/nted@host/book',
    ]) {
      const parsed = kind.parse(wrong);
      expect(parsed.ok, wrong).to.equal(false);
      expect(parsed.ok ? '' : parsed.problem)
        .to.match(/^m(ust|ay) /)
        .and.not.contain('planted');
    }
  });

  it('is displayed without its secret', () => {
    for (const url of [
      's3://key:planted@minio:9000/book?tls=false&region=eu-1',
      's3://key:planted@host:443/book?tls=true&region=us-east-1&style=virtual',
      'file:./data/files',
    ]) {
      const parsed = kind.parse(url);
      expect(parsed.ok && kind.show(parsed.value)).to.equal(url.replace('planted', '••••'));
    }
  });
});

describe('Content-Disposition', () => {
  it('contains a plain name as it is, and any other one in both forms', () => {
    expect(attachmentDisposition('contracts 2026-11.csv')).to.equal('attachment; filename="contracts 2026-11.csv"');
    expect(attachmentDisposition('Übersicht.pdf')).to.equal(
      'attachment; filename="Ubersicht.pdf"; filename*=UTF-8\'\'%C3%9Cbersicht.pdf',
    );
    expect(attachmentDisposition("l'avenant (1).pdf")).to.equal('attachment; filename="l\'avenant (1).pdf"');
    expect(attachmentDisposition('合同.pdf')).to.equal(
      'attachment; filename="__.pdf"; filename*=UTF-8\'\'%E5%90%88%E5%90%8C.pdf',
    );
    expect(attachmentDisposition('gnp.\u202Efdp.exe')).to.equal('attachment; filename="gnp.fdp.exe"');
    expect(attachmentDisposition('\r\n')).to.equal('attachment; filename="download"');
  });

  it('stays short enough for a proxy, whichever characters the name decomposes into', () => {
    // Each decomposes into eighteen letters.
    expect(attachmentDisposition('\ufdfa'.repeat(255)).length).to.be.below(4_096);
    expect(attachmentDisposition('\u{1F4C4}'.repeat(255)).length).to.be.below(4_096);
  });
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure');
}
