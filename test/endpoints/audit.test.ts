import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { AuditEntry } from '../../data-plane-agent/base/audit/records.js';
import type { AuditPage } from '../../data-plane-agent/plane/contract/records/audit.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createAuditChaining } from '../../server/audit/chaining.js';
import { eachTenant } from '../../server/data-planes/each-tenant.js';
import { verifyChain } from '../../server/audit/verify.js';
import { makeMember, makeTenant, OPERATOR, PASSWORD, signIn, type MadeTenant } from '../support/accounts.js';
import type { Client, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

describe('GET /audit', () => {
  forEachServer(
    (server, kind) => {
      let org: MadeTenant;
      let owner: Client;
      const audit = async (query: Record<string, string | number> = {}, client = owner) => {
        const answer = await client.get<AuditPage>('/audit', { query });
        expect(answer.status, answer.text).to.equal(200);
        return answer.body;
      };
      const actions = async (query: Record<string, string | number> = {}, client = owner) =>
        (await audit({ pageSize: 200, ...query }, client)).items.map(({ action }) => action);
      /** Chains both planes as the scheduled job does, without its lease. */
      const chain = async (
        audit = server().services.audit,
        log = createLog({ level: 'silent', name: 'test' }),
      ): Promise<void> => {
        const { platform, dataPlanes } = server().foundation;
        await createAuditChaining({ audit, log })();
        await eachTenant(
          { database: platform, clock: systemClock, dataPlanes, log },
          { job: 'audit-chain', step: (plane) => plane.chainAudit({}) },
        );
      };

      before(async () => {
        org = await makeTenant(server().services);
        ({ client: owner } = await signIn(server().client, { tenant: org.tenant, member: org.owner }));
      });

      it('lists failed and successful sign-ins, newest first, with actor, address and request', async () => {
        await server().client.post(
          '/auth/login',
          { tenantSlug: org.tenant.slug, email: org.owner.email, password: 'wrong-password' },
          { headers: { 'X-Request-Id': 'request-of-a-guesser' } },
        );
        const [latest] = (await audit()).items;
        expect(latest).to.include({
          action: 'login_failed',
          actorKind: 'user',
          actorId: org.owner.id,
          actorName: 'Olive Owner',
          requestId: 'request-of-a-guesser',
          recordKind: 'member',
          recordId: org.owner.id,
        });
        expect(latest?.ip).to.match(/127\.0\.0\.1$/);
        expect((await actions()).toReversed().slice(0, 2)).to.deep.equal(['tenant_created', 'login_succeeded']);
      });

      it('lists changed fields with the values before and after', async () => {
        await server().services.tenants.updateSettings(
          { tenantId: org.tenant.id, settings: { reminderLeadDays: 21 } },
          OPERATOR,
        );
        const [latest] = (await audit({ record: org.tenant.id })).items;
        expect(latest?.changes).to.deep.equal([
          { recordKind: latest?.recordKind, recordId: org.tenant.id, field: 'reminderLeadDays', before: 7, after: 21 },
        ]);
        expect(latest).to.include({ actorKind: 'cli', actorId: null, ip: null, changeCount: 1 });
      });

      it('is filtered by actor, record, action and time', async () => {
        const member = await makeMember(server().services, org, { roleCode: 'sales' });
        await signIn(server().client, { tenant: org.tenant, member });
        expect(await actions({ actor: member.id })).to.deep.equal(['login_succeeded']);
        expect(await actions({ record: member.id })).to.deep.equal(['member_added']);
        expect(new Set(await actions({ action: 'login_succeeded' }))).to.deep.equal(new Set(['login_succeeded']));
        expect(await actions({ actor: newId() })).to.deep.equal([]);
        const [{ createdAt } = { createdAt: '' }] = (await audit({ actor: member.id })).items;
        expect(await actions({ actor: member.id, from: createdAt })).to.have.length(1);
        expect(await actions({ actor: member.id, to: createdAt })).to.have.length(0);
        const [day = ''] = createdAt.split('T');
        expect(await actions({ actor: member.id, from: day, to: day })).to.have.length(1);
        expect(await actions({ actor: member.id, to: '2020-02-29' })).to.have.length(0);
        expect(await actions({ actor: member.id, from: '2020-02-29T00:00:00+08:00' })).to.have.length(1);
      });

      it('is paginated, with an exact total', async () => {
        const whole = await audit({ pageSize: 200 });
        const second = await audit({ page: 2, pageSize: 2 });
        expect(second).to.include({ page: 2, pageSize: 2, total: whole.total, pageCount: Math.ceil(whole.total / 2) });
        expect(second.items.map(({ id }) => id)).to.deep.equal(whole.items.slice(2, 4).map(({ id }) => id));
        expect((await audit({ page: 999 })).items).to.deep.equal([]);
      });

      it('refuses invalid times, and finds nothing for an invalid id', async () => {
        for (const [name, value] of [
          ['from', '2026-02-30'],
          ['to', 'tomorrow'],
          ['from', '2026-03-31T12:00:00'],
          ['to', '1969-12-31'],
          ['from', '2026-13-01T00:00:00Z'],
          ['from', '9999-12-31'],
          ['to', '2026-03-31T25:00:00Z'],
        ] as const) {
          const answer = await owner.get<FrameworkError>('/audit', { query: { [name]: value } });
          expect([answer.status, answer.body.message], value).to.deep.equal([
            400,
            [`${name} must be a day like 2026-03-31 or an instant like 2026-03-31T12:00:00Z, from 1970 on`],
          ]);
        }
        for (const query of [{ actor: 'me' }, { record: '1' }, { actor: 'me', source: 'data' }])
          expect((await owner.get('/audit', { query })).status).to.equal(404);
      });

      it('is available to administrators only, for their own organisation', async () => {
        const { client: viewer } = await signIn(server().client, {
          tenant: org.tenant,
          member: await makeMember(server().services, org),
        });
        for (const source of ['platform', 'data'])
          expect((await viewer.get('/audit', { query: { source } })).status).to.equal(403);
        const other = await makeTenant(server().services);
        const { client: otherTenant } = await signIn(server().client, { tenant: other.tenant, member: other.owner });
        expect((await audit({ pageSize: 200 }, otherTenant)).items.map(({ action }) => action)).to.deep.equal([
          'login_succeeded',
          'tenant_created',
        ]);
        expect(await actions({ actor: org.owner.id }, otherTenant)).to.deep.equal([]);
        expect(await actions({ source: 'data' }, otherTenant)).to.deep.equal([]);
      });

      it("lists changes of contracts with source=data, in the caller's scope", async () => {
        const subject = await server().services.tenants.subjects.add(
          { tenantId: org.tenant.id, name: 'Second' },
          OPERATOR,
        );
        const created = await owner.post<{ id: string }>(
          '/contracts',
          aContract({ subjectId: org.subjectId, ownerId: org.owner.id }),
        );
        expect(created.status, created.text).to.equal(201);
        await owner.patch(`/contracts/${created.body.id}`, { projectName: 'Renamed' });
        expect(await actions({ source: 'data', record: created.body.id })).to.deep.equal([
          'updateContract',
          'createContract',
        ]);
        const [latest] = (await audit({ source: 'data', record: created.body.id })).items;
        expect(latest).to.include({ actorId: org.owner.id, recordKind: 'contract' });
        expect(latest?.changes.map(({ field, after }) => [field, after])).to.deep.include(['projectName', 'Renamed']);

        const line = await owner.post<{ id: string }>(
          `/contracts/${created.body.id}/payments`,
          aLine({ amount: 700.5 }),
        );
        expect(line.status, line.text).to.equal(201);
        await owner.patch(`/payments/${line.body.id}/receipt`, { receivedAmount: 5 });
        const [receipt] = (await audit({ source: 'data', record: created.body.id })).items;
        expect(receipt?.changes).to.deep.include({
          recordKind: 'payment_line',
          recordId: line.body.id,
          field: 'receivedAmount',
          before: 0,
          after: 5,
          currencyCode: 'CNY',
        });

        const narrow = await makeMember(server().services, org, { roleCode: 'admin', subjectScope: [subject.id] });
        const { client } = await signIn(server().client, { tenant: org.tenant, member: narrow });
        expect(await actions({ source: 'data', record: created.body.id }, client)).to.deep.equal([]);
        expect((await client.get('/audit', { query: { source: 'data' } })).text).not.to.contain(created.body.id);
      });

      it('never contains a password, a token or a code', async () => {
        const { result } = await signIn(server().client, { tenant: org.tenant, member: org.owner });
        const text = JSON.stringify((await audit({ pageSize: 200 })).items);
        for (const secret of [PASSWORD, 'wrong-password', result.accessToken, result.refreshToken])
          expect(text).not.to.contain(secret);
      });

      it('chains the events of every organisation on both planes, and those of the platform, verifiably', async () => {
        await server().client.post('/auth/login', {
          tenantSlug: 'no-such-tenant',
          email: 'a@b.test',
          password: 'wrong-password',
        });
        // Concurrently, as several replicas would.
        await Promise.all([chain(), chain(), chain()]);
        await chain();
        const { services } = server();
        for (const chain of ['platform', org.tenant.id]) {
          const { events, faults, waiting } = await verifyChain(
            (from, until) => services.audit.check(chain, from, until),
            { holdsSome: true },
          );
          expect({ faults, waiting }).to.deep.equal({ faults: [], waiting: 0 });
          expect(events).to.be.greaterThan(0);
        }
        for (const source of ['platform', 'data']) {
          const { items } = await audit({ source, pageSize: 200 });
          expect(items.map(({ position }) => position).toSorted((a, b) => Number(a) - Number(b))).to.deep.equal(
            items.map((_, index) => index + 1),
          );
        }
      });

      it('continues to chain the others if one chain fails', async () => {
        const [broken, intact] = [await makeTenant(server().services), await makeTenant(server().services)];
        const failing = {
          ...server().services.audit,
          chain: (chain: string) =>
            chain === broken.tenant.id
              ? Promise.reject(new Error('the row is locked'))
              : server().services.audit.chain(chain),
        };
        const logged: string[] = [];
        const log = createLog({
          level: 'error',
          name: 'test',
          destination: { write: (line) => void logged.push(line) },
        });
        await chain(failing, log);
        expect((await services().check(intact.tenant.id)).waiting).to.equal(0);
        expect(logged.join('')).to.contain(broken.tenant.id).and.to.contain('audit chain not extended');
      });

      if (kind !== 'postgres') {
        it('is chained by the server within ten seconds', async () => {
          const made = await makeTenant(server().services);
          const { client } = await signIn(server().client, { tenant: made.tenant, member: made.owner });
          const began = performance.now();
          let items: readonly AuditEntry[] = [];
          do {
            await sleep(100);
            ({ items } = await audit({}, client));
          } while (items.some(({ position }) => position === null) && performance.now() - began < 15_000);
          expect(items.map(({ position }) => position)).to.deep.equal([2, 1]);
        });
      }

      const services = () => server().services.audit;
    },
    { env: { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_IP: '0' } },
  );
});
