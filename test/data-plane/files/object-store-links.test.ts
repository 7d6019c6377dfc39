import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { uploadKey, type ObjectStore } from '../../../data-plane-agent/plane/files/objects/object-store.js';
import { bytesOf, endOf, forEachStore, putObject } from '../../support/stores.js';

const TENANT = '0192f0a0-0000-7000-8000-000000000002';
let made = 0;
const newKey = (): string => uploadKey(TENANT, `0192f0a0-0000-7000-9000-${String(++made).padStart(12, '0')}`);
const soon = (): number => Date.now() + 60_000;

describe('signed links to files', () => {
  forEachStore((opened, kind) => {
    const store = (): ObjectStore => opened().store;
    const upload = (about: { key: string; sizeBytes: number }) =>
      store().uploadUrl({ contentType: 'application/pdf', expiresAt: soon(), ...about });
    const download = (key: string, fileName = 'contract.pdf') =>
      store().downloadUrl({ key, fileName, contentType: 'application/pdf', expiresAt: soon() });
    const put = async (
      url: string,
      body: Buffer,
      headers: Record<string, string> = { 'Content-Type': 'application/pdf' },
    ): Promise<number> => {
      const answer = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(body) });
      await answer.text();
      return answer.status;
    };
    const status = async (url: string, method = 'GET'): Promise<number> => {
      const answer = await fetch(url, { method });
      await answer.text();
      return answer.status;
    };
    const leavesNothing = async (key: string): Promise<void> => {
      expect(await store().head(key)).to.equal(undefined);
      const { directory } = opened();
      if (directory !== undefined) expect(await readdir(join(directory, '.incoming'))).to.deep.equal([]);
    };

    it('accept an upload of exactly the declared content, and return it as an attachment', async () => {
      const [key, bytes] = [newKey(), randomBytes(200_000)];
      const { url, headers } = await upload({ key, sizeBytes: bytes.length });
      expect(await put(url, bytes, { ...headers })).to.equal(200);
      expect(await store().head(key)).to.include({ sizeBytes: bytes.length });
      const answer = await fetch(await download(key, '买卖合同 "2026".pdf'));
      expect(Buffer.from(await answer.arrayBuffer())).to.deep.equal(bytes);
      expect(answer.headers.get('content-type')).to.equal('application/pdf');
      expect(answer.headers.get('content-length')).to.equal('200000');
      expect(answer.headers.get('cache-control')).to.equal('private, no-store');
      expect(answer.headers.get('content-disposition')).to.equal(
        'attachment; filename="____ _2026_.pdf"; filename*=UTF-8\'\'%E4%B9%B0%E5%8D%96%E5%90%88%E5%90%8C%20%222026%22.pdf',
      );
      if (kind !== 'filesystem') return;
      expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(answer.headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
    });

    it('accept an empty upload', async () => {
      const key = newKey();
      const { url } = await upload({ key, sizeBytes: 0 });
      expect(await put(url, Buffer.alloc(0))).to.equal(200);
      expect(await store().head(key)).to.include({ sizeBytes: 0 });
    });

    it('refuse an upload that is longer, shorter, of another type or without length, and store none of it', async () => {
      const key = newKey();
      const { url } = await upload({ key, sizeBytes: 1_000 });
      const statuses = [
        await put(url, randomBytes(1_001)),
        await put(url, randomBytes(999)),
        await put(url, randomBytes(1_000), { 'Content-Type': 'text/html' }),
        await put(url, randomBytes(1_000), {}),
        await put(url, Buffer.alloc(0)),
      ];
      if (kind === 'filesystem') expect(statuses).to.deep.equal([413, 400, 415, 415, 400]);
      else for (const refused of statuses) expect(refused).to.be.within(400, 499);
      const chunked = await sendChunked(url, randomBytes(1_000));
      if (kind === 'filesystem') expect(chunked).to.equal(411);
      else expect(chunked).to.be.within(400, 499);
      await leavesNothing(key);
    });

    it('store nothing of an interrupted upload', async () => {
      const key = newKey();
      const { url } = await upload({ key, sizeBytes: 1_000_000 });
      const broken = request(url, {
        method: 'PUT',
        headers: { 'Content-Type': 'application/pdf', 'Content-Length': '1000000' },
      });
      const closed = new Promise<void>((resolve) => {
        broken.on('error', () => undefined); // the test itself interrupts it
        broken.once('close', resolve);
      });
      await new Promise<void>((resolve) => {
        broken.write(randomBytes(400_000), () => resolve());
      });
      const { directory } = opened();
      if (directory !== undefined) await until(async () => (await readdir(join(directory, '.incoming'))).length === 1);
      broken.destroy();
      await closed;
      if (directory !== undefined) await until(async () => (await readdir(join(directory, '.incoming'))).length === 0);
      await leavesNothing(key);
    });

    it('are invalid with any part of them changed', async () => {
      const key = newKey();
      await putObject(store(), key, bytesOf('a contract'));
      const links: (readonly [string, 'GET' | 'PUT'])[] = [
        [await download(key), 'GET'],
        [(await upload({ key: newKey(), sizeBytes: 10 })).url, 'PUT'],
      ];
      for (const [link, method] of links) {
        const send = (url: string): Promise<number> =>
          method === 'GET' ? status(url) : put(url, bytesOf('ten bytes!'));
        for (const [name, value] of new URL(link).searchParams) {
          const mutants = [
            changed(link, (query) => query.set(name, altered(value))),
            changed(link, (query) => query.delete(name)),
            changed(link, (query) => query.set(name, '')),
          ];
          for (const mutant of mutants)
            expect(await send(mutant), `${method} with another ${name}`).to.be.within(400, 403);
        }
        const other = new URL(link);
        other.pathname = `${other.pathname.slice(0, -1)}${other.pathname.endsWith('1') ? '2' : '1'}`;
        expect(await send(other.href), `${method} of another key`).to.equal(403);
        expect(
          await send(changed(link, (query) => query.append('more', '1'))),
          `${method} with an additional parameter`,
        ).to.equal(403);
        expect(await send(link), `${method} as signed`).to.equal(200);
      }
    });

    it('are valid for one method only', async () => {
      const key = newKey();
      await putObject(store(), key, bytesOf('a contract'));
      const [up, down] = [(await upload({ key, sizeBytes: 10 })).url, await download(key)];
      expect(await status(up)).to.be.within(400, 403);
      expect(await put(down, bytesOf('ten bytes!'))).to.be.within(400, 403);
      for (const link of [up, down])
        for (const method of ['DELETE', 'POST']) expect(await status(link, method), method).to.be.within(400, 405);
      expect((await store().head(key))?.sizeBytes).to.equal(10);
    });

    it('expire', async () => {
      const key = newKey();
      await putObject(store(), key, bytesOf('a contract'));
      const hourAgo = Date.now() - 3_600_000;
      const then = opened().another({ now: () => hourAgo });
      expect(
        await status(
          await then.downloadUrl({
            key,
            fileName: 'a.pdf',
            contentType: 'application/pdf',
            expiresAt: hourAgo + 60_000,
          }),
        ),
      ).to.equal(403);
      expect(
        await put(
          (await then.uploadUrl({ key, contentType: 'application/pdf', sizeBytes: 10, expiresAt: hourAgo + 60_000 }))
            .url,
          bytesOf('ten bytes!'),
        ),
      ).to.equal(403);
      expect((await store().head(key))?.sizeBytes).to.equal(10);
    });

    it('expire at the same second, in whichever part of a second they were created', async () => {
      const second = Math.floor(Date.now() / 1_000) * 1_000;
      for (const ms of [0, 1, 500, 999]) {
        const then = opened().another({ now: () => second + ms });
        for (const expiresAt of [second + 60_000, second + 61_000]) {
          const [up, down] = [
            await then.uploadUrl({ key: newKey(), contentType: 'application/pdf', sizeBytes: 10, expiresAt }),
            await then.downloadUrl({ key: newKey(), fileName: 'a.pdf', contentType: 'application/pdf', expiresAt }),
          ];
          expect([endOf(up.url), endOf(down)], `after ${ms} ms`).to.deep.equal([expiresAt, expiresAt]);
        }
      }
    });

    it('are signed and accepted by any process with the same keys', async () => {
      const key = newKey();
      await putObject(store(), key, bytesOf('a contract'));
      const link = await opened()
        .another({ now: () => Date.now() })
        .downloadUrl({ key, fileName: 'a.pdf', contentType: 'application/pdf', expiresAt: soon() });
      expect(await status(link)).to.equal(200);
    });

    it('answer 404 after the file is deleted', async () => {
      expect(await status(await download(newKey()))).to.equal(404);
    });

    it('name the file so that no name breaks the header', async () => {
      const key = newKey();
      await putObject(store(), key, bytesOf('a contract'));
      const names = [
        'a\r\nSet-Cookie: x=1.pdf',
        '"; filename=evil.html',
        '..\\..\\etc/passwd',
        'gnp.\u202Efdp.exe',
        '合同'.repeat(50),
        '\ud800half',
        '',
        '  ',
        '%41%0d%0a',
        "it's (1)*.pdf",
        'é'.repeat(255),
      ];
      for (const fileName of names) {
        const answer = await fetch(await download(key, fileName));
        expect(answer.status, JSON.stringify(fileName)).to.equal(200);
        const header = answer.headers.get('content-disposition') ?? '';
        expect(header, JSON.stringify(fileName)).to.match(
          /^attachment; filename="[^"\\%/]+"(; filename\*=UTF-8''[A-Za-z0-9%!#$&+.^_`|~-]+)?$/,
        );
        expect(answer.headers.get('set-cookie')).to.equal(null);
        expect(decodeURIComponent(header)).not.to.match(/\p{Cc}|\p{Bidi_Control}/u);
      }
    });
  });
});

function changed(link: string, change: (query: URLSearchParams) => void): string {
  const url = new URL(link);
  change(url.searchParams);
  return url.href;
}

/** Changes one character near the end, where a careless comparison would not look. */
function altered(value: string): string {
  const last = value.at(-2) ?? value.at(-1) ?? '';
  const at = value.lastIndexOf(last);
  return `${value.slice(0, at)}${last === '1' ? '2' : '1'}${value.slice(at + 1)}`;
}

/** Waits for a condition; the time limit of the suite ends it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setImmediate();
}

function sendChunked(url: string, bytes: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'PUT', headers: { 'Content-Type': 'application/pdf', 'Transfer-Encoding': 'chunked' } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    sent.on('error', reject);
    sent.end(bytes);
  });
}
