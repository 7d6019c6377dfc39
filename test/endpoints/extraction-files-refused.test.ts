import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { ExtractionRun } from '../../data-plane-agent/plane/contract/records/extraction.js';
import { administration, type Administration } from '../support/administration.js';
import { bombXlsx, brokenDocx, lockedPdf, someZip } from '../support/documents/hostile.js';
import { ONE_CONTRACT_TEXT, TYPES } from '../support/documents/one-contract.js';
import { forEachFileServer } from '../support/file-server.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { readFile } from '../support/reading.js';
import { aContract } from '../support/samples.js';
import { uploadsOf } from '../support/uploads.js';

const HOSTILE: readonly (readonly [
  what: string,
  code: string,
  contentType: string,
  bytes: () => Promise<Uint8Array> | Uint8Array,
])[] = [
  ['a PDF with a password', 'DOCUMENT_ENCRYPTED', TYPES.pdf, lockedPdf],
  ['a truncated PDF', 'DOCUMENT_DAMAGED', TYPES.pdf, () => Buffer.from('%PDF-1.7\n1 0 obj\n<< /Type')],
  ['a broken DOCX', 'DOCUMENT_DAMAGED', TYPES.docx, brokenDocx],
  ['an XLSX that unpacks to too much data', 'DOCUMENT_TOO_LARGE', TYPES.xlsx, bombXlsx],
  ['an empty file', 'DOCUMENT_EMPTY', TYPES.text, () => Buffer.alloc(0)],
  ['an empty PDF', 'DOCUMENT_EMPTY', TYPES.pdf, () => Buffer.alloc(0)],
  ['a text of spaces', 'DOCUMENT_EMPTY', TYPES.text, () => Buffer.from(' \n\t\n')],
  ['an unsupported type', 'DOCUMENT_UNSUPPORTED', TYPES.zip, someZip],
];

forEachFileServer(
  (server) => {
    describe("files that cannot be read, or are not the caller's", function () {
      this.timeout(180_000); // the first load of the reader's libraries takes long

      let org: Administration;
      let sales: Client;
      before(async () => {
        org = await administration(server());
        sales = (await org.join({ roleCode: 'sales' })).client;
      });
      const aFile = (client: Client, place: { contractId?: string; subjectId?: string } = {}) =>
        uploadsOf(client).upload({
          fileName: 'contract.txt',
          contentType: TYPES.text,
          bytes: Buffer.from(ONE_CONTRACT_TEXT),
          ...place,
        });

      for (const [what, code, contentType, bytes] of HOSTILE) {
        it(`${what}: the run fails with a sentence as the reason, accepts manual values, and the next run works`, async () => {
          const file = await uploadsOf(sales).upload({ fileName: 'paper', contentType, bytes: await bytes() });
          const run = await readFile(sales, file);
          expect(run).to.deep.include({ status: 'failed', fields: [], missingFields: [], overallConfidence: 0 });
          expect(run.warnings.map((warning) => warning.code)).to.deep.equal([code]);
          expect(run.warnings[0]?.message).to.match(/^[A-Z][^{}<>]+\.$/);
          const { body: reviewed } = await sales.patch<ExtractionRun>(`/contracts/extractions/${run.id}/review`, {
            fields: [{ fieldKey: 'contractNo', status: 'overridden', overrideValue: 'C-1' }],
          });
          expect(reviewed).to.deep.include({ status: 'reviewed', warnings: run.warnings });
          expect((await readFile(sales, await aFile(sales))).status).to.equal('needs_review');
        });
      }

      it("a file outside the caller's scope is refused like a missing one", async () => {
        const contract = (
          await org.asOwner.post<ContractDetail>(
            '/contracts',
            aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
          )
        ).body;
        const [own, filed] = [await aFile(sales), await aFile(org.asOwner, { contractId: contract.id })];
        const [colleague, outOfScope] = [
          (await org.join({ roleCode: 'sales', subjectScope: [] })).client,
          (await org.join({ roleCode: 'sales', subjectScope: [] })).client,
        ];
        const otherTenant = (await administration(server())).asOwner;
        for (const [client, fileRef] of [
          [colleague, own.id],
          [outOfScope, filed.id],
          [otherTenant, own.id],
          [otherTenant, filed.id],
          [otherTenant, newId()],
          [otherTenant, 'no-id'],
        ] as const) {
          const { status, body, text } = await client.post<DomainError>('/contracts/extract', { fileRef });
          expect([status, body.error.code, body.error.details], text).to.deep.equal([
            422,
            'FILE_REFERENCE_INVALID',
            { field: 'fileRef', value: fileRef },
          ]);
        }
      });

      it('bad input is refused by field', async () => {
        const { id } = await aFile(sales);
        for (const [body, message] of [
          [{ fileRef: id, text: 'x' }, 'fileRef must be left out when text is given'],
          [{}, 'text is required when there is no fileRef'],
          [{ fileRef: null }, 'text is required when there is no fileRef'],
          [{ fileRef: 7 }, 'fileRef must be a string'],
          [{ fileRef: id, language: 'en' }, 'language is not a known field'],
        ] as const) {
          const answer = await sales.post<FrameworkError>('/contracts/extract', body);
          expect([answer.status, answer.body.message], JSON.stringify(body)).to.deep.equal([400, [message]]);
        }
        const missingId = newId();
        const refused = await sales.post<DomainError>('/contracts/extract', { fileRef: id, contractId: missingId });
        expect([refused.status, refused.body.error.code, refused.body.error.details]).to.deep.equal([
          422,
          'REFERENCE_INVALID',
          { field: 'contractId', value: missingId },
        ]);
      });

      it('needs contract_edit (edit)', async () => {
        const viewer = (await org.join({ roleCode: 'viewer' })).client;
        const answer = await viewer.post<FrameworkError>('/contracts/extract', { fileRef: newId() });
        expect([answer.status, answer.body.message]).to.deep.equal([
          403,
          'contract_edit (edit) is required; your role "viewer" has contract_edit (none)',
        ]);
      });
    });
  },
  { kinds: ['sqlite and a folder', 'postgres and minio'] },
);
