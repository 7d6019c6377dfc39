import { expect } from 'chai';
import { createHash } from 'node:crypto';
import type { Download, FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration, type Administration } from '../support/administration.js';
import type { DomainError } from '../support/http.js';
import { forEachServer } from '../support/server.js';
import { PDF, reachable, uploadsOf } from '../support/uploads.js';

forEachServer((server) => {
  describe('files over HTTP', () => {
    let org: Administration;
    beforeEach(async () => {
      org = await administration(server());
    });

    it('a file is presigned, put into the store, confirmed, and downloaded unchanged', async () => {
      const uploads = uploadsOf(org.asOwner);
      const announced = await uploads.announce();
      expect(announced.objectKey).to.equal(`uploads/${org.tenant.id}/${announced.fileId}`);
      expect((await uploads.put(announced)).status).to.equal(200);
      const { status, body: file } = await uploads.confirm(announced);
      expect(status).to.equal(201);
      expect(file).to.include({
        id: announced.fileId,
        fileName: 'contract.pdf',
        contentType: 'application/pdf',
        sizeBytes: PDF.length,
        sha256: createHash('sha256').update(PDF).digest('hex'),
        scanStatus: 'skipped',
        kind: 'contract_original',
      });
      expect((await org.asOwner.get<FileRecord>(`/files/${file.id}`)).body).to.deep.equal(file);

      const download = await org.asOwner.get<Download>(`/files/${file.id}/download`);
      expect(download.status).to.equal(200);
      const got = await fetch(reachable(download.body.url, org.asOwner));
      expect(Buffer.from(await got.arrayBuffer()).equals(PDF)).to.equal(true);
      expect(got.headers.get('content-disposition')).to.match(/^attachment; filename="contract\.pdf"/);
    });

    it('a repeated confirmation returns the same file, and ten concurrent ones create one', async () => {
      const uploads = uploadsOf(org.asOwner);
      const announced = await uploads.announce();
      await uploads.put(announced);
      const answers = await Promise.all(Array.from({ length: 10 }, () => uploads.confirm(announced)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 201));
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    });

    it('a browser that follows the link is redirected to the bytes', async () => {
      const file = await uploadsOf(org.asOwner).upload();
      const { status, headers } = await org.asOwner.get(`/files/${file.id}/download`, {
        headers: { Accept: 'text/html,application/xhtml+xml' },
      });
      expect(status).to.equal(302);
      expect((await fetch(reachable(headers.get('location') ?? '', org.asOwner))).status).to.equal(200);
    });

    it('a file of another type than declared is refused and removed', async () => {
      const uploads = uploadsOf(org.asOwner);
      const file = { bytes: Buffer.from('<html>not a pdf</html>') };
      const announced = await uploads.announce(file);
      await uploads.put(announced, file.bytes);
      const refused = await uploads.confirm(announced, file);
      expect((refused.body as unknown as DomainError).error.code).to.equal('FILE_CONTENT_MISMATCH');
      const again = await uploads.confirm(announced, file);
      expect((again.body as unknown as DomainError).error.code).to.equal('FILE_NOT_UPLOADED');
    });
  });
});
