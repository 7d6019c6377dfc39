import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { OPERATOR, PASSWORD } from '../support/accounts.js';
import { administration, openSession, type Administration } from '../support/administration.js';
import type { Answer, DomainError, FrameworkError } from '../support/http.js';
import { aContract } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

interface Member {
  id: string;
  name: string;
  email: string;
  roleCode: string;
  subjectScope: string[] | null;
  status: string;
  mfaEnrolled: boolean;
  lastLoginAt: string | null;
}

const refusal = ({ status, body }: Answer<DomainError>) => [status, body.error.code, body.error.details];

forEachServer(
  (server) => {
    describe('members', () => {
      let org: Administration;
      before(async () => {
        org = await administration(server());
      });
      const change = <T = Member>(id: string, body: object, client = org.asOwner) =>
        client.patch<T>(`/tenant-admin/members/${id}`, body);

      it('are listed without any data of their passwords', async () => {
        const member = await org.join({ roleCode: 'legal', subjectScope: [org.subjectId] });
        const { body, text } = await org.asOwner.get<Member[]>('/tenant-admin/members');
        expect(body.find(({ id }) => id === member.id)).to.deep.include({
          email: member.email,
          name: 'A legal',
          roleCode: 'legal',
          subjectScope: [org.subjectId],
          status: 'active',
          mfaEnrolled: false,
        });
        expect(body.find(({ id }) => id === member.id)?.lastLoginAt).to.match(/^\d{4}-.*Z$/);
        expect(text).not.to.match(/password|argon2|preferences/i);
      });

      it('have names of one to a hundred characters', async () => {
        const member = await org.join({ roleCode: 'viewer' });
        for (const name of ['李', 'N'.repeat(100)])
          expect((await change(member.id, { name })).body.name).to.equal(name);
        expect(
          (await org.asOwner.get<Member[]>('/tenant-admin/members')).body.find(({ id }) => id === member.id)?.name,
        ).to.equal('N'.repeat(100));
        for (const name of ['', 'N'.repeat(101)]) expect((await change(member.id, { name })).status).to.equal(400);
      });

      it('get another role, scope and name completely or not at all, effective from their next request', async () => {
        const member = await org.join({ roleCode: 'viewer' });
        const { body: contract } = await org.asOwner.post<{ id: string }>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
        );
        const rename = async () => (await member.client.patch(`/contracts/${contract.id}`, {})).status;
        expect(await rename()).to.equal(403);
        const changed = await change(member.id, { name: 'Nia New', roleCode: 'manager' });
        expect(changed.body).to.include({ name: 'Nia New', roleCode: 'manager', email: member.email });
        expect(await rename()).to.equal(200);
        await change(member.id, { subjectScope: [] });
        expect(await rename()).to.equal(404);
        expect((await member.client.get<{ counts: { all: number } }>('/payments/stats')).body.counts.all).to.equal(0);
        await change(member.id, { subjectScope: null });
        expect(await rename()).to.equal(200);
        expect((await change<DomainError>(member.id, { name: 'Half Done', roleCode: 'wizard' })).status).to.equal(422);
        expect(
          (await org.asOwner.get<Member[]>('/tenant-admin/members')).body.find(({ id }) => id === member.id)?.name,
        ).to.equal('Nia New');
        expect((await org.audit()).findLast(({ action }) => action === 'member_changed')?.changes).to.deep.equal({
          name: { from: 'A viewer', to: 'Nia New' },
          roleCode: { from: 'viewer', to: 'manager' },
        });
      });

      it('that are disabled are refused from the next request, and their tokens remain invalid', async () => {
        const member = await org.join({ roleCode: 'sales' });
        const { body: tokens } = await server().client.post<{ refreshToken: string }>('/auth/login', {
          tenantSlug: org.tenant.slug,
          email: member.email,
          password: PASSWORD,
        });
        expect((await change(member.id, { status: 'disabled' })).body.status).to.equal('disabled');
        expect((await member.client.get('/auth/me')).status).to.equal(401);
        expect((await server().client.post('/auth/refresh', { refreshToken: tokens.refreshToken })).status).to.equal(
          401,
        );
        expect(
          (
            await server().client.post('/auth/login', {
              tenantSlug: org.tenant.slug,
              email: member.email,
              password: PASSWORD,
            })
          ).status,
        ).to.equal(401);
        await change(member.id, { status: 'active' });
        expect((await member.client.get('/auth/me')).status, 'an ended session stays ended').to.equal(401);
        expect(
          (
            await server().client.post('/auth/login', {
              tenantSlug: org.tenant.slug,
              email: member.email,
              password: PASSWORD,
            })
          ).status,
        ).to.equal(200);
      });

      it('have a unique email, by which they then sign in', async () => {
        const [one, other] = [await org.join({ roleCode: 'sales' }), await org.join({ roleCode: 'sales' })];
        expect(refusal(await change<DomainError>(one.id, { email: other.email.toUpperCase() }))).to.deep.equal([
          409,
          'MEMBER_EXISTS',
          { email: other.email },
        ]);
        const email = `new-${one.email}`;
        expect((await change(one.id, { email: ` ${email.toUpperCase()} ` })).body.email).to.equal(email);
        expect(
          (await server().client.post('/auth/login', { tenantSlug: org.tenant.slug, email, password: PASSWORD }))
            .status,
        ).to.equal(200);
      });

      it('cannot raise their own rights, become the owner, or change the owner', async () => {
        const admin = await org.join({ roleCode: 'admin', subjectScope: [org.subjectId] });
        const member = await org.join({ roleCode: 'viewer' });
        const rows: readonly (readonly [what: string, id: string, body: object, expected: unknown[]])[] = [
          ['their own role', admin.id, { roleCode: 'viewer' }, [409, 'SELF_CHANGE_FORBIDDEN', {}]],
          ['their own scope', admin.id, { subjectScope: null }, [409, 'SELF_CHANGE_FORBIDDEN', {}]],
          ['their own status', admin.id, { status: 'disabled' }, [409, 'SELF_CHANGE_FORBIDDEN', {}]],
          ['themselves the owner', admin.id, { roleCode: 'owner' }, [409, 'SELF_CHANGE_FORBIDDEN', {}]],
          ['another member the owner', member.id, { roleCode: 'owner' }, [422, 'OWNER_TRANSFER_REQUIRED', {}]],
          ['the owner a viewer', org.owner.id, { roleCode: 'viewer' }, [409, 'LAST_OWNER', {}]],
          ['the owner disabled', org.owner.id, { status: 'disabled' }, [409, 'LAST_OWNER', {}]],
          ['the owner without scope', org.owner.id, { subjectScope: [] }, [409, 'LAST_OWNER', {}]],
          ["the owner's email", org.owner.id, { email: 'taken-over@example.test' }, [409, 'LAST_OWNER', {}]],
          [
            'an unknown role',
            member.id,
            { roleCode: 'wizard' },
            [
              422,
              'REFERENCE_INVALID',
              {
                field: 'roleCode',
                value: 'wizard',
                allowed: ['admin', 'manager', 'sales', 'legal', 'finance', 'viewer'],
              },
            ],
          ],
          [
            'a scope of unknown subject companies',
            member.id,
            { subjectScope: [org.subjectId, 'nothing'] },
            [422, 'REFERENCE_INVALID', { field: 'subjectScope[1]', value: 'nothing' }],
          ],
        ];
        for (const [what, id, body, expected] of rows)
          expect(refusal(await change<DomainError>(id, body, admin.client)), what).to.deep.equal(expected);
        // Unchanged values are accepted, and every administrator may change a name.
        expect(
          (
            await change(
              admin.id,
              { roleCode: 'admin', status: 'active', subjectScope: [org.subjectId], name: 'Ada Admin' },
              admin.client,
            )
          ).status,
        ).to.equal(200);
        expect((await change(org.owner.id, { name: 'Oleg Owner', roleCode: 'owner' }, admin.client)).status).to.equal(
          200,
        );
        expect((await change(org.owner.id, { email: `me-${org.owner.email}` })).status).to.equal(200);
      });

      it('refuse unknown fields and invalid values', async () => {
        const member = await org.join({ roleCode: 'viewer' });
        for (const [body, field] of [
          [{ passwordHash: 'x' }, 'passwordHash'],
          [{ tenantId: newId() }, 'tenantId'],
          [{ roleCode: null }, 'roleCode'],
          [{ email: 'nobody' }, 'email'],
          [{ status: 'gone' }, 'status'],
          [{ subjectScope: org.subjectId }, 'subjectScope'],
        ] as const) {
          const answer = await change<FrameworkError>(member.id, body);
          expect([answer.status, answer.body.message[0]?.split(' ')[0]]).to.deep.equal([400, field]);
        }
      });

      it('whose role is changed twice concurrently have one of both roles, recorded in order', async () => {
        const member = await org.join({ roleCode: 'viewer' });
        await Promise.all(['sales', 'legal', 'finance'].map((roleCode) => change(member.id, { roleCode })));
        const reported = (await org.audit())
          .filter(({ recordId, action }) => recordId === member.id && action === 'member_role_changed')
          .map(({ changes }) => changes['roleCode'] as { from: string; to: string });
        expect(reported.map(({ from }) => from)).to.deep.equal([
          'viewer',
          ...reported.slice(0, -1).map(({ to }) => to),
        ]);
        expect(
          (await org.asOwner.get<Member[]>('/tenant-admin/members')).body.find(({ id }) => id === member.id)?.roleCode,
        ).to.equal(reported.at(-1)?.to);
      });
    });

    describe('sessions of members', () => {
      let org: Administration;
      before(async () => {
        org = await administration(server());
      });
      const end = <T = unknown>(id: string, client = org.asOwner, headers: Record<string, string> = {}) =>
        client.delete<T>(`/tenant-admin/members/${id}/sessions`, undefined, { headers });
      const signedInAgain = async (email: string) => {
        const { body } = await server().client.post<{ accessToken: string; refreshToken: string }>('/auth/login', {
          tenantSlug: org.tenant.slug,
          email,
          password: PASSWORD,
        });
        return { client: server().client.as(body.accessToken), refreshToken: body.refreshToken };
      };

      it('are all ended at once by an administrator, and the member may sign in again', async () => {
        const admin = await org.join({ roleCode: 'admin' });
        const member = await org.join({ roleCode: 'sales' });
        const other = await signedInAgain(member.email);
        const bystander = await org.join({ roleCode: 'sales' });
        const answer = await end(member.id, admin.client);
        expect([answer.status, answer.body]).to.deep.equal([200, { ok: true }]);
        for (const client of [member.client, other.client]) expect((await client.get('/auth/me')).status).to.equal(401);
        expect((await server().client.post('/auth/refresh', { refreshToken: other.refreshToken })).status).to.equal(
          401,
        );
        expect((await bystander.client.get('/auth/me')).status).to.equal(200);
        expect((await (await signedInAgain(member.email)).client.get('/auth/me')).status).to.equal(200);
        expect((await org.audit()).findLast(({ action }) => action === 'member_sessions_ended')).to.deep.include({
          recordId: member.id,
          actorId: admin.id,
          changes: { sessionsRevoked: 2 },
        });
      });

      it("of an administrator are ended by another, those of the owner by the owner alone, and one's own all", async () => {
        const [admin, other] = [await org.join({ roleCode: 'admin' }), await org.join({ roleCode: 'admin' })];
        expect(refusal(await end<DomainError>(org.owner.id, admin.client))).to.deep.equal([409, 'LAST_OWNER', {}]);
        expect((await org.asOwner.get('/auth/me')).status).to.equal(200);
        expect((await end(other.id, admin.client)).status).to.equal(200);
        expect((await other.client.get('/auth/me')).status).to.equal(401);
        const second = await signedInAgain(admin.email);
        expect((await end(admin.id, admin.client)).status).to.equal(200);
        for (const client of [admin.client, second.client]) expect((await client.get('/auth/me')).status).to.equal(401);
        const own = await administration(server());
        expect((await own.asOwner.delete(`/tenant-admin/members/${own.owner.id}/sessions`)).status).to.equal(200);
        expect((await own.asOwner.get('/auth/me')).status).to.equal(401);
      });

      it('are not ended by members without administration rights, nor for members of other organisations', async () => {
        const [viewer, member] = [await org.join({ roleCode: 'viewer' }), await org.join({ roleCode: 'viewer' })];
        expect((await end<FrameworkError>(member.id, viewer.client)).body.message).to.equal(
          'admin (edit) is required; your role "viewer" has admin (none)',
        );
        const otherTenant = await administration(server());
        const answers = await Promise.all([otherTenant.owner.id, newId(), 'nobody'].map((id) => end(id)));
        expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).to.have.lengthOf(1);
        expect(answers[0]?.status).to.equal(404);
        for (const client of [otherTenant.asOwner, member.client])
          expect((await client.get('/auth/me')).status).to.equal(200);
      });

      it('are ended once under an idempotency key', async () => {
        const member = await org.join({ roleCode: 'viewer' });
        const headers = { 'Idempotency-Key': `end-${member.id}` };
        await end(member.id, org.asOwner, headers);
        const back = await signedInAgain(member.email);
        const again = await end(member.id, org.asOwner, headers);
        expect([again.body, again.headers.get('idempotency-replayed')]).to.deep.equal([{ ok: true }, 'true']);
        expect((await back.client.get('/auth/me')).status).to.equal(200);
      });
    });

    describe('a transfer of ownership', () => {
      let org: Administration;
      beforeEach(async () => {
        org = await administration(server());
      });
      const transfer = <T = { owner: Member; previousOwner: Member }>(newOwnerId: string, client = org.asOwner) =>
        client.post<T>('/tenant-admin/owner-transfer', { newOwnerId });

      it('changes both roles at once, and the sessions of both continue', async () => {
        const newOwner = await org.join({ roleCode: 'viewer', subjectScope: [] });
        const answer = await transfer(newOwner.id);
        expect(answer.body.owner).to.deep.include({ id: newOwner.id, roleCode: 'owner', subjectScope: null });
        expect(answer.body.previousOwner).to.deep.include({ id: org.owner.id, roleCode: 'admin' });
        expect((await newOwner.client.get<{ user: Member }>('/auth/me')).body.user.roleCode).to.equal('owner');
        expect((await org.asOwner.get<{ user: Member }>('/auth/me')).body.user.roleCode).to.equal('admin');
        expect((await org.audit()).findLast(({ action }) => action === 'owner_transferred')).to.deep.include({
          actorId: org.owner.id,
          changes: {
            ownerId: { from: org.owner.id, to: newOwner.id },
            previousRole: 'viewer',
            previousScope: [],
            sessionsRevoked: 0,
          },
        });
        // The new owner can now do what was refused before.
        expect(
          (await newOwner.client.patch(`/tenant-admin/members/${org.owner.id}`, { status: 'disabled' })).status,
        ).to.equal(200);
        expect((await org.asOwner.get('/auth/me')).status).to.equal(401);
      });

      it('notifies both by mail, or records in the audit that there is no mail server', async () => {
        const newOwner = await org.join({ roleCode: 'admin' });
        await transfer(newOwner.id);
        const reported = (await org.audit())
          .filter(({ action }) => action === 'mail_not_sent')
          .map(({ recordId, changes }) => [recordId, changes['template']]);
        expect(reported).to.have.deep.members([
          [org.owner.id, 'owner_transferred'],
          [newOwner.id, 'owner_transferred'],
        ]);
      });

      it('is allowed to the current owner only', async () => {
        const admin = await org.join({ roleCode: 'admin' });
        expect([
          (await transfer<FrameworkError>(admin.id, admin.client)).status,
          (await transfer<FrameworkError>(admin.id, admin.client)).body.message,
        ]).to.deep.equal([403, 'owner is required; your role is "admin"']);
        await transfer(admin.id);
        expect((await transfer(org.owner.id)).status, 'the previous owner').to.equal(403);
      });

      it('needs another active member of the organisation', async () => {
        const formerMember = await org.join({ roleCode: 'admin' });
        await server().services.tenants.members.setStatus(
          { tenantId: org.tenant.id, memberId: formerMember.id, status: 'disabled' },
          OPERATOR,
        );
        expect(refusal(await transfer<DomainError>(formerMember.id))).to.deep.equal([
          422,
          'SUCCESSOR_INVALID',
          { field: 'newOwnerId', reason: 'disabled' },
        ]);
        expect(refusal(await transfer<DomainError>(org.owner.id))).to.deep.equal([
          422,
          'SUCCESSOR_INVALID',
          { field: 'newOwnerId', reason: 'the same person' },
        ]);
        const otherTenant = await administration(server());
        for (const id of [otherTenant.owner.id, newId(), 'nobody'])
          expect(refusal(await transfer<DomainError>(id))).to.deep.equal([
            422,
            'REFERENCE_INVALID',
            { field: 'newOwnerId', value: id },
          ]);
      });

      it('to several members concurrently makes one of them the owner', async () => {
        const heirs = await Promise.all([1, 2, 3].map(() => org.join({ roleCode: 'admin' })));
        const answers = await Promise.all(heirs.map(({ id }) => transfer(id)));
        expect(answers.map(({ status }) => status)).to.have.members([200, 403, 403]);
        const owners = (await server().services.tenants.members.list(org.tenant.id)).filter(
          ({ roleCode }) => roleCode === 'owner',
        );
        expect(owners).to.have.length(1);
      });
    });
  },
  { env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } },
);

