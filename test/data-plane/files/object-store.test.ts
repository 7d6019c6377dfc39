import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  fileKey,
  quarantineKey,
  uploadKey,
  type ObjectStore,
} from '../../../data-plane-agent/plane/files/objects/object-store.js';
import { bytesOf, forEachStore, never, putObject } from '../../support/stores.js';

const TENANT = '0192f0a0-0000-7000-8000-000000000001';
let made = 0;
const newKey = (): string => uploadKey(TENANT, `0192f0a0-0000-7000-9000-${String(++made).padStart(12, '0')}`);

describe('object stores', () => {
  forEachStore((opened) => {
    const store = (): ObjectStore => opened().store;
    const contentOf = async (key: string): Promise<Buffer | undefined> => {
      const content = await store().read(key, {
        sizeBytes: (await store().head(key))?.sizeBytes ?? 0,
        signal: never(),
      });
      return content && buffer(content);
    };
    const keysUnder = async (prefix: string): Promise<string[]> => {
      const keys: string[] = [];
      for await (const { key } of store().list(prefix)) keys.push(key);
      return keys.toSorted();
    };

    it('pass their own probe', async () => {
      expect(await store().probe()).to.deep.equal([]);
      expect(await keysUnder('probe/')).to.deep.equal([]);
    });

    it('store bytes unchanged, including none', async () => {
      for (const bytes of [randomBytes(300_000), Buffer.alloc(0)]) {
        const key = newKey();
        const written = await putObject(store(), key, bytes);
        expect(written).to.include({ key, sizeBytes: bytes.length });
        const head = await store().head(key);
        expect(head).to.include({ key, sizeBytes: bytes.length, etag: written.etag });
        expect(head?.modifiedAt).to.be.closeTo(Date.now(), 60_000);
        expect(await contentOf(key)).to.deep.equal(bytes);
      }
    });

    it('return parts of an object, however long they are', async () => {
      const key = newKey();
      const bytes = randomBytes(9_000_000);
      await putObject(store(), key, bytes);
      for (const [start, end] of [
        [0, 4_000_000],
        [4_000_000, 8_000_000],
        [8_000_000, bytes.length],
        [1, 2],
      ] as const) {
        const content = await store().read(key, { sizeBytes: bytes.length, part: { start, end }, signal: never() });
        const part = content && (await buffer(content));
        expect(part?.equals(bytes.subarray(start, end)), `bytes ${start} to ${end}`).to.equal(true);
      }
    });

    it('report a missing object, and accept its deletion', async () => {
      const key = newKey();
      expect(await store().head(key)).to.equal(undefined);
      expect(await store().read(key, { sizeBytes: 5, signal: never() })).to.equal(undefined);
      expect(await store().copy(key, newKey(), 'an etag')).to.equal(undefined);
      await store().remove(key);
    });

    it('give other bytes of the same length a new entity tag, and remove objects', async () => {
      const key = newKey();
      const first = await putObject(store(), key, bytesOf('first'));
      const second = await putObject(store(), key, bytesOf('other'));
      expect(second.etag).not.to.equal(first.etag);
      expect((await contentOf(key))?.toString()).to.equal('other');
      await store().remove(key);
      expect(await store().head(key)).to.equal(undefined);
    });

    it('copy an object only if it still has the entity tag', async () => {
      const [from, to] = [newKey(), fileKey(TENANT, 'copied', '2026-11-22')];
      const { etag } = await putObject(store(), from, bytesOf('contract'));
      await putObject(store(), from, bytesOf('malware!'));
      expect(await store().copy(from, to, etag)).to.equal(undefined);
      expect(await store().head(to)).to.equal(undefined);
      const now = await store().head(from);
      const copied = await store().copy(from, to, now?.etag ?? '');
      expect(copied).to.include({ key: to, sizeBytes: 8 });
      expect((await contentOf(to))?.toString()).to.equal('malware!');
      expect(await store().head(to)).to.include({ etag: copied?.etag });
    });

    it('return an object only if it has the requested size', async () => {
      const key = newKey();
      await putObject(store(), key, bytesOf('five!'));
      for (const sizeBytes of [0, 4, 6])
        expect(await failureOf(store().read(key, { sizeBytes, signal: never() })), String(sizeBytes)).to.include({
          name: 'ObjectStoreError',
          code: 'unavailable',
        });
      expect((await contentOf(key))?.toString()).to.equal('five!');
    });

    it('list all keys with a prefix and no others', async () => {
      const [a, b] = [quarantineKey('tenant-a', 'one'), quarantineKey('tenant-a', 'two')];
      for (const key of [a, b, quarantineKey('tenant-ab', 'three')]) await putObject(store(), key, bytesOf(key));
      expect(await keysUnder('quarantine/tenant-a/')).to.deep.equal([a, b]);
      expect(await keysUnder('quarantine/')).to.have.length(3);
      expect(await keysUnder('nothing/here/')).to.deep.equal([]);
      for await (const object of store().list('quarantine/tenant-a/'))
        expect(object.sizeBytes).to.equal(object.key.length);
    });

    it('list more than one page of a server', async function () {
      this.timeout(180_000);
      const names = Array.from({ length: 1_005 }, (_unused, index) => `many/${String(index).padStart(5, '0')}`);
      for (let at = 0; at < names.length; at += 50)
        await Promise.all(names.slice(at, at + 50).map((key) => putObject(store(), key, bytesOf('x'))));
      expect(await keysUnder('many/')).to.deep.equal(names);
    });

    it('change nothing if content is longer or shorter than declared, or is interrupted', async () => {
      const key = newKey();
      await putObject(store(), key, bytesOf('as it was'));
      const about = { sizeBytes: 100_000, contentType: 'application/pdf' };
      const broken = Readable.from(
        (async function* () {
          yield randomBytes(50_000);
          await Promise.resolve();
          throw new Error('the source broke');
        })(),
      );
      expect(await failureOf(store().write(key, Readable.from([randomBytes(100_001)]), about))).to.include({
        name: 'WrongLengthError',
        found: 'longer',
      });
      expect(await failureOf(store().write(key, Readable.from([randomBytes(99_999)]), about))).to.include({
        name: 'WrongLengthError',
        found: 'shorter',
      });
      expect(await failureOf(store().write(key, broken, about))).to.include({ message: 'the source broke' });
      expect((await contentOf(key))?.toString()).to.equal('as it was');
      const { directory } = opened();
      if (directory !== undefined) expect(await readdir(join(directory, '.incoming'))).to.deep.equal([]);
    });

    it('end a read with an error when it is aborted', async () => {
      const key = newKey();
      await putObject(store(), key, randomBytes(4_000_000));
      const reported = new AbortController();
      const content = await store().read(key, { sizeBytes: 4_000_000, signal: reported.signal });
      if (!content) throw new Error('expected an object');
      reported.abort();
      expect(await failureOf(buffer(content))).to.include({ name: 'AbortError' });
      expect(await failureOf(store().read(key, { sizeBytes: 4_000_000, signal: reported.signal }))).to.include({
        name: 'AbortError',
      });
    });

    it('never mix bytes or return a wrong entity tag during a hundred overlapping PUTs to the copied key', async function () {
      this.timeout(180_000);
      const from = newKey();
      const versions = Array.from({ length: 100 }, (_unused, index) => Buffer.alloc(60_000 + index, index + 1));
      const tags = new Map<string, number>();
      const write = async (bytes: Buffer): Promise<void> =>
        void tags.set((await putObject(store(), from, bytes)).etag, bytes[0] ?? 0);
      await write(versions[0] ?? Buffer.alloc(0));
      let copies = 0;
      let writing = true;
      const copying = (async () => {
        const seen: { to: string; etag: string; asked: string }[] = [];
        while (writing || copies === 0) {
          const head = await store().head(from);
          if (!head) throw new Error('expected an object at any time');
          const to = fileKey(TENANT, `race-${seen.length}`, '2026-11-22');
          const copy = await store().copy(from, to, head.etag);
          if (!copy) continue;
          copies += 1;
          seen.push({ to, etag: copy.etag, asked: head.etag });
        }
        return seen;
      })();
      for (let at = 1; at < 100; at += 11) await Promise.all(versions.slice(at, at + 11).map(write));
      writing = false;
      for (const { to, etag, asked } of await copying) {
        const bytes = await contentOf(to);
        const first = bytes?.[0] ?? 0;
        expect(bytes?.equals(versions[first - 1] ?? Buffer.alloc(0)), 'one version, complete').to.equal(true);
        expect(tags.get(asked)).to.equal(first);
        expect(etag).to.equal(asked);
      }
    });
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
