import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { makeMember, makeTenant, OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';
import type { ContractPage } from '../../server/endpoints/named.js';

const NOT_FOUND: FrameworkError = { statusCode: 404, message: 'Not Found', error: 'Not Found' };
type Named = ContractDetail & {
  readonly subjectName: string | null;
  readonly ownerName: string | null;
  readonly ownerSuperiorName: string | null;
};

describe('contracts over HTTP', () => {
  forEachServer((server) => {
    let made: MadeTenant;
    let owner: Client;
    before('a tenant with its owner signed in', async () => {
      made = await makeTenant(server().services);
      owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
    });

    const signedIn = async (
      roleCode: string,
      {
        subjectScope = null,
        of = made,
      }: { readonly subjectScope?: readonly string[] | null; readonly of?: MadeTenant } = {},
    ): Promise<{ client: Client; id: string }> => {
      const member = await makeMember(server().services, of, { roleCode, subjectScope });
      return { client: (await signIn(server().client, { tenant: of.tenant, member })).client, id: member.id };
    };
    const enter = async (changes: Partial<ContractInput> = {}): Promise<Named> => {
      const { status, body, text } = await owner.post<Named>(
        '/contracts',
        aContract({ subjectId: made.subjectId, ownerId: made.owner.id, ...changes }),
      );
      expect(status, text).to.equal(201);
      return body;
    };

    it('a contract is created, found, updated and deleted', async () => {
      const contract = await enter({ projectName: 'Kran für Kai 7', payments: [aLine({ dueDate: '2020-01-01' })] });
      expect(contract).to.include({ ownerName: 'Olive Owner', isOverdue: true });
      expect(contract.subjectName).to.be.a('string');
      const listed = await owner.get<ContractPage>('/contracts', {
        query: { q: 'kai 7', overdue: true, sort: 'projectName', pageSize: 5 },
      });
      expect(listed.status).to.equal(200);
      const { payments: _p, terms: _t, notes: _n, fulfillmentTasks: _f, invoices: _i, warnings: _w, ...row } = contract;
      expect(listed.body).to.deep.equal({ items: [row], page: 1, pageSize: 5, total: 1, pageCount: 1 });

      const changed = await owner.patch<Named>(`/contracts/${contract.id}`, {
        remark: '  noted ',
        signDate: '2026-02-01T23:00:00-11:00',
      });
      expect(changed.status).to.equal(200);
      expect(changed.body).to.include({
        remark: 'noted',
        signDate: '2026-02-01',
        version: 2,
        ownerName: 'Olive Owner',
      });
      expect(changed.headers.get('etag')).to.equal('"2"');
      expect((await owner.get<Named>(`/contracts/${contract.id}`)).body).to.deep.equal(changed.body);

      expect(await owner.delete(`/contracts/${contract.id}`)).to.deep.include({ status: 200, body: { ok: true } });
      for (const gone of [
        await owner.get(`/contracts/${contract.id}`),
        await owner.patch(`/contracts/${contract.id}`, {}),
        await owner.delete(`/contracts/${contract.id}`),
      ]) {
        expect(gone).to.deep.include({ status: 404, body: NOT_FOUND });
      }
    });

    it('If-Match refuses a change of an outdated version', async () => {
      const contract = await enter();
      const path = `/contracts/${contract.id}`;
      expect((await owner.patch(path, { remark: 'two' }, { headers: { 'If-Match': '"1"' } })).status).to.equal(200);
      for (const late of [
        await owner.patch<DomainError>(path, { remark: 'three' }, { headers: { 'If-Match': '"1"' } }),
        await owner.delete<DomainError>(path, undefined, { headers: { 'If-Match': 'W/"1"' } }),
      ]) {
        expect(late.status).to.equal(412);
        expect(late.body.error).to.deep.include({ code: 'VERSION_MISMATCH', details: { version: 2 } });
      }
      expect((await owner.delete(path, undefined, { headers: { 'If-Match': '*' } })).status).to.equal(200);
    });

    it('a bad field is reported once, whether in the body or in the query', async () => {
      const contract = await enter();
      const body = await owner.patch<FrameworkError>(`/contracts/${contract.id}`, {
        quantity: 0,
        partyA: null,
        endDate: '2026-02-30',
        nonsense: 1,
        payments: [{ amount: -1 }],
      });
      expect(body.status).to.equal(400);
      expect(body.body.message)
        .to.include('nonsense is not a known field')
        .and.to.include('quantity must be >= 1')
        .and.to.include('partyA must be a string');
      const query = await owner.get<FrameworkError>('/contracts', {
        query: { page: 0, sort: 'nonsense', overdue: 'yes', colour: 'red' },
      });
      expect(query.status).to.equal(400);
      expect((query.body.message as string[]).map((message) => message.split(' ')[0])).to.have.members([
        'colour',
        'overdue',
        'page',
        'sort',
      ]);
      expect((query.body.message as string[]).find((message) => message.startsWith('sort'))).to.contain('nextDueDate');
    });

    it('references must exist, but a contract may keep its stored ones', async () => {
      const seller = await signedIn('sales');
      const contract = await enter({ ownerId: seller.id });
      const path = `/contracts/${contract.id}`;
      for (const [field, value] of [
        ['ownerId', newId()],
        ['ownerSuperiorId', 'nobody'],
        ['subjectId', newId()],
      ] as const) {
        const refused = await owner.patch<DomainError>(path, { [field]: value });
        expect(refused.status, field).to.equal(422);
        expect(refused.body.error).to.deep.include({ code: 'REFERENCE_INVALID', details: { field, value } });
      }
      await server().services.tenants.members.setStatus(
        { tenantId: made.tenant.id, memberId: seller.id, status: 'disabled' },
        OPERATOR,
      );
      expect((await owner.patch<Named>(path, { ownerId: seller.id, remark: 'left' })).body).to.include({
        remark: 'left',
        version: 2,
      });
      expect(
        (await owner.post<DomainError>('/contracts', aContract({ subjectId: made.subjectId, ownerId: seller.id })))
          .status,
      ).to.equal(422);
      expect(
        (await owner.patch(`/contracts/${newId()}`, { ownerId: newId() })).status,
        'a missing contract is reported before a missing member',
      ).to.equal(404);
    });

    it('the right to see contracts does not include changing or deleting them', async () => {
      const contract = await enter();
      const path = `/contracts/${contract.id}`;
      const { client: viewer } = await signedIn('viewer');
      expect((await viewer.get(path)).status).to.equal(200);
      expect((await viewer.get('/contracts')).status).to.equal(200);
      expect(await viewer.patch(path, {})).to.deep.include({
        status: 403,
        body: {
          statusCode: 403,
          message: 'contract_edit (edit) is required; your role "viewer" has contract_edit (none)',
          error: 'Forbidden',
        },
      });
      expect(await viewer.delete(path)).to.deep.include({
        status: 403,
        body: {
          statusCode: 403,
          message: 'contract_delete (edit) is required; your role "viewer" has contract_delete (none)',
          error: 'Forbidden',
        },
      });
    });

    it('another tenant, and a caller of another subject company, find nothing', async () => {
      const contract = await enter({ contractNo: 'SECRET-1' });
      const otherTenant = await makeTenant(server().services);
      const { client: elsewhere } = await signIn(server().client, {
        tenant: otherTenant.tenant,
        member: otherTenant.owner,
      });
      const { client: scoped } = await signedIn('manager', { subjectScope: [] });
      for (const caller of [elsewhere, scoped]) {
        const answers = [
          await caller.get(`/contracts/${contract.id}`),
          await caller.patch(`/contracts/${contract.id}`, { remark: 'x' }),
          await caller.get('/contracts', { query: { subjectId: made.subjectId } }),
          await caller.get('/contracts', { query: { subjectId: newId() } }),
        ];
        for (const answer of answers) expect(answer).to.deep.include({ status: 404, body: NOT_FOUND });
        expect((await caller.get<ContractPage>('/contracts', { query: { q: 'SECRET-1' } })).body.total).to.equal(0);
      }
    });

    it('an id that is no UUID is not found, in the path and in the query', async () => {
      for (const answer of [
        await owner.get('/contracts/nothing'),
        await owner.patch('/contracts/7', {}),
        await owner.delete('/contracts/x'),
        await owner.get('/contracts', { query: { ownerId: 'nobody' } }),
      ]) {
        expect(answer).to.deep.include({ status: 404, body: NOT_FOUND });
      }
      expect((await owner.get<ContractPage>('/contracts', { query: { ownerId: newId() } })).body.items).to.deep.equal(
        [],
      );
    });
  });
});
