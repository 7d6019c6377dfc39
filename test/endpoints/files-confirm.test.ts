import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { FileRecord, PresignedUpload } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration, type Administration } from '../support/administration.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { forEachFileServer, objectsOf, ownerOf, settled } from '../support/file-server.js';
import type { Answer, DomainError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { announcement, PDF, uploadsOf } from '../support/uploads.js';

let clock: FakeClock;

forEachFileServer(
  (server) => {
    describe('confirming an upload', () => {
      let org: Administration;
      let contract: { id: string; payments: { id: string }[] };
      beforeEach(async () => {
        clock.set(Date.now()); // an S3 server uses the real clock
        org = await administration(server());
        contract = (
          await org.asOwner.post<typeof contract>(
            '/contracts',
            aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine()] }),
          )
        ).body;
      });

      const failure = ({ body, text }: Answer<unknown>): DomainError['error'] => {
        expect((body as Partial<DomainError>).error, text).to.be.an('object');
        return (body as DomainError).error;
      };
      const uploaded = async (file = {}): Promise<PresignedUpload> => {
        const announced = await uploadsOf(org.asOwner).announce(file);
        expect((await uploadsOf(org.asOwner).put(announced)).status).to.equal(200);
        return announced;
      };

      it('returns the complete record, and leaves only the final object in the store', async () => {
        const links = { contractId: contract.id, paymentId: contract.payments[0]?.id ?? '' };
        const announced = await uploaded({ ...links, fileName: '合同 "1".pdf' });
        const { status, body } = await uploadsOf(org.asOwner).confirm(announced, {
          ...links,
          fileName: '合同 "1".pdf',
        });
        expect(status).to.equal(201);
        const now = new Date(clock.now()).toISOString();
        expect(body).to.deep.equal({
          id: announced.fileId,
          fileName: '合同 "1".pdf',
          contentType: 'application/pdf',
          sizeBytes: PDF.length,
          sha256: createHash('sha256').update(PDF).digest('hex'),
          kind: 'contract_original',
          subjectId: org.subjectId,
          ...links,
          scanStatus: 'skipped',
          scannedAt: null,
          scanSignature: null,
          scanError: null,
          uploadedBy: org.owner.id,
          createdAt: now,
          updatedAt: now,
        });
        await settled(server());
        expect(await objectsOf(server(), org)).to.deep.equal([
          `tenants/${org.tenant.id}/${now.slice(0, 4)}/${now.slice(5, 7)}/${announced.fileId}`,
        ]);
      });

      it('uses links and bucket from the token if they are omitted', async () => {
        const announced = await uploaded({ paymentId: contract.payments[0]?.id });
        const { body } = await org.asOwner.post<FileRecord>('/files/confirm', {
          ...announcement(),
          objectKey: announced.objectKey,
          uploadToken: announced.uploadToken,
          contractId: null,
        });
        expect(body).to.include({
          subjectId: org.subjectId,
          contractId: contract.id,
          paymentId: contract.payments[0]?.id,
        });
      });

      it('refuses and reports every field that differs from the presigned upload', async () => {
        const announced = await uploaded({ contractId: contract.id });
        const others = {
          bucket: 'another',
          objectKey: `uploads/${org.tenant.id}/${newId()}`,
          fileName: 'contract2.pdf',
          contentType: 'image/png',
          sizeBytes: PDF.length + 1,
          kind: 'invoice',
          subjectId: newId(),
          contractId: newId(),
          paymentId: contract.payments[0]?.id,
        };
        for (const [field, value] of Object.entries(others)) {
          const refused = await uploadsOf(org.asOwner).confirm(announced, {}, { [field]: value });
          expect([refused.status, failure(refused).code, failure(refused).details['fields']], field).to.deep.equal([
            422,
            'UPLOAD_TOKEN_MISMATCH',
            [field],
          ]);
        }
        const all = failure(await uploadsOf(org.asOwner).confirm(announced, {}, others));
        expect(all.details['fields']).to.have.members(Object.keys(others));
        expect((await uploadsOf(org.asOwner).confirm(announced)).status).to.equal(201);
      });

      it('refuses a token that is modified in any part or malformed', async () => {
        const announced = await uploaded();
        const { uploadToken } = announced;
        const [header = '', payload = '', signature = ''] = uploadToken.split('.');
        const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { file: object; exp: number };
        const made = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
        const other = (text: string): string => (text.startsWith('A') ? `B${text.slice(1)}` : `A${text.slice(1)}`);
        const forged = [
          'x',
          'a.b.c',
          `${header}.${payload}`,
          `${header}.${payload}.`,
          `${header}.${payload}.${other(signature)}`,
          `${header}.${made({ ...claims, exp: claims.exp + 60 })}.${signature}`,
          `${header}.${made({ ...claims, file: { ...claims.file, sizeBytes: 1 } })}.${signature}`,
          `${made({ alg: 'none', typ: 'up+jwt' })}.${payload}.`,
          `${made({ alg: 'HS256', typ: 'JWT' })}.${payload}.${signature}`,
          `${made({ alg: 'HS512', typ: 'up+jwt' })}.${payload}.${signature}`,
        ];
        for (const token of forged)
          expect(
            failure(await uploadsOf(org.asOwner).confirm(announced, {}, { uploadToken: token })),
            token.slice(0, 80),
          ).to.deep.include({ code: 'UPLOAD_TOKEN_MISMATCH', details: { fields: ['uploadToken'] } });
        const login = await server().client.post<{ accessToken: string }>('/auth/login', {
          tenantSlug: org.tenant.slug,
          email: org.owner.email,
          password: 'Correct-Horse-42',
        });
        expect(
          failure(await uploadsOf(org.asOwner).confirm(announced, {}, { uploadToken: login.body.accessToken })),
          'a token of another kind',
        ).to.include({ code: 'UPLOAD_TOKEN_MISMATCH' });
      });

      it('is allowed only to the member who requested the upload, not to another member or tenant', async () => {
        const announced = await uploaded();
        const colleague = await org.join({ roleCode: 'admin' });
        const otherTenant = await administration(server());
        for (const client of [colleague.client, otherTenant.asOwner])
          expect(failure(await uploadsOf(client).confirm(announced))).to.deep.include({
            code: 'UPLOAD_TOKEN_MISMATCH',
            details: { fields: ['uploadToken'] },
          });
        expect((await uploadsOf(org.asOwner).confirm(announced)).status).to.equal(201);
        for (const client of [colleague.client, otherTenant.asOwner])
          expect((await uploadsOf(client).confirm(announced)).status, 'also if it names a file').to.equal(422);
      });

      it('is possible for fifteen minutes, after which the file of the first confirmation is still returned', async () => {
        const [first, second] = [await uploaded(), await uploaded()];
        clock.advance(14 * 60_000 + 59_000);
        const made = await uploadsOf(await ownerOf(server(), org)).confirm(first);
        expect(made.status, made.text).to.equal(201);
        clock.advance(60_000);
        const late = uploadsOf(await ownerOf(server(), org));
        expect(failure(await late.confirm(second))).to.include({ code: 'UPLOAD_TOKEN_EXPIRED' });
        expect(failure(await late.confirm(second, {}, { kind: 'invoice' })), 'a mismatch is reported first').to.include(
          {
            code: 'UPLOAD_TOKEN_MISMATCH',
          },
        );
        expect((await late.confirm(first)).text).to.equal(made.text);
      });

      it('creates one file in ten concurrent requests, with any mixture of keys', async () => {
        const announced = await uploaded();
        const [key, body] = [
          newId(),
          {
            ...announcement(),
            bucket: announced.bucket,
            objectKey: announced.objectKey,
            uploadToken: announced.uploadToken,
          },
        ];
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, i) =>
            org.asOwner.post<FileRecord>(
              '/files/confirm',
              body,
              i % 2 === 0 ? {} : { headers: { 'Idempotency-Key': i === 1 ? key : newId() } },
            ),
          ),
        );
        expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 201));
        expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
        const again = await org.asOwner.post('/files/confirm', body, { headers: { 'Idempotency-Key': key } });
        expect(again.text).to.equal(answers[0]?.text);
        await settled(server());
        expect(await objectsOf(server(), org)).to.have.length(1);
      });

      it('stores the answer under a key, except the conflict with a concurrent request', async () => {
        const announced = await uploaded();
        const [key, body] = [
          newId(),
          {
            ...announcement(),
            bucket: announced.bucket,
            objectKey: announced.objectKey,
            uploadToken: announced.uploadToken,
          },
        ];
        const confirm = (content: object = body) =>
          org.asOwner.post<FileRecord>('/files/confirm', content, { headers: { 'Idempotency-Key': key } });
        const answers = await Promise.all([confirm(), confirm()]);
        expect(answers.map(({ status }) => status)).to.include(201);
        for (const answer of answers)
          if (answer.status !== 201) expect(failure(answer)).to.include({ code: 'IDEMPOTENCY_IN_PROGRESS' });
        const again = await confirm();
        expect([again.status, again.headers.get('idempotency-replayed'), again.body.id]).to.deep.equal([
          201,
          'true',
          announced.fileId,
        ]);
        expect(failure(await confirm({ ...body, bucket: null }))).to.include({ code: 'IDEMPOTENCY_KEY_REUSED' });
        const presigns = await Promise.all(
          Array.from({ length: 4 }, () =>
            org.asOwner.post<PresignedUpload>('/files/presign', announcement(), {
              headers: { 'Idempotency-Key': `${key}p` },
            }),
          ),
        );
        const made = presigns.filter(({ status }) => status === 201);
        expect(
          new Set(made.map(({ body: { fileId } }) => fileId)).size,
          presigns.map(({ text }) => text).join(),
        ).to.equal(1);
      });

      it('stores the answer under a key for a file that is already confirmed', async () => {
        const announced = await uploaded();
        const body = {
          ...announcement(),
          bucket: announced.bucket,
          objectKey: announced.objectKey,
          uploadToken: announced.uploadToken,
        };
        const made = await org.asOwner.post('/files/confirm', body);
        const headers = { 'Idempotency-Key': newId() };
        expect((await org.asOwner.post('/files/confirm', body, { headers })).text).to.equal(made.text);
        expect(
          (await org.asOwner.post('/files/confirm', body, { headers })).headers.get('idempotency-replayed'),
        ).to.equal('true');
        expect(failure(await org.asOwner.post('/files/confirm', { ...body, bucket: null }, { headers }))).to.include({
          code: 'IDEMPOTENCY_KEY_REUSED',
        });
      });

      it('reports a missing upload, and succeeds after it', async () => {
        const uploads = uploadsOf(org.asOwner);
        const announced = await uploads.announce();
        const headers = { 'Idempotency-Key': newId() };
        const confirm = () =>
          org.asOwner.post<FileRecord>(
            '/files/confirm',
            { ...announcement(), objectKey: announced.objectKey, uploadToken: announced.uploadToken },
            { headers },
          );
        const refused = await confirm();
        expect([refused.status, failure(refused).code]).to.deep.equal([409, 'FILE_NOT_UPLOADED']);
        await uploads.put(announced);
        expect((await confirm()).status, 'under the same key').to.equal(201);
      });

      it('refuses and removes content of another type, and accepts the right bytes afterwards', async () => {
        const uploads = uploadsOf(org.asOwner);
        const page = Buffer.from('<html><script>alert(1)</script></html>'.padEnd(PDF.length));
        for (const [contentType, bytes] of [
          ['application/pdf', page],
          ['image/png', PDF],
          ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', PDF],
          ['text/plain', Buffer.from('MZ\0\0\0\0binary'.padEnd(80))],
        ] as const) {
          const announced = await uploads.announce({ contentType, bytes });
          await uploads.put(announced, bytes);
          const refused = await uploads.confirm(announced, { contentType, bytes });
          expect([refused.status, failure(refused).code], contentType).to.deep.equal([422, 'FILE_CONTENT_MISMATCH']);
          expect(failure(await uploads.confirm(announced, { contentType, bytes })).code).to.equal('FILE_NOT_UPLOADED');
        }
        expect(await objectsOf(server(), org), 'nothing of it is left').to.deep.equal([]);
        const announced = await uploads.announce();
        await uploads.put(announced, page);
        expect(failure(await uploads.confirm(announced)).code).to.equal('FILE_CONTENT_MISMATCH');
        expect((await uploads.put(announced)).status).to.equal(200);
        expect((await uploads.confirm(announced)).status).to.equal(201);
      });

      it('accepts an empty file, which is clean without a scan', async () => {
        const file = await uploadsOf(org.asOwner).upload({ bytes: Buffer.alloc(0) });
        expect(file).to.include({ sizeBytes: 0, scanStatus: 'clean', sha256: createHash('sha256').digest('hex') });
        expect((await org.asOwner.get(`/files/${file.id}/download`)).status).to.equal(200);
      });

      it('refuses a record that was deleted since the upload was requested', async () => {
        const announced = await uploaded({ contractId: contract.id });
        await org.asOwner.delete(`/contracts/${contract.id}`);
        expect(failure(await uploadsOf(org.asOwner).confirm(announced))).to.deep.include({
          code: 'REFERENCE_INVALID',
          details: { field: 'contractId', value: contract.id },
        });
      });

      it('reports each bad field once', async () => {
        const { status, body } = await org.asOwner.post<{ message: string[] }>('/files/confirm', {
          kind: 'photo',
          sizeBytes: -1,
          fileName: 'a/b',
          extra: 1,
        });
        expect(status).to.equal(400);
        expect(body.message.map((said) => said.split(' ')[0])).to.have.members([
          'kind',
          'sizeBytes',
          'fileName',
          'extra',
          'objectKey',
          'contentType',
          'uploadToken',
        ]);
      });

      it('is audited as an action of the member', async () => {
        const file = await uploadsOf(org.asOwner).upload();
        const { body } = await org.asOwner.get<{ items: { action: string; recordId: string; actorId: string }[] }>(
          '/audit',
          { query: { source: 'data', action: 'confirmFile' } },
        );
        expect(body.items).to.have.length(1);
        expect(JSON.stringify(body.items[0])).to.contain(file.id).and.to.contain(org.owner.id);
      });
    });
  },
  { clock: () => (clock = fakeClock(Date.now())) },
);
