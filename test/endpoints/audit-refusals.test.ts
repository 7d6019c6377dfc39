import { expect } from 'chai';
import type { AuditEntry } from '../../data-plane-agent/base/audit/records.js';
import type { AuditPage } from '../../data-plane-agent/plane/contract/records/audit.js';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { FieldCommandResult } from '../../data-plane-agent/plane/contract/records/fields.js';
import { makeMember, makeTenant, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import type { Client } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

const HOUR_MS = 3_600_000;
const clock = fakeClock();
const reported = ({ changes }: AuditEntry): Record<string, unknown> =>
  Object.fromEntries(changes.map(({ field, after }) => [field, after]));

describe('the audit of refused requests', () => {
  forEachServer(
    (server) => {
      let made: MadeTenant;
      let owner: Client;
      const again = async () =>
        (owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client);
      before(async () => {
        made = await makeTenant(server().services);
        await again();
      });
      const as = async (roleCode: string) => {
        const member = await makeMember(server().services, made, { roleCode });
        return { member, client: (await signIn(server().client, { tenant: made.tenant, member })).client };
      };
      const refusals = async (actorId: string): Promise<AuditEntry[]> =>
        (
          await owner.get<AuditPage>('/audit', { query: { actor: actorId, action: 'access_refused', pageSize: 200 } })
        ).body.items.toReversed();
      /** Advances to the end of the hour, when the counts are recorded. */
      const endHour = async () => {
        await server().schedules.run('audit-refusals');
        clock.advance(HOUR_MS + 10 * 60_000);
        await server().schedules.run('audit-repeats');
        await again();
      };

      it("records the member, the request, the missing right, the address and the session in the organisation's audit", async () => {
        const { client, member } = await as('viewer');
        const answer = await client.post(
          '/contracts',
          aContract({ subjectId: made.subjectId, ownerId: made.owner.id }),
          { headers: { 'X-Request-Id': 'the-refused-request' } },
        );
        expect(answer.status).to.equal(403);
        const [refusal, ...more] = await refusals(member.id);
        expect(more).to.deep.equal([]);
        expect(refusal).to.include({
          action: 'access_refused',
          actorKind: 'user',
          actorId: member.id,
          actorName: member.name,
          requestId: 'the-refused-request',
          recordKind: 'endpoint',
          recordId: null,
        });
        expect(refusal?.ip).to.match(/127\.0\.0\.1$/);
        const { sessionId, ...rest } = reported(refusal ?? never());
        expect(rest).to.deep.equal({ route: 'POST /contracts', code: 'FORBIDDEN', needs: 'contract_edit (edit)' });
        const sessions = (await client.get<{ items?: { id: string }[] } | { id: string }[]>('/auth/sessions')).text;
        expect(sessions).to.contain(String(sessionId));
      });

      it('records refusals by any rule: the plan, the workflow, a field', async () => {
        const freeTenant = await makeTenant(server().services, { planCode: 'free' });
        const onFreePlan = (await signIn(server().client, { tenant: freeTenant.tenant, member: freeTenant.owner }))
          .client;
        expect(
          (
            await onFreePlan.post('/dynamic-fields/commands', {
              type: 'CreateField',
              payload: { name: 'Gate', type: 'text' },
            })
          ).status,
        ).to.equal(403);
        const [byPlan] = (await onFreePlan.get<AuditPage>('/audit', { query: { action: 'access_refused' } })).body
          .items;
        expect(reported(byPlan ?? never())).to.deep.include({
          route: 'POST /dynamic-fields/commands',
          code: 'PLAN_FEATURE_NOT_ENABLED',
          needs: '{"feature":"customFields"}',
        });

        const { client, member } = await as('sales');
        const { id } = (
          await client.post<ContractDetail>(
            '/contracts',
            aContract({ subjectId: made.subjectId, ownerId: made.owner.id }),
          )
        ).body;
        expect(
          (await client.post(`/contracts/${id}/workflow/transition`, { transitionCode: 'submit_review' })).status,
        ).to.equal(200);
        expect(
          (await client.post(`/contracts/${id}/workflow/transition`, { transitionCode: 'approve' })).status,
        ).to.equal(403);
        const { field } = (
          await owner.post<FieldCommandResult>('/dynamic-fields/commands', {
            type: 'CreateField',
            payload: { name: 'Fixed', type: 'text', editableRoles: ['owner'] },
          })
        ).body;
        expect(
          (
            await client.post(
              '/contracts',
              aContract({ subjectId: made.subjectId, ownerId: made.owner.id, dynamicFields: { [field.id]: 'x' } }),
            )
          ).status,
        ).to.equal(403);
        expect(
          (await refusals(member.id))
            .map((entry) => reported(entry))
            .map(({ route, code, needs }) => [route, code, needs]),
        ).to.deep.equal([
          [
            'POST /contracts/:id/workflow/transition',
            'WORKFLOW_CONTROL_REQUIRED',
            '{"control":"approve","stage":"review","has":"edit"}',
          ],
          ['POST /contracts', 'FIELD_NOT_EDITABLE', `{"fields":["${field.id}"]}`],
        ]);
      });

      it('has one row at once and one at the end of the hour, however often a request is repeated', async () => {
        const { client, member } = await as('viewer');
        const answers = await Promise.all(
          Array.from({ length: 60 }, () => client.delete('/contracts/01890000-0000-7000-8000-0000000000aa')),
        );
        expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([403]));
        await server().schedules.run('audit-refusals');
        expect(await refusals(member.id)).to.have.length(1);
        await endHour();
        const [first, repeats, ...more] = await refusals(member.id);
        expect(more).to.deep.equal([]);
        expect(reported(first ?? never())).not.to.have.property('repeats');
        expect(reported(repeats ?? never())).to.deep.include({
          route: 'DELETE /contracts/:id',
          code: 'FORBIDDEN',
          needs: 'contract_delete (edit)',
          repeats: 59,
        });
        expect(answers.map(({ headers }) => headers.get('x-request-id'))).to.include(repeats?.requestId);
        await endHour();
        expect(await refusals(member.id), 'nothing is recorded twice').to.have.length(2);
      });

      it('cannot be flooded: refusals with varying fields are one row, and the next refusal is recorded at once', async () => {
        const { client, member } = await as('sales');
        const fields: string[] = [];
        for (let n = 0; n < 7; n++)
          fields.push(
            (
              await owner.post<FieldCommandResult>('/dynamic-fields/commands', {
                type: 'CreateField',
                payload: { name: `Fixed ${n}`, type: 'text', editableRoles: ['owner'] },
              })
            ).body.field.id,
          );
        const contract = aContract({ subjectId: made.subjectId, ownerId: made.owner.id });
        for (let n = 1; n <= 110; n++) {
          const dynamicFields = Object.fromEntries(
            fields.filter((_, bit) => (n >> bit) % 2 === 1).map((id) => [id, 'x']),
          );
          expect((await client.post('/contracts', { ...contract, dynamicFields })).status).to.equal(403);
        }
        expect(
          (await client.post('/tenant-admin/invitations', { email: 'eve@acme.test', roleCode: 'admin' })).status,
        ).to.equal(403);
        expect(
          (await refusals(member.id))
            .map((entry) => reported(entry))
            .map(({ route, code, needs }) => [route, code, needs]),
        ).to.deep.equal([
          ['POST /contracts', 'FIELD_NOT_EDITABLE', `{"fields":["${fields[0] ?? ''}"]}`],
          ['POST /tenant-admin/invitations', 'FORBIDDEN', 'admin (edit)'],
        ]);
        await endHour();
        const repeats = (await refusals(member.id)).map((entry) => reported(entry)).filter((row) => 'repeats' in row);
        expect(repeats.map(({ route, code, needs, repeats: times }) => [route, code, needs, times])).to.deep.equal([
          ['POST /contracts', 'FIELD_NOT_EDITABLE', undefined, 109],
        ]);
      });

      it('records requests without a signed-in caller as events of the platform', async () => {
        const refused = await server().client.post('/auth/refresh', undefined, {
          headers: { Cookie: 'service_tenant_refresh=whatever', Origin: 'https://evil.example' },
        });
        expect(refused.status).to.equal(403);
        const rows = await server().foundation.platform.read({ tenantId: null }, (tx) =>
          tx.all(
            "SELECT actor_id, actor_name, changes FROM audit_log WHERE action = 'access_refused' AND tenant_id IS NULL",
          ),
        );
        expect(rows).to.deep.equal([
          {
            actor_id: null,
            actor_name: 'unknown',
            changes: '{"route":"POST /auth/refresh","code":"ORIGIN_NOT_ALLOWED"}',
          },
        ]);
      });

      it('does not record requests that are refused for other reasons', async () => {
        const { client, member } = await as('viewer');
        for (const path of ['/contracts/01890000-0000-7000-8000-0000000000aa', '/nowhere', '/contracts?nothing=1'])
          expect((await client.get(path)).status).to.be.within(400, 404);
        expect(await refusals(member.id)).to.deep.equal([]);
      });

      it('records failed sign-ins the first time, when they lock the account, and as a count', async () => {
        const member = await makeMember(server().services, made);
        for (let n = 0; n < 10; n++)
          await server().client.post('/auth/login', {
            tenantSlug: made.tenant.slug,
            email: member.email,
            password: 'wrong-password',
          });
        const failures = async () =>
          (await owner.get<AuditPage>('/audit', { query: { record: member.id, action: 'login_failed' } })).body.items
            .toReversed()
            .map((entry) => reported(entry));
        expect(await failures()).to.deep.equal([{ reason: 'password' }, { reason: 'password', lockedForSeconds: 30 }]);
        await endHour();
        const [, , repeats, ...more] = await failures();
        expect(more).to.deep.equal([]);
        expect(repeats).to.include({ reason: 'password', repeats: 8 });
      });
    },
    { clock },
  );
});

function never(): never {
  throw new Error('there is no such row');
}
