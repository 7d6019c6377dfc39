import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { HistoryPage } from '../../data-plane-agent/plane/contract/records/history.js';
import { makeMember, makeTenant, signIn, type MadeTenant } from '../support/accounts.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';
import type { ContractPage } from '../../server/endpoints/named.js';

const NOT_FOUND: FrameworkError = { statusCode: 404, message: 'Not Found', error: 'Not Found' };
type Part = { readonly id: string; readonly contractVersion: number; readonly value?: string; readonly note?: string };

describe('plan, notes, terms, trash and history over HTTP', () => {
  forEachServer((server) => {
    let made: MadeTenant;
    let owner: Client;
    before('a tenant with its owner signed in', async () => {
      made = await makeTenant(server().services);
      owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
    });
    const signedIn = async (
      roleCode: string,
      { subjectScope = null }: { readonly subjectScope?: readonly string[] | null } = {},
    ) => {
      const member = await makeMember(server().services, made, { roleCode, subjectScope });
      return { id: member.id, client: (await signIn(server().client, { tenant: made.tenant, member })).client };
    };
    const enter = async (changes: Partial<ContractInput> = {}): Promise<ContractDetail> => {
      const { status, body, text } = await owner.post<ContractDetail>(
        '/contracts',
        aContract({ subjectId: made.subjectId, ownerId: made.owner.id, ...changes }),
      );
      expect(status, text).to.equal(201);
      return body;
    };
    const key = () => ({ 'Idempotency-Key': `key-${newId()}` });

    it('a seller changes the plan, but not receipts and invoices, which need their own rights', async () => {
      const { client: sales } = await signedIn('sales');
      const contract = await enter({ payments: [aLine({ period: 'A', receivedAmount: 10 }), aLine({ period: 'B' })] });
      const path = `/contracts/${contract.id}`;
      const plan = contract.payments.map(
        ({ period, dueDate, amount, receivedAmount, receivedDate, reconciliationStatus }) => ({
          period,
          dueDate,
          amount,
          receivedAmount,
          receivedDate,
          reconciliationStatus,
        }),
      );
      const changed = await sales.patch<ContractDetail>(path, {
        payments: [...plan.map((line) => ({ ...line, amount: 700 })), aLine({ period: 'C' })],
      });
      expect([changed.status, changed.body.receivableAmount, changed.headers.get('etag')], changed.text).to.deep.equal([
        200,
        2_400,
        '"2"',
      ]);
      const paid = await sales.patch(path, { payments: plan.map((line) => ({ ...line, receivedAmount: 11 })) });
      expect(paid).to.deep.include({
        status: 403,
        body: {
          statusCode: 403,
          message: 'payment_entry (edit) is required; your role "sales" has payment_entry (view)',
          error: 'Forbidden',
        },
      });
      const invoiced = await sales.patch(path, { payments: plan.map((line) => ({ ...line, invoiceNo: 'F-1' })) });
      expect(invoiced).to.deep.include({
        status: 403,
        body: {
          statusCode: 403,
          message: 'invoice (edit) is required; your role "sales" has invoice (view)',
          error: 'Forbidden',
        },
      });
      const removed = await sales.patch<DomainError>(path, { payments: [] });
      expect([removed.status, removed.body.error.code, removed.body.error.details]).to.deep.equal([
        409,
        'LINE_HAS_MONEY',
        { paymentIds: [contract.payments.find(({ period }) => period === 'A')?.id] },
      ]);
      const bad = await sales.patch<FrameworkError>(path, {
        payments: [{ period: 'A', dueDate: '2026-02-30', amount: -1, colour: 'red' }, {}],
      });
      expect([bad.status, (bad.body.message as string[]).toSorted()]).to.deep.equal([
        400,
        [
          'payments[0].amount must be >= 0',
          'payments[0].colour is not a known field',
          'payments[0].dueDate must be a calendar date like 2026-03-31',
          'payments[1].amount is required',
          'payments[1].dueDate is required',
          'payments[1].period is required',
        ],
      ]);
    });

    it('a plan under an idempotency key is changed once, and under an outdated version not at all', async () => {
      const contract = await enter();
      const path = `/contracts/${contract.id}`;
      const headers = key();
      const first = await owner.patch<ContractDetail>(path, { payments: [aLine()] }, { headers });
      const again = await owner.patch<ContractDetail>(path, { payments: [aLine()] }, { headers });
      expect([again.status, again.headers.get('idempotency-replayed'), again.body]).to.deep.equal([
        200,
        'true',
        first.body,
      ]);
      expect(
        (await owner.patch<DomainError>(path, { payments: [] }, { headers: { 'If-Match': '"1"' } })).status,
      ).to.equal(412);
      expect((await owner.get<ContractDetail>(path)).body.version).to.equal(2);
    });

    it('notes and terms are added once under a key, updated and removed', async () => {
      const contract = await enter();
      const path = `/contracts/${contract.id}`;
      const headers = { ...key(), 'If-Match': '"1"' };
      const note = await owner.post<Part>(`${path}/notes`, { label: ' Gate ', value: '4' }, { headers });
      expect([note.status, note.body.contractVersion], note.text).to.deep.equal([201, 2]);
      expect(
        (await owner.post<Part>(`${path}/notes`, { label: ' Gate ', value: '4' }, { headers })).body,
      ).to.deep.equal(note.body);
      const term = await owner.post<Part>(`${path}/terms`, {
        kind: 'delivery',
        title: 'Ex works',
        note: 'Shanghai',
        date: '2026-04-01',
      });
      expect([term.status, term.body.contractVersion]).to.deep.equal([201, 3]);
      expect(
        (await owner.patch<Part>(`${path}/notes/${note.body.id}`, { value: '5' }, { headers: { 'If-Match': '"3"' } }))
          .body,
      ).to.include({ value: '5', contractVersion: 4 });
      expect(
        (
          await owner.patch<DomainError>(
            `${path}/terms/${term.body.id}`,
            { note: 'x' },
            { headers: { 'If-Match': '"3"' } },
          )
        ).status,
      ).to.equal(412);
      expect((await owner.patch<Part>(`${path}/terms/${term.body.id}`, { note: 'Ningbo' })).body).to.include({
        note: 'Ningbo',
        contractVersion: 5,
      });
      for (const part of [`notes/${note.body.id}`, `terms/${term.body.id}`]) {
        expect(await owner.delete(`${path}/${part}`)).to.deep.include({ status: 200, body: { ok: true } });
        expect(await owner.delete(`${path}/${part}`)).to.deep.include({ status: 404, body: NOT_FOUND });
      }
      expect(
        (await owner.post<FrameworkError>(`${path}/notes`, { label: '  ', value: null })).body.message,
      ).to.have.members(['label must not be empty', 'value must be a string']);
      expect(
        (await owner.post<FrameworkError>(`${path}/terms`, { kind: 'gift', title: 'T', note: 'N', date: 'soon' }))
          .status,
      ).to.equal(400);
    });

    it('deleted contracts are visible in the trash to members who may delete, and are restored', async () => {
      const { client: manager, id: managerId } = await signedIn('manager');
      const contract = await enter({ projectName: 'Kran 77', payments: [aLine()] });
      const other = await enter();
      expect((await manager.delete(`/contracts/${contract.id}`)).status).to.equal(200);
      expect((await manager.post('/contracts/bulk-delete', { ids: [other.id, newId(), other.id] })).status).to.equal(
        200,
      );
      const trash = await manager.get<{
        items: {
          id: string;
          deletedBy: string;
          deletedByName: string;
          subjectName: string;
          projectName: string;
          createdByName: string;
        }[];
        total: number;
      }>('/contracts/trash');
      expect(trash.body.items.map(({ id }) => id)).to.deep.equal([other.id, contract.id]);
      expect(trash.body.items[1]).to.include({
        deletedBy: managerId,
        deletedByName: 'A manager',
        createdByName: 'Olive Owner',
        projectName: 'Kran 77',
      });
      const { client: seller } = await signedIn('sales');
      expect([
        (await seller.get('/contracts/trash')).status,
        (await seller.post(`/contracts/${contract.id}/restore`)).status,
      ]).to.deep.equal([403, 403]);
      const { client: scoped } = await signedIn('manager', { subjectScope: [] });
      expect((await scoped.get<ContractPage>('/contracts/trash')).body.items).to.deep.equal([]);
      expect(await scoped.post(`/contracts/${contract.id}/restore`)).to.deep.include({ status: 404, body: NOT_FOUND });
      const headers = key();
      const back = await manager.post<ContractDetail>(`/contracts/${contract.id}/restore`, undefined, { headers });
      expect([back.status, back.headers.get('etag'), back.body.payments.length], back.text).to.deep.equal([
        200,
        '"3"',
        1,
      ]);
      expect(
        (await manager.post<ContractDetail>(`/contracts/${contract.id}/restore`, undefined, { headers })).headers.get(
          'idempotency-replayed',
        ),
      ).to.equal('true');
      expect((await owner.get<ContractPage>('/contracts', { query: { q: 'kran 77' } })).body.total).to.equal(1);
      expect((await owner.get(`/contracts/${other.id}`)).status).to.equal(404);
      await enter({ contractNo: other.contractNo });
      expect((await owner.post<DomainError>(`/contracts/${other.id}/restore`)).body.error).to.deep.include({
        code: 'DUPLICATE_CONTRACT_NO',
        details: { contractNo: other.contractNo },
      });
    });

    it('the history names the members', async () => {
      const { id: sellerId } = await signedIn('sales');
      const contract = await enter({ payments: [aLine()] });
      await owner.patch(`/contracts/${contract.id}`, { ownerId: sellerId, remark: 'handed over' });
      const { status, body } = await owner.get<HistoryPage>(`/contracts/${contract.id}/history`, {
        query: { pageSize: 1 },
      });
      expect([status, body.total, body.pageCount]).to.deep.equal([200, 2, 2]);
      const [entry] = body.items;
      expect(entry?.actor).to.deep.equal({ kind: 'user', id: made.owner.id, name: 'Olive Owner' });
      const named = { record: 'contract', recordId: contract.id, recordName: contract.contractNo };
      expect(entry?.changes).to.have.deep.members([
        {
          ...named,
          field: 'ownerId',
          before: made.owner.id,
          after: sellerId,
          beforeName: 'Olive Owner',
          afterName: 'A sales',
        },
        { ...named, field: 'remark', before: null, after: 'handed over', beforeName: null, afterName: null },
      ]);
      const { client: viewer } = await signedIn('viewer');
      expect((await viewer.get(`/contracts/${contract.id}/history`)).status).to.equal(200);
      expect(await owner.get(`/contracts/${newId()}/history`)).to.deep.include({ status: 404, body: NOT_FOUND });
    });

    it('bulk operations refuse anything but a list of ids', async () => {
      for (const body of [
        {},
        { ids: 'one' },
        { ids: [] },
        { ids: [1] },
        { ids: Array.from({ length: 1_001 }, newId) },
        { ids: [newId()], all: true },
      ]) {
        expect((await owner.post('/contracts/bulk-delete', body)).status, JSON.stringify(body).slice(0, 50)).to.equal(
          400,
        );
      }
      const file = newId();
      const refused = await owner.post<DomainError>('/contracts/bulk-attachment', {
        ids: [newId()],
        contractAttachment: file,
      });
      expect([refused.status, refused.body.error.code, refused.body.error.details]).to.deep.equal([
        422,
        'FILE_REFERENCE_INVALID',
        { field: 'contractAttachment', value: file },
      ]);
    });
  });
});
