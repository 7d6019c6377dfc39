import { expect } from 'chai';
import { Readable } from 'node:stream';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Download, FileRecord } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration, type Administration } from '../support/administration.js';
import { FILE_SERVER_KINDS, filesOf, forEachFileServer } from '../support/file-server.js';
import type { Client, DomainError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { startServer, type TestServer } from '../support/server.js';
import { PDF, reachable, uploadsOf } from '../support/uploads.js';

interface Made {
  id: string;
  payments: { id: string }[];
}

forEachFileServer(
  (server) => {
    describe('downloading a file', () => {
      let org: Administration;
      beforeEach(async () => {
        org = await administration(server());
      });

      const contract = async (client = org.asOwner, changes: object = {}): Promise<Made> => {
        const { status, body, text } = await client.post<Made>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine()], ...changes }),
        );
        expect(status, text).to.equal(201);
        return body;
      };
      const download = (id: string, options = {}, client = org.asOwner) =>
        client.get<Download>(`/files/${id}/download`, options);

      it('returns a URL for one minute, which serves the bytes as an attachment with their name', async () => {
        const begun = Date.now();
        for (const fileName of ['contract.pdf', '合同 第一号.pdf', 'a"b;c=d\'%41.pdf', 'über \u{1F4C4}.pdf']) {
          const file = await uploadsOf(org.asOwner).upload({ fileName });
          const { status, body, headers } = await download(file.id);
          expect([status, headers.get('cache-control')]).to.deep.equal([200, 'no-store']);
          expect(body).to.deep.equal({
            url: body.url,
            expiresAt: body.expiresAt,
            fileName,
            contentType: 'application/pdf',
            sizeBytes: PDF.length,
            scanStatus: 'skipped',
          });
          expect(Date.parse(body.expiresAt) - begun).to.be.within(59_000, 75_000);
          const got = await fetch(reachable(body.url, org.asOwner));
          expect([got.status, got.headers.get('content-type')]).to.deep.equal([200, 'application/pdf']);
          const disposition = got.headers.get('content-disposition') ?? '';
          expect(disposition).to.match(/^attachment; filename="[^"\\]*"(; filename\*=UTF-8''[\w%.~!#$&+^`|-]+)?$/);
          const encoded = /filename\*=UTF-8''(.+)$/.exec(disposition)?.[1];
          expect(encoded === undefined ? disposition : decodeURIComponent(encoded)).to.contain(fileName);
          expect(Buffer.from(await got.arrayBuffer()).equals(PDF)).to.equal(true);
        }
      });

      it('is valid for this one file, as signed', async () => {
        const file = await uploadsOf(org.asOwner).upload();
        const { body } = await download(file.id);
        const url = reachable(body.url, org.asOwner);
        expect((await fetch(url.replace(file.id, newId()))).status).to.equal(403);
        expect(
          (
            await fetch(
              url.replace(
                /([Ss]ignature=)(.)/,
                (_, name: string, first: string) => `${name}${first === 'a' ? 'b' : 'a'}`,
              ),
            )
          ).status,
        ).to.equal(403);
        expect((await fetch(url, { method: 'PUT', body: 'x' })).status).to.equal(403);
        expect((await fetch(url, { method: 'DELETE' })).status).to.be.oneOf([403, 405]);
      });

      for (const [accept, status] of [
        [undefined, 200],
        ['*/*', 200],
        ['application/json', 200],
        ['application/*', 200],
        ['application/json, text/html;q=0.5', 200],
        ['text/html, application/xhtml+xml, */*;q=0.8', 302],
        ['application/pdf', 302],
        ['image/*', 302],
        ['text/html, application/json;q=0.9', 302],
        ['application/json; charset=utf-8', 200],
        ['application/problem+json', 200],
        ['application/pdf, */*;q=0.1', 302],
        ['image/avif,image/webp,*/*', 302],
        ['application/pdf;q=0.2, */*', 200],
      ] as const) {
        it(`answers ${status} to Accept: ${accept ?? '(none)'}`, async () => {
          const file = await uploadsOf(org.asOwner).upload();
          const answer = await download(file.id, accept === undefined ? {} : { headers: { Accept: accept } });
          expect(answer.status, answer.text).to.equal(status);
          if (status === 302)
            expect((await fetch(reachable(answer.headers.get('location') ?? '', org.asOwner))).status).to.equal(200);
        });
      }

      it("does not parse an Accept header longer than any browser's, as that would delay others", async () => {
        const file = await uploadsOf(org.asOwner).upload();
        expect(
          (await download(file.id, { headers: { Accept: `text/html;a="${','.repeat(60_000)}` } })).status,
        ).to.equal(200);
      });

      it('checks the record named in the request: the file is filed there, or referred to there', async () => {
        const [there, other] = [await contract(), await contract()];
        const line = there.payments[0]?.id ?? '';
        const filed = await uploadsOf(org.asOwner).upload({ contractId: there.id, paymentId: line });
        const proof = await uploadsOf(org.asOwner).upload({ kind: 'receipt' });
        expect(
          (await org.asOwner.patch(`/payments/${line}/receipt`, { receivedAmount: 5, proof: proof.id })).status,
        ).to.equal(200);
        for (const { id } of [filed, proof]) {
          for (const query of [
            {},
            { contractId: there.id },
            { paymentId: line },
            { contractId: there.id, paymentId: line },
          ])
            expect((await download(id, { query })).status, JSON.stringify(query)).to.equal(200);
          for (const query of [
            { contractId: other.id },
            { paymentId: other.payments[0]?.id ?? '' },
            { contractId: other.id, paymentId: line },
            { contractId: newId() },
            { contractId: 'no id' },
            { paymentId: 'no id' },
          ]) {
            expect((await download(id, { query })).status, JSON.stringify(query)).to.equal(404);
          }
        }
        expect((await download(filed.id, { query: { contractID: there.id } })).status).to.equal(400);
        expect((await download(filed.id, { query: `contractId=${there.id}&contractId=${there.id}` })).status).to.equal(
          400,
        );
      });

      it('is allowed to callers who see a contract with the file, and others get the same 404 as for a missing file', async () => {
        const { body: second } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', {
          name: 'Second Ltd',
        });
        const elsewhere = await contract(org.asOwner, { subjectId: second.id });
        const unfiled = await uploadsOf(org.asOwner).upload();
        const files = [
          await uploadsOf(org.asOwner).upload({ contractId: elsewhere.id }),
          await uploadsOf(org.asOwner).upload({ subjectId: second.id }),
          unfiled,
        ];
        const scoped = await org.join({ roleCode: 'viewer', subjectScope: [org.subjectId] });
        const otherTenant = await administration(server());
        const answers = async (client: Client, id: string): Promise<string> => {
          const [record, link] = [await client.get(`/files/${id}`), await client.get(`/files/${id}/download`)];
          expect(record.text).to.equal(link.text);
          return `${link.status} ${link.text}`;
        };
        const nothing = await answers(org.asOwner, newId());
        expect(nothing).to.match(/^404 /);
        for (const { id } of files)
          for (const client of [scoped.client, otherTenant.asOwner])
            expect(await answers(client, id)).to.equal(nothing);
        expect(await answers(org.asOwner, 'no id')).to.equal(nothing);
        // The caller may open it while a contract in their scope refers to it.
        const here = await contract(org.asOwner, { contractAttachment: unfiled.id });
        expect((await download(unfiled.id, {}, scoped.client)).status).to.equal(200);
        await org.asOwner.patch(`/contracts/${here.id}`, { contractAttachment: null });
        expect(await answers(scoped.client, unfiled.id)).to.equal(nothing);
      });

      it('is allowed to the uploader while no record refers to the file', async () => {
        const scoped = await org.join({ roleCode: 'viewer', subjectScope: [org.subjectId] });
        const colleague = await org.join({ roleCode: 'viewer', subjectScope: [org.subjectId] });
        const file = await uploadsOf(scoped.client).upload();
        expect((await download(file.id, {}, scoped.client)).status).to.equal(200);
        expect((await download(file.id, {}, colleague.client)).status).to.equal(404);
        const { body: second } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', {
          name: 'Second Ltd',
        });
        await contract(org.asOwner, { subjectId: second.id, contractAttachment: file.id });
        expect(
          (await download(file.id, {}, scoped.client)).status,
          'its contract is not visible to the member',
        ).to.equal(404);
      });

      it('is limited by the owner scope of callers who see only their own contracts', async () => {
        expect((await org.asOwner.patch('/tenant-admin/settings', { ownerScopeEnabled: true })).status).to.equal(200);
        const sales = await org.join({ roleCode: 'sales' });
        const theirs = await uploadsOf(org.asOwner).upload({
          contractId: (await contract(org.asOwner, { ownerId: sales.id })).id,
        });
        const ours = await uploadsOf(org.asOwner).upload({ contractId: (await contract()).id });
        const loose = await uploadsOf(org.asOwner).upload({ subjectId: org.subjectId });
        expect((await download(theirs.id, {}, sales.client)).status).to.equal(200);
        for (const { id } of [ours, loose]) expect((await download(id, {}, sales.client)).status).to.equal(404);
      });

      it('is audited each time, with the member', async () => {
        const viewer = await org.join({ roleCode: 'viewer' });
        const file = await uploadsOf(org.asOwner).upload();
        await download(file.id, {}, viewer.client);
        await download(file.id, { headers: { Accept: 'text/html' } }, viewer.client);
        await download(newId(), {}, viewer.client);
        const { body } = await org.asOwner.get<{ items: { action: string; actor: { id: string } | null }[] }>(
          '/audit',
          {
            query: { source: 'data', action: 'downloadFile', actor: viewer.id },
          },
        );
        expect(body.items).to.have.length(2);
        expect(JSON.stringify(body.items)).to.contain(file.id);
      });

      it('reports that the store has lost the bytes, or has others', async () => {
        const [lost, changed] = [await uploadsOf(org.asOwner).upload(), await uploadsOf(org.asOwner).upload()];
        const { objects } = filesOf(server());
        for await (const { key } of objects.list(`tenants/${org.tenant.id}/`)) {
          if (key.endsWith(lost.id)) await objects.remove(key);
          if (key.endsWith(changed.id))
            await objects.write(key, Readable.from([Buffer.from('other')]), {
              sizeBytes: 5,
              contentType: 'application/pdf',
            });
        }
        for (const { id } of [lost, changed]) {
          const { status, body } = await download(id);
          expect([status, (body as unknown as DomainError).error.code]).to.deep.equal([409, 'FILE_BYTES_LOST']);
        }
      });
    });
  },
  // Behind an agent on machines without MinIO too.
  { kinds: [...FILE_SERVER_KINDS, 'remote and a folder'] },
);

