import { expect } from 'chai';
import type { Value } from '../../data-plane-agent/base/database/database.js';
import { isFailure, type FailureCode } from '../../data-plane-agent/base/failures.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { WORKFLOW_STAGES } from '../../data-plane-agent/plane/contract/vocabulary.js';
import { FEATURES, MODULES, PLANS } from '../../server/access/permissions.js';
import { MemberStore } from '../../server/store/members.js';
import { TenantStore } from '../../server/store/tenants.js';
import { createPlans, parsePlanCatalog } from '../../server/access/plans.js';
import { BUILT_IN_ROLES } from '../../server/tenants/roles.js';
import type { Settings } from '../../server/access/settings.schemas.js';
import { DEFAULT_SETTINGS } from '../../server/access/settings.js';
import {
  makeMember,
  makeTenant,
  OPERATOR,
  serveIdentity,
  signIn,
  startIdentity,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';

/** The table of the specification: V view, E edit, – none. */
const MODULE_TABLE = `
owner E E E E E E E E E E
admin E E E E E E E E E E
manager E E E V V E E – V V
sales E E – V V – V – V –
legal E E – V V – – – V –
finance V – – E E E E – V V
viewer V – – V V – V – V –`;
const CONTROL_TABLE: Readonly<Record<string, string>> = {
  owner: 'admin admin admin admin admin admin admin admin',
  admin: 'admin admin admin admin admin admin admin admin',
  manager: 'approve approve approve sign edit approve approve view',
  legal: 'edit edit approve sign edit view view view',
  sales: 'edit edit edit view edit edit view view',
  finance: 'view view view view view view view view',
  viewer: 'view view view view view view view view',
};

describe('roles and plans', () => {
  it("have the modules of the specification's table", () => {
    const letters = { edit: 'E', view: 'V', none: '–' } as const;
    const rows = BUILT_IN_ROLES.map(({ code, permissions }) =>
      [code, ...MODULES.map((module) => letters[permissions[module]])].join(' '),
    );
    expect(`\n${rows.join('\n')}`).to.equal(MODULE_TABLE);
  });

  it("have the workflow controls of the specification's table", () => {
    const rows = Object.fromEntries(
      BUILT_IN_ROLES.map(({ code, workflowControls }) => [
        code,
        WORKFLOW_STAGES.map((stage) => workflowControls[stage]).join(' '),
      ]),
    );
    expect(rows).to.deep.equal(CONTROL_TABLE);
  });

  it('give API access from the business plan up, and in all plans of self-hosted installations', () => {
    const hosted = createPlans({ selfHosted: false });
    const own = createPlans({ selfHosted: true });
    const table = PLANS.map((plan) => [plan, FEATURES.filter((feature) => hosted.features(plan)[feature]).join(' ')]);
    expect(Object.fromEntries(table)).to.deep.equal({
      free: '',
      pro: 'workflowAutomation customFields',
      business: 'apiAccess workflowAutomation customFields aiGateway',
      enterprise: 'apiAccess workflowAutomation customFields aiGateway',
    });
    for (const plan of PLANS) expect(own.features(plan)).to.deep.equal({ ...hosted.features(plan), apiAccess: true });
  });

  it("name the plans that have a feature when it is refused, with the operator's command on self-hosted installations", () => {
    const refusal = { feature: 'aiGateway', tenantSlug: 'acme' } as const;
    const plans = ['business', 'enterprise'];
    expect(createPlans({ selfHosted: false }).refusal(refusal)).to.deep.equal({ feature: 'aiGateway', plans });
    expect(createPlans({ selfHosted: true }).refusal(refusal)).to.deep.equal({
      feature: 'aiGateway',
      plans,
      command: 'duebook tenants set-plan acme business',
    });
    const none = { name: 'X', features: [] };
    const catalog = { free: none, pro: none, business: none, enterprise: none };
    expect(createPlans({ catalog, selfHosted: true }).refusal(refusal)).to.deep.equal({
      feature: 'aiGateway',
      plans: [],
    });
  });

  it('can be replaced by a custom catalogue, which must name every plan', () => {
    const plan = { name: 'X', features: ['customFields'] };
    const whole = parsePlanCatalog(JSON.stringify({ free: plan, pro: plan, business: plan, enterprise: plan }));
    expect(
      whole.ok && createPlans({ catalog: whole.catalog, selfHosted: false }).features('free').customFields,
    ).to.equal(true);
    for (const bad of [
      '{',
      '[]',
      JSON.stringify({ free: plan }),
      JSON.stringify({ free: plan, pro: plan, business: plan, enterprise: { name: 'X', features: ['security'] } }),
    ]) {
      expect(parsePlanCatalog(bad).ok, bad).to.equal(false);
    }
  });
});

describe('tenants', () => {
  forEachDatabase((kind, fresh) => {
    let identity: TestIdentity;
    before(async () => {
      identity = await startIdentity((await fresh()).database);
    });

    const failsWith = async (work: Promise<unknown>, code: FailureCode) => {
      const error: unknown = await work.then(
        () => undefined,
        (caught: unknown) => caught,
      );
      expect(isFailure(error, code), `${code}, not ${String(error)}`).to.equal(true);
    };

    it('start with the built-in roles and the default settings', async () => {
      const { tenant } = await makeTenant(identity);
      const roles = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT code, built_in FROM roles WHERE tenant_id = ? ORDER BY position', [tenant.id]),
      );
      expect(roles.map((row) => row['code'])).to.deep.equal([
        'owner',
        'admin',
        'manager',
        'sales',
        'legal',
        'finance',
        'viewer',
      ]);
      expect(await identity.tenants.updateSettings({ tenantId: tenant.id, settings: {} }, OPERATOR)).to.deep.equal(
        DEFAULT_SETTINGS,
      );
    });

    it('are created completely or not at all', async () => {
      const { tenant } = await makeTenant(identity);
      const count = () =>
        identity.database.read({ tenantId: null }, (tx) =>
          tx.get(
            'SELECT (SELECT COUNT(*) FROM tenants) AS t, (SELECT COUNT(*) FROM roles) AS r, (SELECT COUNT(*) FROM members) AS m, (SELECT COUNT(*) FROM subjects) AS s',
          ),
        );
      const before = await count();
      await failsWith(makeTenant(identity, { slug: tenant.slug }), 'TENANT_SLUG_TAKEN');
      expect(await count()).to.deep.equal(before);
    });

    it('refuse settings out of range and name them', async () => {
      const { tenant } = await makeTenant(identity);
      const bad: Partial<Settings>[] = [
        { timezone: 'Mars/Olympus' },
        { timezone: '+08:00' },
        { defaultLanguage: 'not a language' },
        { supportedLanguages: ['en', '???'] },
        { defaultCurrency: 'XXY' },
        { firstDayOfWeek: 7 },
        { reminderLeadDays: 91 },
        { reminderLeadDays: -1 },
        { reminderHour: 24 },
        { reminderEscalationDays: 1.5 },
        { calendarSystem: 'mayan' },
      ];
      for (const settings of bad) {
        const error: unknown = await Promise.resolve()
          .then(() => identity.tenants.updateSettings({ tenantId: tenant.id, settings }, OPERATOR))
          .then(
            () => undefined,
            (caught: unknown) => caught,
          );
        expect(isFailure(error, 'INVALID_INPUT') && error.details.issues[0]?.path, JSON.stringify(settings)).to.match(
          new RegExp(`^${Object.keys(settings)[0] ?? ''}`),
        );
      }
    });

    it('keep two concurrent changes of different settings', async () => {
      const { tenant } = await makeTenant(identity);
      const change = (settings: Partial<Settings>) =>
        identity.tenants.updateSettings({ tenantId: tenant.id, settings }, OPERATOR);
      await Promise.all([
        change({ reminderHour: 8 }),
        change({ reminderLeadDays: 3 }),
        change({ defaultCurrency: 'EUR' }),
        change({ localeRegion: 'DE' }),
      ]);
      expect(await change({})).to.deep.include({
        reminderHour: 8,
        reminderLeadDays: 3,
        defaultCurrency: 'EUR',
        localeRegion: 'DE',
      });
    });

    it('have one member per email, one owner, and existing roles and subjects only', async () => {
      const made = await makeTenant(identity);
      const member = await makeMember(identity, made);
      const who = { tenantId: made.tenant.id, memberId: member.id };
      const { members } = identity.tenants;
      await failsWith(makeMember(identity, made, { email: ` ${member.email.toUpperCase()} ` }), 'MEMBER_EXISTS');
      await failsWith(makeMember(identity, made, { roleCode: 'owner' }), 'OWNER_TRANSFER_REQUIRED');
      await failsWith(makeMember(identity, made, { roleCode: 'wizard' }), 'REFERENCE_INVALID');
      await failsWith(makeMember(identity, made, { subjectScope: ['nonsense'] }), 'REFERENCE_INVALID');
      await failsWith(members.setRole({ ...who, roleCode: 'owner' }, OPERATOR), 'OWNER_TRANSFER_REQUIRED');
      await failsWith(
        members.setStatus({ ...who, memberId: made.owner.id, status: 'disabled' }, OPERATOR),
        'LAST_OWNER',
      );
      await failsWith(members.setRole({ ...who, memberId: made.owner.id, roleCode: 'viewer' }, OPERATOR), 'LAST_OWNER');
      const other = await makeTenant(identity);
      await failsWith(
        members.setRole({ tenantId: other.tenant.id, memberId: member.id, roleCode: 'sales' }, OPERATOR),
        'NOT_FOUND',
      );
      await failsWith(makeMember(identity, made, { subjectScope: [other.subjectId] }), 'REFERENCE_INVALID');
    });

    if (kind === 'postgres') {
      it('are locked by a change without blocking writes of rows that refer to them', async () => {
        const { tenant, owner } = await makeTenant(identity);
        const refer = (sql: string, values: Value[]) =>
          identity.database.write({ tenantId: null }, async (tx) => {
            await tx.run("SET LOCAL lock_timeout = '1s'");
            await tx.run(sql, values);
          });
        await identity.database.write({ tenantId: null }, async (tx) => {
          expect(await new TenantStore(tx).lock(tenant.id)).to.include({ id: tenant.id });
          expect(await new MemberStore(tx, tenant.id).lock(owner.id)).to.include({ id: owner.id });
          const at = identity.clock.now();
          await refer(
            "INSERT INTO mail_outbox (id, tenant_id, template, language, recipient, status, attempts, next_at, created_at, updated_at) VALUES (?, ?, 'invitation', 'en', 'ann@acme.test', 'void', 0, ?, ?, ?)",
            [newId(), tenant.id, at, at, at],
          );
          await refer(
            'INSERT INTO password_resets (account_hash, token_hash, tenant_id, member_id, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?)',
            [tenant.id, tenant.id, tenant.id, owner.id, at, at],
          );
        });
      });
    }

    it('record changes in the audit, with values before and after', async () => {
      const made = await makeTenant(identity);
      const member = await makeMember(identity, made);
      await identity.tenants.members.setRole(
        { tenantId: made.tenant.id, memberId: member.id, roleCode: 'sales' },
        OPERATOR,
      );
      await identity.tenants.operator.setPlan({ slug: made.tenant.slug, planCode: 'pro' }, OPERATOR);
      const rows = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT action, actor_name, changes FROM audit_log WHERE tenant_id = ? ORDER BY id', [made.tenant.id]),
      );
      expect(rows.map((row) => row['action'])).to.deep.equal([
        'tenant_created',
        'member_added',
        'member_role_changed',
        'tenant_plan_changed',
      ]);
      expect(JSON.parse(String(rows[2]?.['changes']))).to.deep.equal({ roleCode: { from: 'viewer', to: 'sales' } });
      expect(JSON.stringify(rows)).not.to.match(/argon2/);
    });

    it('list their members and subject companies in an up-to-date directory', async () => {
      const made = await makeTenant(identity);
      const first = await identity.directory.of(made.tenant.id);
      expect(first.subjectName(made.subjectId)).to.equal(made.tenant.name);
      expect(first.memberName(made.owner.id)).to.equal('Olive Owner');
      const subject = await identity.tenants.subjects.add({ tenantId: made.tenant.id, name: 'Second' }, OPERATOR);
      const member = await makeMember(identity, made);
      const second = await identity.directory.of(made.tenant.id);
      expect([
        second.hasSubject(subject.id),
        second.hasActiveMember(member.id),
        second.memberName('nobody'),
        second.hasSubject('nothing'),
      ]).to.deep.equal([true, true, null, false]);
      await identity.tenants.members.setStatus(
        { tenantId: made.tenant.id, memberId: member.id, status: 'disabled' },
        OPERATOR,
      );
      const third = await identity.directory.of(made.tenant.id);
      expect([third.hasActiveMember(member.id), third.memberName(member.id)]).to.deep.equal([false, 'A viewer']);
      expect((await identity.directory.of((await makeTenant(identity)).tenant.id)).hasSubject(subject.id)).to.equal(
        false,
      );
    });

    it("apply another replica's changes at once, in the directory and to callers", async () => {
      const made = await makeTenant(identity);
      const member = await makeMember(identity, made);
      const replica = await startIdentity(identity.database, identity.options);
      const app = await serveIdentity(replica);
      try {
        const { client } = await signIn(app.client, { ...made, member });
        expect((await client.get('/auth/me')).status).to.equal(200);
        const { client: colleague } = await signIn(app.client, { ...made, member: made.owner });
        expect((await replica.directory.of(made.tenant.id)).hasActiveMember(member.id)).to.equal(true);
        await identity.tenants.members.setStatus(
          { tenantId: made.tenant.id, memberId: member.id, status: 'disabled' },
          OPERATOR,
        );
        expect((await client.get('/auth/me')).status).to.equal(401);
        // Also a request of another session, after which the directory has the change.
        expect((await colleague.get('/auth/me')).status).to.equal(200);
        expect((await replica.directory.of(made.tenant.id)).hasActiveMember(member.id)).to.equal(false);
      } finally {
        await app.stop();
      }
    });
  });
});
