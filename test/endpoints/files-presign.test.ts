import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { Download, PresignedUpload } from '../../data-plane-agent/plane/contract/records/files.js';
import { administration, type Administration } from '../support/administration.js';
import { forEachFileServer } from '../support/file-server.js';
import type { Answer, DomainError, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { endOf } from '../support/stores.js';
import { announcement, PDF, uploadsOf } from '../support/uploads.js';

const QUOTA = 300_000_000;

forEachFileServer(
  (server) => {
    describe('requesting an upload', () => {
      let org: Administration;
      beforeEach(async () => {
        org = await administration(server());
      });

      const presign = (changes: object = {}, client = org.asOwner) =>
        client.post<PresignedUpload>('/files/presign', { ...announcement(), ...changes });
      const failure = ({ status, body, text }: Answer<unknown>): unknown => {
        expect(status, text.slice(0, 300)).to.equal(422);
        return (body as DomainError).error;
      };
      const problems = ({ status, body, text }: Answer<unknown>): unknown => {
        expect(status, text).to.equal(400);
        return (body as FrameworkError).message;
      };
      const contract = async (changes: object = {}) =>
        (
          await org.asOwner.post<{ id: string; payments: { id: string }[] }>(
            '/contracts',
            aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine()], ...changes }),
          )
        ).body;

      it('returns everything that a PUT and the confirmation need, for fifteen minutes', async () => {
        const begun = Date.now();
        const { status, body } = await presign();
        expect(status).to.equal(201);
        expect(Object.keys(body)).to.have.members([
          'fileId',
          'uploadUrl',
          'method',
          'headers',
          'bucket',
          'objectKey',
          'uploadToken',
          'expiresAt',
        ]);
        expect(body).to.include({ method: 'PUT', objectKey: `uploads/${org.tenant.id}/${body.fileId}` });
        expect(body.headers).to.deep.equal({ 'Content-Type': 'application/pdf' });
        expect(Date.parse(body.expiresAt) - begun).to.be.within(15 * 60_000 - 999, 16 * 60_000);
      });

      it('returns to the millisecond when URL and token expire, also for a download', async () => {
        const { id } = await uploadsOf(org.asOwner).upload();
        for (let i = 0; i < 5; i++) {
          const { body } = await presign();
          const { exp } = JSON.parse(Buffer.from(body.uploadToken.split('.')[1] ?? '', 'base64url').toString()) as {
            exp: number;
          };
          expect([endOf(body.uploadUrl), exp * 1_000]).to.deep.equal([
            Date.parse(body.expiresAt),
            Date.parse(body.expiresAt),
          ]);
          const download = (await org.asOwner.get<Download>(`/files/${id}/download`)).body;
          expect(endOf(download.url)).to.equal(Date.parse(download.expiresAt));
        }
      });

      for (const kind of ['contract_original', 'invoice', 'receipt', 'acceptance_report', 'other_evidence']) {
        it(`accepts the kind ${kind}`, async () => expect((await presign({ kind })).status).to.equal(201));
      }

      it('refuses other kinds, and reports each bad field once', async () => {
        expect(problems(await presign({ kind: 'photo' }))).to.have.length(1);
        expect(problems(await presign({ kind: '', fileName: 'a/b', sizeBytes: -1, contentType: 5 }))).to.have.length(4);
        expect(problems(await org.asOwner.post('/files/presign', {}))).to.have.length(4);
        expect(problems(await presign({ bucket: 'local' }))).to.have.length(1);
      });

      for (const [what, fileName] of [
        ['a path', '../../etc/passwd'],
        ['a Windows path', 'C:\\contract.pdf'],
        ['a line break', 'a\r\nSet-Cookie: x.pdf'],
        ['NUL', 'a\0.pdf'],
        ['a right-to-left override', 'contract\u202Efdp.exe'],
        ['a directional mark', 'a\u200F.pdf'],
        ['a directional isolate', 'a\u2066b.pdf'],
        ['nothing', ''],
        ['only spaces', '   '],
        ['a folder', '..'],
        ['256 characters', `${'n'.repeat(252)}.pdf`],
      ] as const) {
        it(`refuses a name with ${what}`, async () => {
          const said = problems(await presign({ fileName })) as string[];
          expect(said).to.have.length(1);
          expect(said[0]).to.match(/^fileName must /);
        });
      }

      it('accepts 255 characters of any script, however many bytes they are', async () => {
        for (const fileName of [
          `${'合'.repeat(251)}.pdf`,
          'Vertrag "Nord"; filename=x.pdf',
          '  spaces round it.pdf  ',
          '.hidden',
          '😀.pdf',
        ])
          expect((await presign({ fileName })).status, fileName).to.equal(201);
      });

      for (const contentType of [
        'text/html',
        'image/svg+xml',
        'application/javascript',
        'application/octet-stream',
        'application/x-msdownload',
        'nonsense',
      ]) {
        it(`refuses ${contentType}, and lists the accepted types`, async () => {
          const error = failure(await presign({ contentType })) as DomainError['error'];
          expect(error.code).to.equal('FILE_TYPE_NOT_ALLOWED');
          expect(error.details['allowed']).to.include.members([
            'application/pdf',
            'image/png',
            'text/csv',
            'application/zip',
            'message/rfc822',
          ]);
        });
      }

      it('ignores the spelling of a type, and its parameters', async () => {
        expect((await presign({ contentType: 'Text/CSV; charset=utf-8' })).body.headers).to.deep.equal({
          'Content-Type': 'text/csv',
        });
      });

      it('accepts empty files and the maximum size, and not one byte more', async () => {
        expect((await presign({ sizeBytes: 0 })).status).to.equal(201);
        expect((await presign({ sizeBytes: 52_428_800 })).status).to.equal(201);
        expect(failure(await presign({ sizeBytes: 52_428_801 }))).to.deep.include({
          code: 'FILE_TOO_LARGE',
          details: { sizeBytes: 52_428_801, maxBytes: 52_428_800 },
        });
        for (const sizeBytes of [-1, 1.5, '10', null, 2 ** 53])
          expect(problems(await presign({ sizeBytes })), String(sizeBytes)).to.have.length(1);
      });

      it('files a line under its contract, and a contract under its subject company', async () => {
        const { id, payments } = await contract();
        const file = await uploadsOf(org.asOwner).upload({ paymentId: payments[0]?.id ?? '' });
        expect(file).to.include({ subjectId: org.subjectId, contractId: id, paymentId: payments[0]?.id });
        expect(await uploadsOf(org.asOwner).upload({ contractId: id })).to.include({
          subjectId: org.subjectId,
          contractId: id,
          paymentId: null,
        });
        expect(await uploadsOf(org.asOwner).upload({ subjectId: org.subjectId })).to.include({
          subjectId: org.subjectId,
          contractId: null,
          paymentId: null,
        });
      });

      it('refuses links that do not belong together', async () => {
        const [one, other] = [await contract(), await contract()];
        expect(problems(await presign({ contractId: one.id, paymentId: other.payments[0]?.id }))).to.have.length(1);
        const { body: subject } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', {
          name: 'Second Ltd',
        });
        expect(problems(await presign({ contractId: one.id, subjectId: subject.id }))).to.have.length(1);
      });

      it('refuses links that are missing, of another tenant, or out of scope, with the same answer', async () => {
        const there = await contract();
        const otherTenant = await administration(server());
        const scoped = await org.join({ roleCode: 'viewer', subjectScope: [] });
        const links = { subjectId: org.subjectId, contractId: there.id, paymentId: there.payments[0]?.id ?? '' };
        for (const [field, value] of Object.entries(links)) {
          for (const client of [otherTenant.asOwner, scoped.client])
            expect(failure(await presign({ [field]: value }, client)), `${field} ${value}`).to.deep.include({
              code: 'REFERENCE_INVALID',
              details: { field, value },
            });
          for (const none of [newId(), 'no id'])
            expect(failure(await presign({ [field]: none })), field).to.deep.include({
              code: 'REFERENCE_INVALID',
              details: { field, value: none },
            });
        }
      });

      it('is allowed to callers who may see contracts', async () => {
        const viewer = await org.join({ roleCode: 'viewer' });
        expect((await presign({}, viewer.client)).status).to.equal(201);
        expect((await org.asOwner.post('/files/presign', announcement(), { token: null })).status).to.equal(401);
      });

      it('counts requested and confirmed uploads against the quota, also concurrently', async () => {
        await uploadsOf(org.asOwner).upload();
        const answers = await Promise.all(Array.from({ length: 12 }, () => presign({ sizeBytes: 50_000_000 })));
        expect(answers.filter(({ status }) => status === 201)).to.have.length(5);
        expect(failure(await presign({ sizeBytes: 50_000_000 }))).to.deep.include({
          code: 'STORAGE_QUOTA_EXCEEDED',
          details: { usedBytes: 250_000_000 + PDF.length, quotaBytes: QUOTA },
        });
      });

      it('is refused beyond two hundred open uploads of a tenant, with the time to retry', async () => {
        const taken = await Promise.all(Array.from({ length: 205 }, () => presign({ sizeBytes: 1 })));
        expect(taken.filter(({ status }) => status === 201)).to.have.length(200);
        const refused = taken.find(({ status }) => status !== 201);
        expect(refused?.status).to.equal(429);
        expect(Number(refused?.headers.get('retry-after'))).to.be.within(1, 900);
        expect((await presign({}, (await administration(server())).asOwner)).status, 'another tenant').to.equal(201);
      });

      it('returns the same upload for the same idempotency key, and repeats a refusal', async () => {
        const headers = { 'Idempotency-Key': newId() };
        const [first, second] = [
          await org.asOwner.post('/files/presign', announcement(), { headers }),
          await org.asOwner.post('/files/presign', announcement(), { headers }),
        ];
        expect(second.text).to.equal(first.text);
        expect(second.headers.get('idempotency-replayed')).to.equal('true');
        expect(
          failure(await org.asOwner.post('/files/presign', { ...announcement(), sizeBytes: 7 }, { headers })),
        ).to.include({ code: 'IDEMPOTENCY_KEY_REUSED' });
        const again = { 'Idempotency-Key': newId() };
        const tooLarge = { ...announcement(), sizeBytes: 10 ** 9 };
        expect(failure(await org.asOwner.post('/files/presign', tooLarge, { headers: again }))).to.include({
          code: 'FILE_TOO_LARGE',
        });
        const replayed = await org.asOwner.post('/files/presign', tooLarge, { headers: again });
        expect(failure(replayed)).to.include({ code: 'FILE_TOO_LARGE' });
        expect(replayed.headers.get('idempotency-replayed')).to.equal('true');
        expect(failure(await org.asOwner.post('/files/presign', announcement(), { headers: again }))).to.include({
          code: 'IDEMPOTENCY_KEY_REUSED',
        });
      });
    });
  },
  { env: { TENANT_STORAGE_QUOTA_BYTES: String(QUOTA), RATE_LIMIT_PER_MINUTE: '100000' } },
);