forEachServer(
  (server) => {
    describe('if the policy requires a second factor of admins', () => {
      it('a member without one cannot become the owner', async () => {
        const { services, foundation } = server();
        const { tenant, owner } = await services.tenants.create(
          {
            slug: `mfa-${newId().slice(-8)}`,
            name: 'Policy',
            planCode: 'enterprise',
            owner: { name: 'Olive', email: 'o@mfa.test', password: PASSWORD },
          },
          OPERATOR,
        );
        const newOwner = await services.tenants.members.add(
          { tenantId: tenant.id, email: 'h@mfa.test', name: 'Heir', roleCode: 'admin' },
          OPERATOR,
        );
        const sessionId = await openSession(foundation, { tenantId: tenant.id, memberId: owner.id });
        const actor = { ...OPERATOR, kind: 'user', id: owner.id, sessionId } as const;
        const transfer = () =>
          services.tenants.ownership.transfer({ tenantId: tenant.id, newOwnerId: newOwner.id }, actor);
        const refused: unknown = await transfer().catch((error: unknown) => error);
        expect(refused).to.deep.include({
          code: 'SUCCESSOR_INVALID',
          details: { field: 'newOwnerId', reason: 'no second factor' },
        });
        await foundation.platform.write({ tenantId: null }, (tx) =>
          tx.run(
            'INSERT INTO mfa_totp (tenant_id, member_id, secret_sealed, last_step, enrolled_at) VALUES (?, ?, ?, 0, 0)',
            [tenant.id, newOwner.id, 'v1.k.x.y'],
          ),
        );
        expect((await transfer()).owner).to.include({ id: newOwner.id, mfaEnrolled: true });
      });
    });
  },
  { env: { MFA_REQUIRED_FOR_ADMINS: 'true' } },
);