describe('files that may be downloaded', () => {
  /** By FILE_SCAN_MODE and FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN. */
  const TABLE = [
    { mode: 'off', requires: 'true', clean: 200, skipped: 200, pending: 409, error: 409, infected: 403 },
    { mode: 'off', requires: 'false', clean: 200, skipped: 200, pending: 200, error: 200, infected: 403 },
    { mode: 'clamav', requires: 'true', clean: 200, skipped: 409, pending: 409, error: 409, infected: 403 },
    { mode: 'clamav', requires: 'false', clean: 200, skipped: 409, pending: 200, error: 200, infected: 403 },
  ] as const;

  for (const { mode, requires, ...expected } of TABLE) {
    describe(`with scanning ${mode}, and clean files alone ${requires}`, () => {
      let server: TestServer;
      // Nothing listens there, so files keep the status set here.
      before(async () => {
        server = await startServer({
          env: { FILE_SCAN_MODE: mode, FILE_DOWNLOAD_REQUIRES_CLEAN_SCAN: requires, CLAMAV_URL: 'tcp://127.0.0.1:9' },
        });
      });
      after(() => server.stop());

      for (const [state, status] of Object.entries(expected)) {
        it(`${state} is ${status}`, async () => {
          const org = await administration(server);
          const file = await uploadsOf(org.asOwner).upload();
          await server.foundation.tenant?.write({ tenantId: org.tenant.id }, (tx) =>
            tx.run(
              'UPDATE files SET scan_status = ?, scan_signature = ?, scan_due_at = NULL WHERE tenant_id = ? AND id = ?',
              [state, state === 'infected' ? 'Eicar' : null, org.tenant.id, file.id],
            ),
          );
          for (const headers of [{}, { Accept: 'text/html' }]) {
            const answer = await org.asOwner.get<DomainError>(`/files/${file.id}/download`, { headers });
            expect(answer.status).to.equal(status === 200 && 'Accept' in headers ? 302 : status);
            if (status === 403)
              expect(answer.body.error).to.deep.include({ code: 'FILE_INFECTED', details: { signature: 'Eicar' } });
            if (status === 409)
              expect(answer.body.error).to.deep.include({ code: 'FILE_SCAN_PENDING', details: { scanStatus: state } });
            expect(answer.text.includes('/files/tenants/')).to.equal(answer.status === 200);
          }
          expect(
            (await org.asOwner.get<FileRecord>(`/files/${file.id}`)).body.scanStatus,
            'its record is readable',
          ).to.equal(state);
        });
      }
    });
  }
});
