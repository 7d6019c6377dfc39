import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { Download, FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration, type Administration } from '../support/administration.js';
import { aZip, encryptedZip } from '../support/archives.js';
import { EICAR } from '../support/clamd.js';
import { filesOf, forEachFileServer, objectsOf, settled, until } from '../support/file-server.js';
import type { DomainError, FrameworkError } from '../support/http.js';
import { PDF, reachable, uploadsOf, type ToUpload } from '../support/uploads.js';

const ZIP = { fileName: 'evidence.zip', contentType: 'application/zip' };
const TEXT = { fileName: 'note.txt', contentType: 'text/plain' };

/** Created once, as some take long. */
const INFECTED = [
  ['EICAR', { ...TEXT, bytes: Buffer.from(EICAR) }],
  ['EICAR in a zip', { ...ZIP, bytes: aZip({ 'a.txt': 'nothing to see', 'b/eicar.com': EICAR }) }],
  ['EICAR in a zip in a zip', { ...ZIP, bytes: aZip({ 'inner.zip': aZip({ 'eicar.com': EICAR }) }) }],
  [
    'EICAR at the end of 40 MB',
    { ...TEXT, bytes: Buffer.concat([Buffer.alloc(40_000_000, 'all is well\n'), Buffer.from(EICAR)]) },
  ],
] as const satisfies readonly (readonly [string, ToUpload])[];
const UNSEEN = [
  ['a zip bomb', { ...ZIP, bytes: aZip({ 'zeros.bin': Buffer.alloc(260_000_000) }) }, /unpacks to more/],
  ['an encrypted zip', { ...ZIP, bytes: encryptedZip('secret.txt', 'nobody can look into this') }, /encrypted/i],
  [
    'a truncated zip',
    { ...ZIP, bytes: aZip({ 'a.txt': 'x'.repeat(5_000), 'b.txt': randomBytes(5_000) }).subarray(0, 4_000) },
    /./,
  ],
  [
    'a zip with too many files',
    { ...ZIP, bytes: aZip(Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`${i}`, '']))) },
    /./,
  ],
] as const satisfies readonly (readonly [string, ToUpload, RegExp])[];

