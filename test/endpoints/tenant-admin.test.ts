import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { isSocialCreditCode } from '../../server/tenants/tax-no.js';
import { DEFAULT_SETTINGS } from '../../server/access/settings.js';
import { administration, type Administration } from '../support/administration.js';
import type { DomainError, FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

interface Subject {
  id: string;
  name: string;
  legalName: string | null;
  taxNo: string | null;
  warnings: { code: string }[];
}
interface Role {
  code: string;
  memberCount: number;
  permissions: Record<string, string>;
  workflowControls: Record<string, string>;
}
interface Steps {
  completed: boolean;
  steps: { key: string; done: boolean }[];
}

const refusal = ({ status, body }: { status: number; body: DomainError }) => [
  status,
  body.error.code,
  body.error.details,
];

forEachServer((server) => {
  let org: Administration;
  beforeEach(async () => {
    org = await administration(server());
  });

  describe('settings of an organisation', () => {
    it('have defaults, and a partial change keeps the others', async () => {
      expect((await org.asOwner.get('/tenant-admin/settings')).body).to.deep.equal(DEFAULT_SETTINGS);
      const changed = await org.asOwner.patch('/tenant-admin/settings', {
        timezone: 'Asia/Shanghai',
        localeRegion: 'CN',
        supportedLanguages: ['zh-CN'],
        reminderEscalationDays: 0,
      });
      const settings = {
        ...DEFAULT_SETTINGS,
        timezone: 'Asia/Shanghai',
        localeRegion: 'CN',
        supportedLanguages: ['zh-CN'],
        reminderEscalationDays: 0,
      };
      expect([changed.status, changed.body]).to.deep.equal([200, settings]);
      expect((await org.asOwner.patch('/tenant-admin/settings', { localeRegion: null })).body).to.deep.equal({
        ...settings,
        localeRegion: null,
      });
      expect((await org.audit()).at(-1)).to.deep.include({
        action: 'tenant_settings_changed',
        actorId: org.owner.id,
        changes: { localeRegion: { from: 'CN', to: null } },
      });
    });

    it('out of bounds are reported, each once', async () => {
      const bad = {
        timezone: 'Mars/Olympus',
        reminderLeadDays: 91,
        reminderHour: 24,
        firstDayOfWeek: 7,
        displayCurrency: 'QQQ',
        currencyDisplayMode: 'both ways',
        supportedLanguages: null,
        ownerScopeEnabled: 'yes',
        defaultLanguage: '???',
        calendarSystem: 'mayan',
        localeRegion: '!',
      };
      const refused = await org.asOwner.patch<FrameworkError>('/tenant-admin/settings', bad);
      expect(refused.status).to.equal(400);
      expect([refused.body.message].flat().map((line) => line.split(' ')[0])).to.have.members(Object.keys(bad));
      const second = await org.asOwner.patch<FrameworkError>('/tenant-admin/settings', {
        supportedLanguages: ['en', 'e'],
      });
      expect(second.body.message).to.deep.equal([
        'supportedLanguages[1] must be the BCP 47 tag of a known language, like zh-CN',
      ]);
      expect((await org.asOwner.get('/tenant-admin/settings')).body).to.deep.equal(DEFAULT_SETTINGS);
    });

    it('leave no trace of a change that changes nothing', async () => {
      const before = await org.audit();
      expect((await org.asOwner.patch('/tenant-admin/settings', { timezone: 'UTC' })).status).to.equal(200);
      expect((await org.asOwner.patch('/tenant-admin/settings')).status).to.equal(200);
      expect(await org.audit()).to.deep.equal(before);
    });

    it('apply from the next request: sales see only their own contracts as soon as the owner scope is enabled', async () => {
      const seller = await org.join({ roleCode: 'sales' });
      const own = await org.asOwner.post<{ id: string }>(
        '/contracts',
        aContract({ subjectId: org.subjectId, ownerId: seller.id, payments: [aLine()] }),
      );
      const other = await org.asOwner.post<{ id: string }>(
        '/contracts',
        aContract({ subjectId: org.subjectId, ownerId: org.owner.id, payments: [aLine()] }),
      );
      const seen = async () => {
        const { items, total } = (await seller.client.get<{ items: { id: string }[]; total: number }>('/contracts'))
          .body;
        const lines = (await seller.client.get<{ total: number }>('/payments', { query: { tab: 'all' } })).body.total;
        const { counts } = (await seller.client.get<{ counts: { all: number } }>('/payments/stats')).body;
        const edit = (await seller.client.patch(`/contracts/${other.body.id}`, {})).status;
        return { ids: items.map(({ id }) => id).toSorted(), total, lines, stats: counts.all, edit };
      };
      expect(await seen()).to.deep.equal({
        ids: [own.body.id, other.body.id].toSorted(),
        total: 2,
        lines: 2,
        stats: 2,
        edit: 200,
      });
      await org.asOwner.patch('/tenant-admin/settings', { ownerScopeEnabled: true });
      expect(await seen()).to.deep.equal({ ids: [own.body.id], total: 1, lines: 1, stats: 1, edit: 404 });
      await org.asOwner.patch('/tenant-admin/settings', { ownerScopeEnabled: false });
      expect((await seen()).total).to.equal(2);
    });

    it('include the onboarding steps that are done', async () => {
      const open = async () => {
        const { body } = await org.asOwner.get<Steps>('/tenant-admin/bootstrap-status');
        expect(body.steps.map(({ key }) => key)).to.deep.equal([
          'subject',
          'members',
          'channel',
          'roles',
          'lifecycle',
          'settings',
        ]);
        expect(body.completed).to.equal(body.steps.every(({ done }) => done));
        return body.steps.filter(({ done }) => !done).map(({ key }) => key);
      };
      expect(await open()).to.deep.equal(['members', 'channel', 'settings']);
      await org.join({ roleCode: 'sales' });
      await org.asOwner.post('/tenant-admin/notification-channels', { kind: 'email', enabled: false });
      await org.asOwner.patch('/tenant-admin/settings', { reminderHour: 8 });
      expect(await open()).to.deep.equal(['channel']);
      await org.asOwner.post('/tenant-admin/notification-channels', { kind: 'email' });
      expect(await open()).to.deep.equal([]);
    });
  });

  describe('subject companies', () => {
    it('are added, listed, changed and removed', async () => {
      const added = await org.asOwner.post<Subject>('/tenant-admin/subjects', {
        name: ' North  ',
        legalName: 'North Ltd',
        defaultPayeeAccount: '6222 0000 1234',
      });
      expect([added.status, added.body]).to.deep.equal([
        201,
        {
          ...added.body,
          name: 'North',
          legalName: 'North Ltd',
          taxNo: null,
          defaultPayeeAccount: '6222 0000 1234',
          defaultPayeeBank: null,
          warnings: [],
        },
      ]);
      const path = `/tenant-admin/subjects/${added.body.id}`;
      const changed = await org.asOwner.patch<Subject>(path, {
        legalName: null,
        defaultPayeeAccount: '6222 0000 9999',
      });
      expect(changed.body).to.include({ name: 'North', legalName: null });
      expect((await org.audit()).at(-1)?.changes).to.deep.equal({
        legalName: { from: 'North Ltd', to: null },
        defaultPayeeAccount: { from: '****1234', to: '****9999' },
      });
      const { warnings: _, ...record } = changed.body;
      expect((await org.asOwner.get<Subject[]>('/tenant-admin/subjects')).body.at(-1)).to.deep.equal(record);
      expect((await org.asOwner.patch<FrameworkError>(path, { name: null })).status).to.equal(400);
      expect((await org.asOwner.delete(path)).body).to.deep.equal({ ok: true });
      expect((await org.asOwner.delete(path)).status).to.equal(404);
      expect((await org.asOwner.patch(path, { name: 'Gone' })).status).to.equal(404);
    });

    it('with an implausible tax number are accepted with a warning', async () => {
      const warned = async (taxNo: string) =>
        (await org.asOwner.post<Subject>('/tenant-admin/subjects', { name: 'X', taxNo })).body.warnings.map(
          ({ code }) => code,
        );
      expect(await warned('91350100M000100Y43')).to.deep.equal([]);
      for (const wrong of ['91350100M000100Y44', '91350100M000100Y4I', '19350100M000100Y43'])
        expect(await warned(wrong), wrong).to.deep.equal(['TAX_NO_CHECKSUM']);
      for (const other of ['DE136695976', '440301999999990', '91350100M000100Y4'])
        expect(await warned(other), other).to.deep.equal([]);
    });

    it('are not removed while they have contracts, nor if they are the last one', async () => {
      expect(refusal(await org.asOwner.delete<DomainError>(`/tenant-admin/subjects/${org.subjectId}`))).to.deep.equal([
        409,
        'LAST_SUBJECT',
        {},
      ]);
      const { body: second } = await org.asOwner.post<Subject>('/tenant-admin/subjects', { name: 'Second' });
      const contracts = await Promise.all(
        [1, 2].map(() =>
          org.asOwner.post<{ id: string }>('/contracts', aContract({ subjectId: second.id, ownerId: org.owner.id })),
        ),
      );
      // This also applies to an administrator who may not see the contracts.
      const outOfScope = await org.join({ roleCode: 'admin', subjectScope: [org.subjectId] });
      for (const client of [org.asOwner, outOfScope.client])
        expect(refusal(await client.delete<DomainError>(`/tenant-admin/subjects/${second.id}`))).to.deep.equal([
          409,
          'SUBJECT_IN_USE',
          { count: 2 },
        ]);
      // Contracts in the trash may be restored.
      for (const { body } of contracts) await org.asOwner.delete(`/contracts/${body.id}`);
      expect(refusal(await org.asOwner.delete<DomainError>(`/tenant-admin/subjects/${second.id}`))).to.deep.equal([
        409,
        'SUBJECT_IN_USE',
        { count: 2 },
      ]);
    });

    it('that cannot be removed accept contracts as before', async () => {
      expect((await org.asOwner.delete(`/tenant-admin/subjects/${org.subjectId}`)).status).to.equal(409);
      expect(
        (await org.asOwner.post('/contracts', aContract({ subjectId: org.subjectId, ownerId: org.owner.id }))).status,
      ).to.equal(201);
    });

    it('are removed only without concurrently created records', async () => {
      for (let round = 0; round < 8; round++) {
        const { body: subject } = await org.asOwner.post<Subject>('/tenant-admin/subjects', {
          name: `Fleeting ${round}`,
        });
        const enter = () => org.asOwner.post('/contracts', aContract({ subjectId: subject.id, ownerId: org.owner.id }));
        const [removed, ...entered] = await Promise.all([
          org.asOwner.delete(`/tenant-admin/subjects/${subject.id}`),
          enter(),
          enter(),
          enter(),
        ]);
        const made = entered.filter(({ status }) => status === 201).length;
        expect([removed.status, made > 0], `round ${round}`).to.deep.equal(
          removed.status === 200 ? [200, false] : [409, true],
        );
        expect(entered.filter(({ status }) => status !== 201 && status !== 422)).to.deep.equal([]);
      }
    });

    it('of two removed concurrently one remains', async () => {
      const { body: second } = await org.asOwner.post<Subject>('/tenant-admin/subjects', { name: 'Second' });
      const answers = await Promise.all(
        [org.subjectId, second.id].map((id) => org.asOwner.delete(`/tenant-admin/subjects/${id}`)),
      );
      expect(answers.map(({ status }) => status)).to.have.members([200, 409]);
      const { body: left } = await org.asOwner.get<Subject[]>('/tenant-admin/subjects');
      expect(left).to.have.length(1);
      expect(
        (await org.asOwner.post('/contracts', aContract({ subjectId: left[0]?.id ?? '', ownerId: org.owner.id })))
          .status,
        'and accepts contracts',
      ).to.equal(201);
    });

    it('are removed once, and a repeat under its key is answered like the first', async () => {
      const { body: subject } = await org.asOwner.post<Subject>('/tenant-admin/subjects', { name: 'Second' });
      const remove = (headers: Record<string, string> = {}) =>
        org.asOwner.delete(`/tenant-admin/subjects/${subject.id}`, undefined, { headers });
      const key = { 'idempotency-key': `remove-${subject.id}` };
      const answers = await Promise.all([remove(key), remove(), remove()]);
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      expect(answers.filter(({ status }) => status === 404)).to.have.length(2);
      const again = await remove(key);
      expect([again.status, again.headers.get('idempotency-replayed')]).to.deep.equal([answers[0]?.status, 'true']);
      expect(
        (await org.asOwner.post('/contracts', aContract({ subjectId: subject.id, ownerId: org.owner.id }))).status,
      ).to.equal(422);
    });

    it('are removed from the scopes of members, and a member who saw only that one sees none', async () => {
      const { body: second } = await org.asOwner.post<Subject>('/tenant-admin/subjects', { name: 'Second' });
      const narrow = await org.join({ roleCode: 'viewer', subjectScope: [second.id] });
      await org.asOwner.post('/contracts', aContract({ subjectId: org.subjectId, ownerId: org.owner.id }));
      await org.asOwner.delete(`/tenant-admin/subjects/${second.id}`);
      const { body } = await narrow.client.get<{ user: { subjectScope: string[] } }>('/auth/me');
      expect(body.user.subjectScope).to.deep.equal([]);
      expect((await narrow.client.get<{ total: number }>('/contracts')).body.total).to.equal(0);
    });

    it('have their current names in contracts, and are accepted only while they exist', async () => {
      const { body: second } = await org.asOwner.post<Subject>('/tenant-admin/subjects', { name: 'Before' });
      const { body: contract } = await org.asOwner.post<{ id: string }>(
        '/contracts',
        aContract({ subjectId: second.id, ownerId: org.owner.id }),
      );
      await org.asOwner.patch(`/tenant-admin/subjects/${second.id}`, { name: 'After' });
      expect((await org.asOwner.get<{ subjectName: string }>(`/contracts/${contract.id}`)).body.subjectName).to.equal(
        'After',
      );
      await org.asOwner.patch(`/contracts/${contract.id}`, { subjectId: org.subjectId });
      expect((await org.asOwner.delete(`/tenant-admin/subjects/${second.id}`)).status).to.equal(200);
      expect(
        (await org.asOwner.post('/contracts', aContract({ subjectId: second.id, ownerId: org.owner.id }))).status,
      ).to.equal(422);
    });
  });

  describe('roles', () => {
    it('are listed with their members and rights', async () => {
      await org.join({ roleCode: 'sales' });
      const { body: roles } = await org.asOwner.get<Role[]>('/tenant-admin/roles');
      expect(roles.map(({ code, memberCount }) => [code, memberCount])).to.deep.equal([
        ['owner', 1],
        ['admin', 0],
        ['manager', 0],
        ['sales', 1],
        ['legal', 0],
        ['finance', 0],
        ['viewer', 0],
      ]);
      const { body: overview } = await org.asOwner.get<{
        modules: string[];
        levels: string[];
        controls: string[];
        roles: Role[];
      }>('/tenant-admin/permissions');
      expect(overview.roles).to.deep.equal(roles);
      expect([overview.modules.length, overview.levels, overview.controls]).to.deep.equal([
        10,
        ['none', 'view', 'edit'],
        ['none', 'view', 'edit', 'approve', 'sign', 'admin'],
      ]);
    });

    it('get other rights from the next request of their members, and keep those not in the request', async () => {
      const viewer = await org.join({ roleCode: 'viewer' });
      const create = async () =>
        (await viewer.client.post('/contracts', aContract({ subjectId: org.subjectId, ownerId: org.owner.id }))).status;
      expect(await create()).to.equal(403);
      const changed = await org.asOwner.patch<Role>('/tenant-admin/roles/viewer/permissions', {
        permissions: { contract_edit: 'edit' },
      });
      expect(changed.body.permissions).to.include({ contract_edit: 'edit', contract_view: 'view', admin: 'none' });
      expect(await create()).to.equal(201);
      expect((await org.audit()).at(-1)).to.deep.include({
        action: 'role_permissions_changed',
        recordId: 'viewer',
        changes: { contract_edit: { from: 'none', to: 'edit' } },
      });
      await org.asOwner.patch('/tenant-admin/roles/viewer/permissions', { permissions: { contract_edit: 'none' } });
      expect(await create()).to.equal(403);
    });

    it('get other workflow controls, and keep those not in the request', async () => {
      const { body } = await org.asOwner.patch<Role>('/tenant-admin/roles/finance/workflow-controls', {
        controls: { approved: 'sign', archived: 'none' },
      });
      expect(body.workflowControls).to.deep.equal({
        draft: 'view',
        extracted: 'view',
        review: 'view',
        approved: 'sign',
        signed: 'view',
        active: 'view',
        completed: 'view',
        archived: 'none',
      });
    });

    it('get a workflow control at one stage, which overrides that of its category until it is removed', async () => {
      const template = await org.asOwner.post<{ id: string }>('/contract-config/lifecycle/templates', {
        code: 'own',
        name: 'Own',
      });
      await org.asOwner.post(`/contract-config/lifecycle/templates/${template.body.id}/stages`, {
        code: 'legal_check',
        name: 'Legal check',
      });
      const change = (role: string, controls: object) =>
        org.asOwner.patch<Role>(`/tenant-admin/roles/${role}/workflow-controls`, { controls });
      expect((await change('legal', { legal_check: 'sign' })).body.workflowControls).to.include({
        legal_check: 'sign',
        review: 'approve',
      });
      expect((await org.audit()).at(-1)).to.deep.include({
        action: 'role_workflow_controls_changed',
        changes: { legal_check: { from: null, to: 'sign' } },
      });
      expect((await change('legal', { legal_check: null })).body.workflowControls).not.to.have.property('legal_check');
      expect((await change('legal', { review: null })).status, 'a category always has a control').to.equal(400);
      expect(
        refusal(
          await org.asOwner.patch<DomainError>('/tenant-admin/roles/owner/workflow-controls', {
            controls: { legal_check: 'sign' },
          }),
        ),
      ).to.deep.equal([409, 'LAST_OWNER', {}]);
      expect((await change('owner', { legal_check: 'admin' })).status).to.equal(200);
    });

    it('with an unknown module, stage or level are refused by name, and an unknown role is not found', async () => {
      const rows: readonly (readonly [path: string, body: unknown, message: RegExp])[] = [
        ['permissions', { permissions: { everything: 'edit' } }, /^permissions\.everything is not a known field$/],
        ['permissions', { permissions: { admin: 'sign' } }, /^permissions\.admin must be one of none, view, edit$/],
        ['permissions', { permissions: { admin: null } }, /^permissions\.admin /],
        ['permissions', {}, /^permissions is required$/],
        ['workflow-controls', { controls: { signing: 'sign' } }, /^controls\.signing is not a known field$/],
        ['workflow-controls', { controls: { signed: 'all' } }, /^controls\.signed must be one of/],
      ];
      for (const [path, body, message] of rows) {
        const answer = await org.asOwner.patch<FrameworkError>(`/tenant-admin/roles/viewer/${path}`, body);
        expect(answer.status).to.equal(400);
        expect(answer.body.message).to.have.length(1);
        expect(answer.body.message[0]).to.match(message);
      }
      for (const code of ['wizard', newId(), '__proto__', 'VIEWER'])
        expect(
          (await org.asOwner.patch(`/tenant-admin/roles/${code}/permissions`, { permissions: {} })).status,
          code,
        ).to.equal(404);
    });

    it('cannot lock everyone out: the owner keeps all rights, and members cannot remove their own administration rights', async () => {
      const admin = await org.join({ roleCode: 'admin' });
      const lower =
        (role: string, permissions: object) =>
        (client = admin.client) =>
          client.patch<DomainError>(`/tenant-admin/roles/${role}/permissions`, { permissions });
      expect(refusal(await lower('owner', { admin: 'view' })())).to.deep.equal([409, 'LAST_OWNER', {}]);
      expect(refusal(await lower('owner', { sensitive_data: 'none' })(org.asOwner))).to.deep.equal([
        409,
        'LAST_OWNER',
        {},
      ]);
      expect(refusal(await lower('admin', { admin: 'view' })())).to.deep.equal([409, 'LAST_ADMIN', {}]);
      expect(
        refusal(
          await admin.client.patch<DomainError>('/tenant-admin/roles/owner/workflow-controls', {
            controls: { draft: 'edit' },
          }),
        ),
      ).to.deep.equal([409, 'LAST_OWNER', {}]);
      // Nothing of the request is applied.
      await lower('admin', { export: 'none', admin: 'none' })();
      expect(
        (await admin.client.get<Role[]>('/tenant-admin/roles')).body.find(({ code }) => code === 'admin')?.permissions,
      ).to.include({ export: 'edit', admin: 'edit' });
      // Requests that lower nothing are accepted, and the owner may remove administration rights from the admins.
      expect((await lower('owner', { admin: 'edit' })()).status).to.equal(200);
      expect((await lower('admin', { admin: 'none' })(org.asOwner)).status).to.equal(200);
      expect((await admin.client.get('/tenant-admin/roles')).status).to.equal(403);
    });

    it('keep the rights on two modules that are changed concurrently', async () => {
      const set = (permissions: object) => org.asOwner.patch('/tenant-admin/roles/legal/permissions', { permissions });
      await Promise.all([
        set({ invoice: 'edit' }),
        set({ export: 'view' }),
        set({ collection: 'edit' }),
        set({ custom_fields: 'none' }),
      ]);
      expect(
        (await org.asOwner.get<Role[]>('/tenant-admin/roles')).body.find(({ code }) => code === 'legal')?.permissions,
      ).to.include({ invoice: 'edit', export: 'view', collection: 'edit', custom_fields: 'none' });
    });
  });
});

describe('a unified social credit code', () => {
  it('is validated by its check character', () => {
    for (const code of ['91350100M000100Y43', '91350100m000100y43', '9144030071526726XG'])
      expect(isSocialCreditCode(code), code).to.equal(true);
    for (const code of ['91350100M000100Y34', '9144030071526726XH', '91350100M000100Y4', '', '91350100O000100Y43'])
      expect(isSocialCreditCode(code), code).to.equal(false);
  });
});
