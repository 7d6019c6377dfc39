import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { AuditPage } from '../../data-plane-agent/plane/contract/records/audit.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { ExtractionRun } from '../../data-plane-agent/plane/contract/records/extraction.js';
import { administration, type Administration } from '../support/administration.js';
import { needsBrowser } from '../support/browser.js';
import {
  ONE_CONTRACT_AS,
  ONE_CONTRACT_PAGE,
  ONE_CONTRACT_SAYS,
  ONE_CONTRACT_TEXT,
  TYPES,
} from '../support/documents/one-contract.js';
import { printer } from '../support/documents/printed.js';
import { forEachFileServer } from '../support/file-server.js';
import type { Client, DomainError } from '../support/http.js';
import { beginReading, readFile, untilRead, valuesOf } from '../support/reading.js';
import { aContract } from '../support/samples.js';
import { uploadsOf } from '../support/uploads.js';

const put = (fieldKey: string, overrideValue: unknown) => ({ fieldKey, status: 'overridden', overrideValue });

forEachFileServer((server, kind) => {
  describe('extraction from files over HTTP', function () {
    this.timeout(180_000); // the first load of the reader's libraries takes long

    let org: Administration;
    let sales: Client;
    before(async () => {
      org = await administration(server());
      sales = (await org.join({ roleCode: 'sales' })).client;
    });

    for (const [form, { fileName, contentType, bytes }] of Object.entries(ONE_CONTRACT_AS)) {
      it(`a contract as ${form} is uploaded, read, reviewed, and becomes a contract with the file`, async () => {
        const file = await uploadsOf(sales).upload({ fileName, contentType, bytes: await bytes() });
        const run = await readFile(sales, file);
        expect(run).to.deep.include({ status: 'needs_review', source: { kind: 'file', fileId: file.id, fileName } });
        expect(valuesOf(run)).to.include(ONE_CONTRACT_SAYS);
        expect(run.overallConfidence).to.be.within(0.5, 1);

        const contractNo = `KR-${form}`;
        const fields = run.fields
          .map(({ fieldKey }) => ({ fieldKey, status: 'accepted' }))
          .filter(({ fieldKey }) => fieldKey !== 'contractNo');
        const review = {
          fields: [
            ...fields,
            put('contractNo', contractNo),
            put('archiveCode', `AR-${form}`),
            put('projectName', 'Robots'),
            put('contractAttachment', file.id),
          ],
          applyToContract: true,
        };
        const {
          status,
          body: applied,
          text,
        } = await sales.patch<ExtractionRun>(`/contracts/extractions/${run.id}/review`, review);
        expect(status, text).to.equal(200);
        expect(applied.status).to.equal('applied');
        const contract = (await sales.get<ContractDetail>(`/contracts/${applied.contractId ?? ''}`)).body;
        expect(contract).to.include({
          contractNo,
          contractAttachment: file.id,
          totalAmount: 196_000,
          currencyCode: 'USD',
          workflowStage: 'extracted',
        });
      });
    }

    // Recognition takes seconds, and is independent of the store.
    if (kind === 'sqlite and a folder')
      describe('of pictures', () => {
        const browser = needsBrowser();

        it('a scan as PNG is recognised, and reported as such', async () => {
          const [scan] = await printer(browser()).scans(ONE_CONTRACT_PAGE);
          const file = await uploadsOf(sales).upload({
            fileName: 'scan.png',
            contentType: TYPES.png,
            bytes: scan ?? Buffer.alloc(0),
          });
          const run = await readFile(sales, file);
          expect(run.status).to.equal('needs_review');
          expect(valuesOf(run)).to.include({ contractNo: 'KR-2026-07', totalAmount: 196_000, startDate: '2026-04-01' });
          expect(run.warnings.map(({ code }) => code)).to.include('RECOGNISED');
          const extracted = (await sales.post<ExtractionRun>('/contracts/extract', { text: ONE_CONTRACT_TEXT })).body;
          const highestConfidence = ({ fields }: ExtractionRun) =>
            Math.max(...fields.map(({ confidence }) => confidence));
          expect(highestConfidence(run), 'at most the confidence of the recognition').to.be.lessThan(
            highestConfidence(extracted),
          );
        });

        for (const [fileName, contentType] of [
          ['contract-g4.tif', 'image/tiff'],
          ['contract.heic', 'image/heic'],
        ] as const) {
          it(`${contentType} is detected and read`, async () => {
            const file = await uploadsOf(sales).upload({
              fileName,
              contentType,
              bytes: readFileSync(new URL(`../support/documents/pictures/${fileName}`, import.meta.url)),
            });
            const run = await readFile(sales, file);
            expect(run.status).to.equal('needs_review');
            expect(valuesOf(run)).to.include({ contractNo: 'KR-2026-07', totalAmount: 196_000 });
          });
        }
      });

    it('a run for a contract changes the contract only after its review', async () => {
      const contract = (
        await org.asOwner.post<ContractDetail>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
        )
      ).body;
      const { fileName, contentType, bytes } = ONE_CONTRACT_AS.DOCX;
      const file = await uploadsOf(org.asOwner).upload({
        fileName,
        contentType,
        bytes: await bytes(),
        contractId: contract.id,
      });
      const run = await readFile(org.asOwner, file, { contractId: contract.id });
      expect(run).to.include({ status: 'needs_review', contractId: contract.id });
      expect((await org.asOwner.get<ContractDetail>(`/contracts/${contract.id}`)).body.version).to.equal(
        contract.version,
      );
      const { body } = await org.asOwner.patch<ExtractionRun>(`/contracts/extractions/${run.id}/review`, {
        fields: [{ fieldKey: 'equipmentModel', status: 'accepted' }],
        applyToContract: true,
      });
      expect(body.status).to.equal('applied');
      expect((await org.asOwner.get<ContractDetail>(`/contracts/${contract.id}`)).body.equipmentModel).to.equal(
        'R6-20',
      );
    });

    it('one Idempotency-Key starts one run, which both answers name', async () => {
      const { fileName, contentType, bytes } = ONE_CONTRACT_AS.text;
      const file = await uploadsOf(sales).upload({ fileName, contentType, bytes: await bytes() });
      const headers = { 'Idempotency-Key': `read-${file.id}` };
      const first = await sales.post<ExtractionRun>('/contracts/extract', { fileRef: file.id }, { headers });
      const read = await untilRead(sales, first.body);
      const again = await sales.post<ExtractionRun>('/contracts/extract', { fileRef: file.id }, { headers });
      expect([again.status, again.text, again.headers.get('idempotency-replayed')]).to.deep.equal([
        201,
        first.text,
        'true',
      ]);
      expect(await untilRead(sales, first.body)).to.deep.equal(read);
      const other = await sales.post<DomainError>('/contracts/extract', { text: 'x' }, { headers });
      expect([other.status, other.body.error.code]).to.deep.equal([422, 'IDEMPOTENCY_KEY_REUSED']);
    });

    it('each request for a file is a separate run, and the audit records its start and outcome', async () => {
      const { fileName, contentType, bytes } = ONE_CONTRACT_AS.text;
      const file = await uploadsOf(org.asOwner).upload({ fileName, contentType, bytes: await bytes() });
      const runs = await Promise.all([1, 2].map(() => beginReading(org.asOwner, file)));
      const [one, other] = await Promise.all(runs.map((run) => untilRead(org.asOwner, run)));
      expect(one?.id).to.not.equal(other?.id);
      expect(one?.fields).to.deep.equal(other?.fields);
      const { body } = await org.asOwner.get<AuditPage>('/audit', { query: { source: 'data', record: one?.id ?? '' } });
      expect(body.items.map(({ action, actorId }) => [action, actorId])).to.deep.equal([
        ['extractContract', org.owner.id],
        ['extractContract', org.owner.id],
      ]);
      expect(
        body.items
          .map(({ changes }) => changes.find(({ field }) => field === 'status'))
          .map((change) => [change?.before, change?.after]),
      ).to.deep.equal([
        ['processing', 'needs_review'],
        [null, 'processing'],
      ]);
    });
  });
});