forEachFileServer(
  (server, kind) => {
    describe('attacks by files', function () {
      this.timeout(180_000); // forty megabytes are sent to the store, to the scanner and back
      let org: Administration;
      beforeEach(async () => {
        org = await administration(server());
      });
      const download = (id: string) => org.asOwner.get<Download & DomainError>(`/files/${id}/download`);

      for (const [what, file] of INFECTED) {
        it(`${what} is found, moved to quarantine and never delivered`, async () => {
          const confirmed = await uploadsOf(org.asOwner).upload(file);
          const { body } = await until(
            () => org.asOwner.get<FileRecord>(`/files/${confirmed.id}`),
            (answer) => answer.body.scanStatus !== 'pending',
          );
          expect(body.scanStatus).to.equal('infected');
          expect(body.scanSignature).to.match(/^Eicar-Test/);
          expect(body.scannedAt).to.be.a('string');
          const refused = await download(body.id);
          expect([refused.status, refused.body.error.code]).to.deep.equal([403, 'FILE_INFECTED']);
          await settled(server());
          expect(await objectsOf(server(), org)).to.deep.equal([`quarantine/${org.tenant.id}/${body.id}`]);
          const { body: events } = await org.asOwner.get('/audit', { query: { source: 'data', record: body.id } });
          expect(JSON.stringify(events)).to.contain('infected');
        });
      }

      for (const [what, file, reason] of UNSEEN) {
        it(`${what} is not reported as clean, has a reason, and is not delivered`, async () => {
          const uploads = uploadsOf(org.asOwner);
          const announced = await uploads.announce(file);
          expect((await uploads.put(announced, file.bytes)).status).to.equal(200);
          const { status, body } = await uploads.confirm(announced, file);
          if (status === 422) {
            expect((body as unknown as DomainError).error.code).to.equal('FILE_CONTENT_MISMATCH');
            return;
          }
          const { body: record } = await until(
            () => org.asOwner.get<FileRecord>(`/files/${body.id}`),
            (answer) => answer.body.scanStatus !== 'pending',
          );
          expect(record.scanStatus).to.equal('error');
          expect(record.scanError).to.match(reason);
          const refused = await download(record.id);
          expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'FILE_SCAN_PENDING']);
        });
      }

      it('a file that combines two formats, or is not of its declared type, is refused', async () => {
        const archive = aZip({ 'eicar.com': EICAR });
        const pdfAndZip = Buffer.concat([PDF, archive]);
        for (const [contentType, bytes] of [
          ['application/pdf', pdfAndZip],
          ['application/zip', pdfAndZip],
          ['image/png', Buffer.from('GIF89a<script>alert(1)</script>')],
          ['image/jpeg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>')],
          ['text/plain', Buffer.concat([Buffer.from('MZ'), randomBytes(200)])],
        ] as const) {
          const uploads = uploadsOf(org.asOwner);
          const announced = await uploads.announce({ contentType, bytes });
          await uploads.put(announced, bytes);
          const refused = await uploads.confirm(announced, { contentType, bytes });
          expect((refused.body as unknown as DomainError).error?.code, `${contentType} ${refused.text}`).to.equal(
            'FILE_CONTENT_MISMATCH',
          );
        }
        expect(await objectsOf(server(), org)).to.deep.equal([]);
      });

      it('a PUT that is longer, shorter or of another type is refused, and stores nothing', async () => {
        const uploads = uploadsOf(org.asOwner);
        const announced = await uploads.announce();
        for (const bytes of [
          Buffer.concat([PDF, Buffer.from('x')]),
          PDF.subarray(1),
          Buffer.alloc(0),
          Buffer.alloc(5_000_000),
        ]) {
          const { status } = await uploads.put(announced, bytes).catch(() => ({ status: 400 })); // a store may close the connection on a request that it refuses
          expect(status, `${bytes.length} bytes`).to.be.within(400, 499);
        }
        for (const headers of [{ 'Content-Type': 'text/html' }, { 'Content-Type': 'application/pdf; charset=utf-8' }])
          expect((await uploads.put({ ...announced, headers })).status, JSON.stringify(headers)).to.be.within(400, 499);
        expect((await uploads.confirm(announced)).status).to.equal(409);
        expect(await objectsOf(server(), org)).to.deep.equal([]);
        expect((await uploads.put(announced)).status).to.equal(200);
      });

      it('a body that exceeds its length, or breaks off, is never accepted as the file', async () => {
        const uploads = uploadsOf(org.asOwner);
        const announced = await uploads.announce();
        const url = new URL(reachable(announced.uploadUrl, org.asOwner));
        const begin = `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/pdf\r\n`;
        await brokenOff(url, `${begin}Content-Length: ${PDF.length}\r\n\r\n${PDF.subarray(0, 20).toString()}`);
        await brokenOff(url, `${begin}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`);
        expect((await uploads.confirm(announced)).status).to.equal(409);
        expect(await objectsOf(server(), org)).to.deep.equal([]);
      });

      it('a PUT to the old URL during and after the confirmation changes nothing: the delivered bytes are those hashed and scanned', async () => {
        const uploads = uploadsOf(org.asOwner);
        const harmless = Buffer.concat([PDF, randomBytes(200_000)]);
        const evil = Buffer.concat([PDF, Buffer.from(EICAR), randomBytes(200_000 - EICAR.length)]);
        const announced = await uploads.announce({ bytes: harmless });
        await uploads.put(announced, harmless);
        let confirmed: FileRecord | undefined;
        const confirming = uploads.confirm(announced, { bytes: harmless });
        const puts = Array.from({ length: 100 }, (_, i) =>
          uploads
            .put(announced, i % 2 === 0 ? evil : harmless)
            .then(async (answer) => ({ status: answer.status, text: await answer.text() })),
        );
        for (let answer = await confirming; ; answer = await uploads.confirm(announced, { bytes: harmless })) {
          if (answer.status === 201) {
            confirmed = answer.body;
            break;
          }
          expect((answer.body as unknown as DomainError).error.code, 'it was being put anew').to.equal(
            'FILE_NOT_UPLOADED',
          );
        }
        const answers = await Promise.all(puts);
        const taken = answers.filter(({ status }) => status === 200);
        // Our own URLs accept two concurrent uploads; an S3 server accepts them all.
        expect(taken).to.have.length.within(kind.endsWith('minio') ? 100 : 1, 100);
        for (const { status, text } of answers.filter((answer) => !taken.includes(answer)))
          expect([status, (JSON.parse(text) as FrameworkError).message]).to.deep.equal([
            503,
            'Too many uploads with this link are in progress',
          ]);
        await uploads.put(announced, evil);
        const link = await download(confirmed.id);
        if (confirmed.scanStatus === 'infected') {
          expect(link.status).to.equal(403);
          expect(confirmed.sha256).to.equal(hashOf(evil));
          return;
        }
        expect([confirmed.scanStatus, confirmed.sha256, link.status]).to.deep.equal(['clean', hashOf(harmless), 200]);
        const got = Buffer.from(await (await fetch(reachable(link.body.url, org.asOwner))).arrayBuffer());
        expect(hashOf(got)).to.equal(confirmed.sha256);
        // The scheduled rescan of downloadable files.
        const stored = await filesOf(server()).objects.read(
          `tenants/${org.tenant.id}/${confirmed.createdAt.slice(0, 4)}/${confirmed.createdAt.slice(5, 7)}/${confirmed.id}`,
          { sizeBytes: confirmed.sizeBytes, signal: new AbortController().signal },
        );
        expect(
          stored && (await filesOf(server()).scanner.scan(stored, { sizeBytes: confirmed.sizeBytes })),
        ).to.deep.equal({ status: 'clean' });
      });

      it('a URL for one upload is valid neither for another nor for reading', async () => {
        const uploads = uploadsOf(org.asOwner);
        const [mine, other] = [await uploads.announce(), await uploads.announce()];
        const url = reachable(mine.uploadUrl, org.asOwner);
        for (const changed of [
          url.replace(mine.fileId, other.fileId),
          url.replace('uploads/', 'tenants/'),
          url.replace(`uploads/${org.tenant.id}`, `quarantine/${org.tenant.id}`),
          url.replace('uploads/', 'uploads/../tenants/'),
          url.replace('uploads/', 'uploads%2F..%2Ftenants/'),
        ]) {
          expect(
            (await fetch(changed, { method: 'PUT', headers: { ...mine.headers }, body: new Uint8Array(PDF) })).status,
            changed,
          ).to.be.within(400, 499);
        }
        await uploads.put(mine);
        expect((await fetch(url)).status).to.be.within(400, 499);
        expect((await fetch(url, { method: 'DELETE' })).status).to.be.within(400, 499);
        expect(await objectsOf(server(), org)).to.deep.equal([mine.objectKey]);
      });
    });
  },
  { scans: true, kinds: ['sqlite and a folder', 'postgres and minio'] },
);

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Sends these bytes, and disconnects shortly after the server has begun to read them. */
function brokenOff({ hostname, port }: URL, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(text, () => setTimeout(() => socket.destroy(), 100)),
    );
    socket.on('close', () => resolve()).on('error', reject);
    socket.resume();
  });
}
