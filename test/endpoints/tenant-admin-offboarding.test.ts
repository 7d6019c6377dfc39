import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { OPERATOR, PASSWORD } from '../support/accounts.js';
import { administration, type Administration } from '../support/administration.js';
import type { Answer, DomainError } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

interface Offboarded {
  transferred: Record<string, number>;
  disabled: boolean;
  auditId: string;
  warnings: { code: string }[];
}
interface Preview {
  member: { id: string; roleCode: string };
  totals: Record<string, number>;
  samples: Record<string, { id: string }[]>;
  blockers: { code: string }[];
  suggestedSuccessors: { id: string }[];
}
interface Contract {
  id: string;
  ownerId: string;
  ownerSuperiorId: string | null;
  ownerName: string;
}

const NOTHING = { contracts: 0, contractsAsSupervisor: 0, openTasks: 0, reminders: 0, personalViews: 0, teamViews: 0 };
const refusal = ({ status, body }: Answer<DomainError>) => [status, body.error.code, body.error.details];

forEachServer(
  (server) => {
    describe('the offboarding of a member', () => {
      let org: Administration;
      beforeEach(async () => {
        org = await administration(server());
      });
      const offboard = <T = Offboarded>(
        id: string,
        body: object,
        {
          client = org.asOwner,
          headers = {},
        }: { client?: Administration['asOwner']; headers?: Record<string, string> } = {},
      ) => client.post<T>(`/tenant-admin/members/${id}/offboard`, body, { headers });
      const preview = async (id: string, client = org.asOwner) =>
        (await client.get<Preview>(`/tenant-admin/members/${id}/handover-preview`)).body;
      const enter = async (ownerId: string, ownerSuperiorId: string | null = null, subjectId = org.subjectId) =>
        (await org.asOwner.post<Contract>('/contracts', aContract({ subjectId, ownerId, ownerSuperiorId }))).body;
      const contract = async ({ id }: { id: string }) => (await org.asOwner.get<Contract>(`/contracts/${id}`)).body;

      it('previews everything that would move', async () => {
        const [leaver, colleague, other] = [
          await org.join({ roleCode: 'sales' }),
          await org.join({ roleCode: 'sales' }),
          await org.join({ roleCode: 'legal' }),
        ];
        const outOfScope = await org.join({ roleCode: 'sales', subjectScope: [] });
        const [owned, supervised] = [await enter(leaver.id), await enter(other.id, leaver.id)];
        const shown = await preview(leaver.id);
        expect(shown.member).to.include({ id: leaver.id, roleCode: 'sales' });
        expect(shown.totals).to.deep.equal({ ...NOTHING, contracts: 1, contractsAsSupervisor: 1 });
        expect(Object.keys(shown.samples)).to.deep.equal(Object.keys(NOTHING));
        expect(
          [shown.samples['contracts'], shown.samples['contractsAsSupervisor']].map((list) => list?.map(({ id }) => id)),
        ).to.deep.equal([[owned.id], [supervised.id]]);
        expect(shown.blockers).to.deep.equal([]);
        const suggested = shown.suggestedSuccessors.map(({ id }) => id);
        expect(suggested[0], 'another member first').to.equal(colleague.id);
        expect(suggested).to.have.members([colleague.id, other.id, org.owner.id]).and.not.include(outOfScope.id);
        expect((await contract(owned)).ownerId).to.equal(leaver.id);
      });

      it('previews what prevents it', async () => {
        expect((await preview(org.owner.id)).blockers.map(({ code }) => code)).to.deep.equal([
          'LAST_OWNER',
          'NO_SUCCESSOR',
        ]);
        const admin = await org.join({ roleCode: 'admin' });
        expect((await preview(admin.id, admin.client)).blockers.map(({ code }) => code)).to.deep.equal([
          'SELF_CHANGE_FORBIDDEN',
        ]);
        expect((await org.asOwner.get(`/tenant-admin/members/${newId()}/handover-preview`)).status).to.equal(404);
      });

      it('transfers everything, and the member is refused from the next request', async () => {
        const [leaver, successor] = [await org.join({ roleCode: 'sales' }), await org.join({ roleCode: 'sales' })];
        const { body: tokens } = await server().client.post<{ refreshToken: string }>('/auth/login', {
          tenantSlug: org.tenant.slug,
          email: leaver.email,
          password: PASSWORD,
        });
        const contracts = [
          await enter(leaver.id),
          await enter(leaver.id),
          await enter(successor.id, org.owner.id),
          await enter(org.owner.id, leaver.id),
        ];
        expect((await leaver.client.get('/contracts')).status).to.equal(200);

        const { status, body } = await offboard(leaver.id, { successorUserId: successor.id });
        expect([status, body]).to.deep.equal([
          200,
          {
            transferred: { ...NOTHING, contracts: 2, contractsAsSupervisor: 1 },
            disabled: true,
            auditId: body.auditId,
            warnings: [],
          },
        ]);

        expect((await leaver.client.get('/contracts')).status).to.equal(401);
        expect((await server().client.post('/auth/refresh', { refreshToken: tokens.refreshToken })).status).to.equal(
          401,
        );
        expect(
          (
            await server().client.post('/auth/login', {
              tenantSlug: org.tenant.slug,
              email: leaver.email,
              password: PASSWORD,
            })
          ).status,
        ).to.equal(401);
        expect(
          (await Promise.all(contracts.map(contract))).map(({ ownerId, ownerSuperiorId }) => [
            ownerId,
            ownerSuperiorId,
          ]),
        ).to.deep.equal([
          [successor.id, null],
          [successor.id, null],
          [successor.id, org.owner.id],
          [org.owner.id, successor.id],
        ]);
        expect((await org.audit()).at(-1)).to.deep.include({
          action: 'member_offboarded',
          recordId: leaver.id,
          actorId: org.owner.id,
          changes: {
            successorId: successor.id,
            transferred: body.transferred,
            sessionsRevoked: 2,
            status: { from: 'active', to: 'disabled' },
          },
        });
        expect(
          (await org.asOwner.get<{ total: number }>('/contracts', { query: { ownerId: leaver.id } })).body.total,
        ).to.equal(0);
      });

      it('transfers their unfinished tasks, unless these are excluded', async () => {
        const [leaver, successor] = [await org.join({ roleCode: 'sales' }), await org.join({ roleCode: 'sales' })];
        const { id } = await enter(org.owner.id);
        for (const [code, status] of [
          ['T-1', 'in_progress'],
          ['T-2', 'completed'],
        ])
          await org.asOwner.post(`/contracts/${id}/fulfillment-tasks`, {
            code,
            title: 'Deliver',
            status,
            ownerId: leaver.id,
          });
        const owners = async () =>
          (
            await org.asOwner.get<{ fulfillmentTasks: { ownerId: string }[] }>(`/contracts/${id}`)
          ).body.fulfillmentTasks.map(({ ownerId }) => ownerId);
        const shown = await preview(leaver.id);
        expect([shown.totals['openTasks'], shown.samples['openTasks']]).to.deep.equal([
          1,
          [{ id: shown.samples['openTasks']?.[0]?.id, name: 'T-1 Deliver' }],
        ]);
        expect(
          (await offboard(leaver.id, { successorUserId: successor.id, transferTasks: false, disableMember: false }))
            .body.transferred,
        ).to.deep.equal(NOTHING);
        expect(await owners()).to.deep.equal([leaver.id, leaver.id]);
        expect((await offboard(leaver.id, { successorUserId: successor.id })).body.transferred).to.deep.equal({
          ...NOTHING,
          openTasks: 1,
        });
        expect(await owners()).to.deep.equal([successor.id, leaver.id]);
        expect((await offboard(leaver.id, { successorUserId: successor.id })).body.transferred).to.deep.equal(NOTHING);
      });

      it('may be repeated: nothing moves, and it answers the same with zero counts', async () => {
        const [leaver, successor] = [await org.join({ roleCode: 'sales' }), await org.join({ roleCode: 'sales' })];
        const owned = await enter(leaver.id);
        const first = await offboard(leaver.id, { successorUserId: successor.id });
        const second = await offboard(leaver.id, { successorUserId: successor.id });
        expect([second.status, second.body]).to.deep.equal([
          200,
          { ...first.body, transferred: NOTHING, auditId: second.body.auditId },
        ]);
        expect(await contract(owned)).to.include({ ownerId: successor.id, version: 2 });
      });

      it('under an idempotency key repeats its first answer, counts and audit row', async () => {
        const [leaver, successor] = [await org.join({ roleCode: 'sales' }), await org.join({ roleCode: 'sales' })];
        await enter(leaver.id);
        const headers = { 'Idempotency-Key': `leave-${leaver.id}` };
        const first = await offboard(leaver.id, { successorUserId: successor.id }, { headers });
        // Whatever has happened to the records since.
        await org.asOwner.patch(`/tenant-admin/members/${successor.id}`, { status: 'disabled' });
        const audited = await org.audit();
        const second = await offboard(leaver.id, { successorUserId: successor.id }, { headers });
        expect([second.text, second.headers.get('idempotency-replayed')]).to.deep.equal([first.text, 'true']);
        expect(first.headers.get('idempotency-replayed')).to.equal(null);
        expect(await org.audit()).to.deep.equal(audited);
        expect(
          refusal(await offboard<DomainError>(leaver.id, { successorUserId: org.owner.id }, { headers })),
        ).to.deep.equal([422, 'IDEMPOTENCY_KEY_REUSED', {}]);
      });

      it('may be partial: everything switched off is kept', async () => {
        const [leaver, successor] = [await org.join({ roleCode: 'manager' }), await org.join({ roleCode: 'manager' })];
        const [owned, supervised] = [await enter(leaver.id), await enter(org.owner.id, leaver.id)];
        const part = await offboard(leaver.id, {
          successorUserId: successor.id,
          transferContracts: false,
          disableMember: false,
        });
        expect(part.body).to.deep.include({ transferred: { ...NOTHING, contractsAsSupervisor: 1 }, disabled: false });
        expect([(await contract(owned)).ownerId, (await contract(supervised)).ownerSuperiorId]).to.deep.equal([
          leaver.id,
          successor.id,
        ]);
        expect((await leaver.client.get('/auth/me')).status).to.equal(200);
        expect(
          (await offboard(leaver.id, { successorUserId: successor.id, transferContracts: false })).body.disabled,
        ).to.equal(true);
        expect((await contract(owned)).ownerId).to.equal(leaver.id);
      });

      it("makes no member their own superior: the successor's superior takes the role, if they are still active", async () => {
        const [leaver, successor, boss] = [
          await org.join({ roleCode: 'sales' }),
          await org.join({ roleCode: 'manager' }),
          await org.join({ roleCode: 'manager' }),
        ];
        await enter(successor.id, boss.id);
        const under = await enter(leaver.id, successor.id);
        const { body } = await offboard(leaver.id, { successorUserId: successor.id, disableMember: false });
        expect(body.warnings.map(({ code }) => code)).to.deep.equal(['SUPERIOR_REPLACED']);
        expect(await contract(under)).to.include({ ownerId: successor.id, ownerSuperiorId: boss.id });
        await server().services.tenants.members.setStatus(
          { tenantId: org.tenant.id, memberId: boss.id, status: 'disabled' },
          OPERATOR,
        );
        const again = await enter(leaver.id, successor.id);
        expect(
          (await offboard(leaver.id, { successorUserId: successor.id })).body.warnings.map(({ code }) => code),
        ).to.deep.equal(['SUPERIOR_CLEARED']);
        expect(await contract(again)).to.include({ ownerId: successor.id, ownerSuperiorId: null });
      });

      it('needs an active successor of this organisation who may see all of it; otherwise nothing changes', async () => {
        const { body: second } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second' });
        const [leaver, formerMember, narrow] = [
          await org.join({ roleCode: 'sales' }),
          await org.join({ roleCode: 'sales' }),
          await org.join({ roleCode: 'sales', subjectScope: [second.id] }),
        ];
        const owned = await enter(leaver.id);
        await org.asOwner.patch(`/tenant-admin/members/${formerMember.id}`, { status: 'disabled' });
        const otherTenant = await administration(server());
        const refused = async (successorUserId: string) =>
          refusal(await offboard<DomainError>(leaver.id, { successorUserId }));
        expect(await refused(formerMember.id)).to.deep.equal([
          422,
          'SUCCESSOR_INVALID',
          { field: 'successorUserId', reason: 'disabled' },
        ]);
        expect(await refused(leaver.id)).to.deep.equal([
          422,
          'SUCCESSOR_INVALID',
          { field: 'successorUserId', reason: 'the same person' },
        ]);
        expect(await refused(otherTenant.owner.id)).to.deep.equal([
          422,
          'REFERENCE_INVALID',
          { field: 'successorUserId', value: otherTenant.owner.id },
        ]);
        expect(await refused(narrow.id)).to.deep.equal([
          409,
          'SUCCESSOR_SCOPE_INSUFFICIENT',
          { subjectIds: [org.subjectId] },
        ]);
        expect((await leaver.client.get('/auth/me')).status).to.equal(200);
        expect((await contract(owned)).ownerId).to.equal(leaver.id);
        expect((await org.audit()).some(({ action }) => action === 'member_offboarded')).to.equal(false);
      });

      it('is refused for the owner and the caller', async () => {
        const admin = await org.join({ roleCode: 'admin' });
        expect(
          refusal(await offboard<DomainError>(org.owner.id, { successorUserId: admin.id }, { client: admin.client })),
        ).to.deep.equal([409, 'LAST_OWNER', {}]);
        expect(
          refusal(await offboard<DomainError>(admin.id, { successorUserId: org.owner.id }, { client: admin.client })),
        ).to.deep.equal([409, 'SELF_CHANGE_FORBIDDEN', {}]);
        const owned = await enter(admin.id);
        expect(
          (await offboard(admin.id, { successorUserId: org.owner.id, disableMember: false }, { client: admin.client }))
            .body.transferred['contracts'],
        ).to.equal(1);
        expect((await contract(owned)).ownerId).to.equal(org.owner.id);
      });

      it('transfers contracts that the administrator may not see, without showing them', async () => {
        const { body: second } = await org.asOwner.post<{ id: string }>('/tenant-admin/subjects', { name: 'Second' });
        const outOfScope = await org.join({ roleCode: 'admin', subjectScope: [second.id] });
        const [leaver, successor] = [await org.join({ roleCode: 'sales' }), await org.join({ roleCode: 'sales' })];
        const owned = await enter(leaver.id);
        const shown = await preview(leaver.id, outOfScope.client);
        expect([shown.totals['contracts'], shown.samples['contracts']]).to.deep.equal([1, []]);
        expect(
          (await offboard(leaver.id, { successorUserId: successor.id }, { client: outOfScope.client })).body
            .transferred['contracts'],
        ).to.equal(1);
        expect((await contract(owned)).ownerId).to.equal(successor.id);
      });
    });
  },
  { env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } },
);
