import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { ExtractionRun } from '../../data-plane-agent/plane/contract/records/extraction.js';
import { EN_SALE } from '../domain/contracts-to-read/en-sale.js';
import { makeTenant, signIn } from '../support/accounts.js';
import { administration, type Administration } from '../support/administration.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

const NOT_FOUND = JSON.stringify({ statusCode: 404, message: 'Not Found', error: 'Not Found' });
const accept = (run: ExtractionRun) => run.fields.map(({ fieldKey }) => ({ fieldKey, status: 'accepted' }));
const put = (fieldKey: string, overrideValue: unknown) => ({ fieldKey, status: 'overridden', overrideValue });

forEachServer((server) => {
  describe('extraction over HTTP', () => {
    let org: Administration;
    let sales: { id: string; client: Client };
    beforeEach(async () => {
      org = await administration(server());
      sales = await org.join({ roleCode: 'sales' });
    });
    const readText = async (client: Client, body: object = {}): Promise<ExtractionRun> => {
      const {
        status,
        body: run,
        text,
      } = await client.post<ExtractionRun>('/contracts/extract', { text: EN_SALE.text, ...body });
      expect(status, text).to.equal(201);
      return run;
    };

    it('a plan of shares with dates and days, the quantity, the customer and what the paper lacks are returned', async () => {
      const { fields, missingFields } = await readText(sales.client, {
        text: 'EQUIPMENT SALES CONTRACT\nSeller: Own Machines Ltd\nBuyer: Harbour Works Ltd\nEquipment: Excavator x 3\nTotal Price: USD 300,000.00\nPayment: 30% upon signing, 60% within 30 days after delivery, 10% by 31 December 2026',
      });
      expect(fields.map(({ fieldKey, value }) => `${fieldKey}: ${String(value)}`)).to.deep.equal([
        'type: sale',
        'partyA: Harbour Works Ltd',
        'partyB: Own Machines Ltd',
        'equipmentName: Excavator',
        'quantity: 3',
        'totalAmount: 300000',
        'currencyCode: USD',
        'payments[0].period: upon signing',
        'payments[0].amount: 90000',
        'payments[1].period: within 30 days after delivery',
        'payments[1].amount: 180000',
        'payments[2].period: by 31 December 2026',
        'payments[2].dueDate: 2026-12-31',
        'payments[2].amount: 30000',
      ]);
      expect(missingFields).to.include.members(['contractNo', 'unitPrice', 'endDate']);
      for (const key of ['ownerId', 'subjectId', 'archiveCode', 'periodicRent'])
        expect(missingFields).not.to.include(key);
    });

    it('a text is extracted, reviewed and becomes a contract of the caller', async () => {
      const run = await readText(sales.client, { fileName: 'contract.txt' });
      expect((await sales.client.get<ExtractionRun>(`/contracts/extractions/${run.id}`)).body).to.deep.equal(run);
      const path = `/contracts/extractions/${run.id}/review`;
      const lacking = await sales.client.patch<DomainError>(path, { fields: accept(run), applyToContract: true });
      expect([lacking.status, lacking.body.error.code, lacking.body.error.details]).to.deep.equal([
        422,
        'EXTRACTION_INCOMPLETE',
        { missingFields: ['archiveCode', 'projectName'] },
      ]);
      const { status, body: applied } = await sales.client.patch<ExtractionRun>(path, {
        fields: [...accept(run), put('archiveCode', 'AR-1'), put('projectName', 'Andes')],
        applyToContract: true,
        metadata: { tool: 'screen' },
      });
      expect(status).to.equal(200);
      expect(applied).to.deep.include({ status: 'applied', warnings: [] });
      const contract = (await sales.client.get<ContractDetail>(`/contracts/${applied.contractId ?? ''}`)).body;
      expect(contract).to.include({
        contractNo: 'SC-2026-113',
        ownerId: sales.id,
        subjectId: org.subjectId,
        workflowStage: 'extracted',
        totalAmount: 515_000,
      });
      expect(contract.payments).to.have.length(3);
      expect(contract.payeeAccount, 'sales sees no account numbers').to.match(/^\*{4}/);
      expect(
        (await org.asOwner.get<ContractDetail>(`/contracts/${contract.id}`)).body.payeeAccount,
        'the accepted value is the unmasked one',
      ).to.equal('7559 1234 5678 901');
    });

    it('on the free plan the contract stays a draft', async () => {
      const made = await makeTenant(server().services, { planCode: 'free' });
      const { client } = await signIn(server().client, { tenant: made.tenant, member: made.owner });
      const run = await readText(client);
      const { body } = await client.patch<ExtractionRun>(`/contracts/extractions/${run.id}/review`, {
        fields: [...accept(run), put('archiveCode', 'AR-1'), put('projectName', 'Andes')],
        applyToContract: true,
      });
      expect(body).to.deep.include({ status: 'applied', warnings: [] });
      expect((await client.get<ContractDetail>(`/contracts/${body.contractId ?? ''}`)).body.workflowStage).to.equal(
        'draft',
      );
    });

    it('needs contract_edit (edit)', async () => {
      const run = await readText(sales.client);
      const viewer = (await org.join({ roleCode: 'viewer' })).client;
      for (const answer of [
        await viewer.post<FrameworkError>('/contracts/extract', { nonsense: 1 }),
        await viewer.get<FrameworkError>(`/contracts/extractions/${run.id}`),
        await viewer.patch<FrameworkError>(`/contracts/extractions/${run.id}/review`, {}),
      ]) {
        expect([answer.status, answer.body.message]).to.deep.equal([
          403,
          'contract_edit (edit) is required; your role "viewer" has contract_edit (none)',
        ]);
      }
    });

    it("a run outside the caller's scope is answered with the same bytes as a missing one", async () => {
      const contract = (
        await org.asOwner.post<ContractDetail>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
        )
      ).body;
      const [own, forContract] = [
        await readText(sales.client),
        await readText(org.asOwner, { contractId: contract.id }),
      ];
      const [colleague, outOfScope] = [
        (await org.join({ roleCode: 'sales' })).client,
        (await org.join({ roleCode: 'sales', subjectScope: [] })).client,
      ];
      const otherTenant = (await administration(server())).asOwner;
      for (const [client, id] of [
        [colleague, own.id],
        [outOfScope, forContract.id],
        [otherTenant, own.id],
        [otherTenant, forContract.id],
        [otherTenant, newId()],
        [otherTenant, 'no-id'],
      ] as const) {
        for (const answer of [
          await client.get(`/contracts/extractions/${id}`),
          await client.patch(`/contracts/extractions/${id}/review`, { fields: [] }),
        ])
          expect([answer.status, answer.text]).to.deep.equal([404, NOT_FOUND]);
      }
      expect(
        (await colleague.get(`/contracts/extractions/${forContract.id}`)).status,
        'any caller who sees the contract',
      ).to.equal(200);
      expect(
        (await org.asOwner.get(`/contracts/extractions/${own.id}`)).status,
        'an administrator with unrestricted scope',
      ).to.equal(200);
      const refused = await otherTenant.post<DomainError>('/contracts/extract', { contractId: contract.id, text: 'x' });
      expect([refused.status, refused.body.error.details]).to.deep.equal([
        422,
        { field: 'contractId', value: contract.id },
      ]);
    });

    it('members, subject companies and roles that do not exist are refused by field', async () => {
      const run = await readText(sales.client);
      const [missingId, otherTenant] = [newId(), (await administration(server())).owner.id];
      for (const [key, value, field] of [
        ['ownerId', missingId, 'fields[1].overrideValue'],
        ['ownerId', otherTenant, 'fields[1].overrideValue'],
        ['subjectId', missingId, 'fields[1].overrideValue'],
        ['workflowAllowedRoles', ['king'], 'fields[1].overrideValue[0]'],
      ] as const) {
        const answer = await sales.client.patch<DomainError>(`/contracts/extractions/${run.id}/review`, {
          fields: [{ fieldKey: 'partyA', status: 'accepted' }, put(key, value)],
        });
        expect([answer.status, answer.body.error.code, answer.body.error.details], key).to.deep.equal([
          422,
          'REFERENCE_INVALID',
          { field, value: Array.isArray(value) ? value[0] : value },
        ]);
      }
    });

    it('If-Match names the version of the contract, and a key makes a repeated request run once', async () => {
      const contract = (
        await org.asOwner.post<ContractDetail>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
        )
      ).body;
      const run = await readText(org.asOwner, { contractId: contract.id });
      const path = `/contracts/extractions/${run.id}/review`;
      const body = { fields: [{ fieldKey: 'partyA', status: 'accepted' }], applyToContract: true };
      expect((await org.asOwner.patch<DomainError>(path, body, { headers: { 'If-Match': '"9"' } })).status).to.equal(
        412,
      );
      const headers = { 'If-Match': '"1"', 'Idempotency-Key': 'review-0001' };
      const [first, second] = [
        await org.asOwner.patch(path, body, { headers }),
        await org.asOwner.patch(path, body, { headers }),
      ];
      expect(first.status, first.text).to.equal(200);
      expect([second.text, second.headers.get('idempotency-replayed')]).to.deep.equal([first.text, 'true']);
    });

    it('invalid requests are reported field by field', async () => {
      const bad = await sales.client.post<FrameworkError>('/contracts/extract', {
        text: 5,
        fileRef: [],
        fileName: 'x'.repeat(256),
        pages: 3,
      });
      expect(bad.status).to.equal(400);
      expect(
        [...(bad.body.message as unknown as string[])]
          .map((message) => message.split(' ')[0])
          .toSorted((a = '', b = '') => (a < b ? -1 : 1)),
      ).to.deep.equal(['fileName', 'fileRef', 'pages', 'text']);
      expect((await sales.client.post<FrameworkError>('/contracts/extract', {})).body.message).to.deep.equal([
        'text is required when there is no fileRef',
      ]);
      const noFile = await sales.client.post<DomainError>('/contracts/extract', { fileRef: newId() });
      expect([noFile.status, noFile.body.error.code]).to.deep.equal([422, 'FILE_REFERENCE_INVALID']);
      const run = await readText(sales.client);
      const review = await sales.client.patch<FrameworkError>(`/contracts/extractions/${run.id}/review`, {
        fields: [
          { fieldKey: 'colour', status: 'accepted' },
          put('quantity', 'two'),
          { fieldKey: 'partyA', status: 'maybe' },
        ],
      });
      expect(review.body.message).to.deep.equal(['fields[2].status must be one of accepted, overridden, rejected']);
      expect(
        (
          await sales.client.patch<FrameworkError>(`/contracts/extractions/${run.id}/review`, {
            fields: [put('quantity', 'two')],
            metadata: { deep: 'x'.repeat(17_000) },
          })
        ).body.message,
      ).to.deep.equal(['metadata must be plain JSON of at most 16 KB and eight levels']);
    });
  });
});
