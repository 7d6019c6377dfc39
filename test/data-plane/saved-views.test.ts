import { expect } from 'chai';
import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { SavedViewInput } from '../../data-plane-agent/plane/contract/records/views.js';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane, PLANES, type TestPlane } from '../support/plane.js';

const aView = (changes: Partial<SavedViewInput> = {}): SavedViewInput => ({
  name: 'Overdue',
  mode: 'table',
  groupBy: 'none',
  filters: { overdue: true },
  sortKey: 'nextDueDate',
  visibleFields: ['contractNo', 'outstandingAmount'],
  cardFields: [],
  ...changes,
});
const plainMember = { ...ALL_RIGHTS, admin: false };
const NOT_FOUND = { code: 'NOT_FOUND', details: {} };
const NO_ADMIN = { code: 'FORBIDDEN', details: { needs: 'admin (edit)' } };

/** Another member of the same tenant, without administration rights. */
const colleagueOf = ({ as, call }: TestPlane, id = newId()) =>
  as({ actor: { ...call.actor, id, name: 'Cora Colleague' }, rights: plainMember });

describe('saved views', () => {
  forEachPlane(
    (_name, makePlane) => {
      it('are returned as saved, and are personal by default', async () => {
        const { plane, call } = makePlane();
        const sent = aView({
          groupBy: 'ownerId',
          filters: { overdue: true, q: 'crane', ownerId: ['a', 'b'], payment: null, page: 2 },
          cardFields: ['partyB', 'subjectName'],
          description: '  for Mondays ',
        });
        const saved = await plane.createSavedView(sent);
        expect(saved).to.deep.include({
          ...sent,
          description: 'for Mondays',
          scope: 'personal',
          ownerId: call.actor.id,
          createdBy: call.actor.id,
          warnings: [],
        });
        expect(await plane.listSavedViews({})).to.deep.equal([saved]);
      });

      it('are visible only to their owner if they are personal', async () => {
        const t = makePlane();
        const view = await t.plane.createSavedView(aView());
        const others = {
          'an administrator': t.as({ actor: { ...t.call.actor, id: newId() } }),
          'a colleague': colleagueOf(t),
          'another tenant': t.as({ tenantId: newId() }),
          'a job': t.as({ actor: { ...t.call.actor, kind: 'system', id: null } }),
        };
        for (const [caller, plane] of Object.entries(others)) {
          expect(await plane.listSavedViews({}), caller).to.deep.equal([]);
          expect(
            await failureOf(plane.updateSavedView({ viewId: view.id, changes: { name: 'Mine' } })),
            caller,
          ).to.deep.equal(NOT_FOUND);
          expect(await failureOf(plane.deleteSavedView({ viewId: view.id })), caller).to.deep.equal(NOT_FOUND);
        }
        for (const viewId of [newId(), 'no-id'])
          expect(await failureOf(t.plane.deleteSavedView({ viewId }))).to.deep.equal(NOT_FOUND);
        expect(await t.plane.listSavedViews({})).to.deep.equal([view]);
      });

      it('are read by all and changed by administrators if they are shared with the team', async () => {
        const t = makePlane();
        const colleague = colleagueOf(t);
        const view = await t.plane.createSavedView(aView({ scope: 'team' }));
        expect(await colleague.listSavedViews({})).to.deep.equal([view]);
        expect(await failureOf(colleague.createSavedView(aView({ scope: 'team', name: 'Other' })))).to.deep.equal(
          NO_ADMIN,
        );
        expect(
          await failureOf(colleague.updateSavedView({ viewId: view.id, changes: { name: 'Other' } })),
        ).to.deep.equal(NO_ADMIN);
        expect(
          await failureOf(colleague.updateSavedView({ viewId: view.id, changes: { scope: 'personal' } })),
        ).to.deep.equal(NO_ADMIN);
        expect(await failureOf(colleague.deleteSavedView({ viewId: view.id }))).to.deep.equal(NO_ADMIN);
        const own = await colleague.createSavedView(aView());
        expect(
          await failureOf(colleague.updateSavedView({ viewId: own.id, changes: { scope: 'team' } })),
        ).to.deep.equal(NO_ADMIN);
        const admin = t.as({ actor: { ...t.call.actor, id: newId() } });
        expect(await admin.updateSavedView({ viewId: view.id, changes: { name: 'Ours' } })).to.include({
          name: 'Ours',
          scope: 'team',
          ownerId: t.call.actor.id,
        });
        expect(await admin.deleteSavedView({ viewId: view.id })).to.deep.equal({ ok: true });
        expect(await t.plane.listSavedViews({})).to.deep.equal([]);
      });

      it("are listed with the caller's own first, then the team's, each by name in code points", async () => {
        const { plane } = makePlane();
        for (const [scope, name] of [
          ['team', 'b'],
          ['team', 'B'.repeat(2)],
          ['personal', '逾期'],
          ['personal', 'z'],
          ['team', 'A'],
          ['personal', 'Zebra'],
        ] as const)
          await plane.createSavedView(aView({ scope, name }));
        expect((await plane.listSavedViews({})).map(({ scope, name }) => `${scope} ${name}`)).to.deep.equal([
          'personal Zebra',
          'personal z',
          'personal 逾期',
          'team A',
          'team BB',
          'team b',
        ]);
      });

      it('have a unique name by scope and owner, ignoring case', async () => {
        const t = makePlane();
        const own = await t.plane.createSavedView(aView({ name: 'Straße' }));
        const duplicate = (value: string) => ({ code: 'DUPLICATE_CODE', details: { field: 'name', value } });
        expect(await failureOf(t.plane.createSavedView(aView({ name: ' STRAßE ' })))).to.deep.equal(
          duplicate('STRAßE'),
        );
        const team = await t.plane.createSavedView(aView({ name: 'Straße', scope: 'team' }));
        await colleagueOf(t).createSavedView(aView({ name: 'Straße' }));
        expect(await failureOf(t.plane.updateSavedView({ viewId: own.id, changes: { scope: 'team' } }))).to.deep.equal(
          duplicate('Straße'),
        );
        expect(
          await failureOf(t.plane.updateSavedView({ viewId: team.id, changes: { scope: 'personal' } })),
        ).to.deep.equal(duplicate('Straße'));
        expect(
          await t.plane.updateSavedView({ viewId: own.id, changes: { name: 'STRAßE' } }),
          'a rename in case only',
        ).to.include({ name: 'STRAßE' });
        await t.plane.deleteSavedView({ viewId: own.id });
        expect(await t.plane.createSavedView(aView({ name: 'straße' })), 'the name is free again').to.include({
          name: 'straße',
        });
      });

      it('are saved once in concurrent requests with one name', async () => {
        const t = makePlane();
        const settled = await Promise.all(
          Array.from({ length: 12 }, () =>
            t.plane.createSavedView(aView({ scope: 'team' })).then(
              () => 'saved',
              (error: { code: string }) => error.code,
            ),
          ),
        );
        expect(settled.toSorted()).to.deep.equal([...Array.from({ length: 11 }, () => 'DUPLICATE_CODE'), 'saved']);
        expect(await t.plane.listSavedViews({})).to.have.length(1);
      });

      it('keep omitted properties on a change, and leave no trace of one that changes nothing', async () => {
        const t = makePlane();
        const view = await t.plane.createSavedView(aView({ description: 'old' }));
        t.clock.advance(60_000);
        expect(await t.plane.updateSavedView({ viewId: view.id, changes: {} })).to.deep.equal(view);
        expect(
          await t.plane.updateSavedView({ viewId: view.id, changes: { name: 'Overdue', filters: { overdue: true } } }),
        ).to.deep.equal(view);
        const changed = await t.plane.updateSavedView({
          viewId: view.id,
          changes: { mode: 'board', groupBy: 'lifecycleStageCode', description: null },
        });
        expect(changed).to.deep.equal({
          ...view,
          mode: 'board',
          groupBy: 'lifecycleStageCode',
          description: null,
          updatedAt: new Date(t.clock.now()).toISOString(),
        });
        const audits = await t.database.read(t.call, (tx) =>
          tx.all('SELECT action FROM audit_log WHERE tenant_id = ? AND record_id = ? ORDER BY id', [
            t.call.tenantId,
            view.id,
          ]),
        );
        expect(audits.map(({ action }) => action)).to.deep.equal(['createSavedView', 'updateSavedView']);
      });

      it('are refused with unknown filters, or a grouping by an unknown field', async () => {
        const { plane } = makePlane();
        const bad = aView({
          groupBy: 'colour',
          filters: { colour: 'red', overdue: { deep: true }, q: [['x']], status: 'completed' },
        });
        const issues = {
          'filters.colour': 'is not a known filter',
          'filters.overdue': 'must be a text, a number, a flag, or a list of these',
          'filters.q': 'must be a text, a number, a flag, or a list of these',
        };
        expect(await badFields(plane.createSavedView(bad)))
          .to.have.all.keys(...Object.keys(issues), 'groupBy')
          .and.include(issues);
        const view = await plane.createSavedView(aView());
        expect(
          await badFields(plane.updateSavedView({ viewId: view.id, changes: { filters: { colour: 1 } } })),
        ).to.deep.equal({ 'filters.colour': 'is not a known filter' });
        expect(
          await badFields(
            plane.createSavedView(aView({ filters: JSON.parse('{"constructor":1}') as Record<string, unknown> })),
          ),
        ).to.have.all.keys('filters.constructor');
      });

      it('are read without missing columns, with a warning, and keep them stored', async () => {
        const t = makePlane();
        const view = await t.plane.createSavedView(
          aView({
            groupBy: newId(),
            visibleFields: ['contractNo', 'colour', newId(), 'contractNo', 'constructor'],
            cardFields: ['weight'],
          }),
        );
        expect(view).to.deep.include({ groupBy: 'none', visibleFields: ['contractNo'], cardFields: [] });
        expect(view.warnings.map(({ code, message }) => `${code} ${message.split(' ')[0]}`)).to.deep.equal([
          'COLUMNS_LEFT_OUT visibleFields:',
          'COLUMNS_LEFT_OUT cardFields:',
          'COLUMNS_LEFT_OUT groupBy:',
        ]);
        const kept = await t.database.read(t.call, (tx) =>
          tx.get('SELECT visible_fields FROM saved_views WHERE tenant_id = ? AND id = ?', [t.call.tenantId, view.id]),
        );
        expect(JSON.parse(String(kept?.['visible_fields']))).to.have.length(4);
      });

      it('include the column of a custom field only for members who may see it', async () => {
        const t = makePlane();
        const { field } = await t.plane.runFieldCommand({
          type: 'CreateField',
          payload: { name: 'Margin', type: 'number', visibleRoles: ['manager'] },
        });
        const view = await t.plane.createSavedView(
          aView({ scope: 'team', groupBy: field.id, visibleFields: ['contractNo', field.id] }),
        );
        expect(view).to.deep.include({ groupBy: field.id, visibleFields: ['contractNo', field.id], warnings: [] });
        const [seen] = await t.as({ actor: { ...t.call.actor, id: newId(), roleCode: 'viewer' } }).listSavedViews({});
        expect(seen).to.deep.include({ groupBy: 'none', visibleFields: ['contractNo'] });
        expect(seen?.warnings).to.have.length(2);
        expect(JSON.stringify(seen), 'another tenant is not affected').not.to.contain(field.id);
        await t.plane.runFieldCommand({ type: 'ArchiveField', payload: { fieldId: field.id } });
        expect((await t.plane.listSavedViews({}))[0]).to.deep.include({ visibleFields: ['contractNo'] });
      });

      it('are limited to 200 of each kind', async () => {
        const t = makePlane();
        const [first] = [await t.plane.createSavedView(aView({ name: 'v0' }))];
        for (let n = 1; n < 200; n++) await t.plane.createSavedView(aView({ name: `v${n}` }));
        const reached = { code: 'LIMIT_REACHED', details: { limit: 200 } };
        expect(await failureOf(t.plane.createSavedView(aView({ name: 'one more' })))).to.deep.equal(reached);
        const team = await t.plane.createSavedView(aView({ name: 'one more', scope: 'team' }));
        expect(
          await failureOf(t.plane.updateSavedView({ viewId: team.id, changes: { scope: 'personal' } })),
        ).to.deep.equal(reached);
        expect(await colleagueOf(t).createSavedView(aView({ name: 'one more' }))).to.include({ name: 'one more' });
        await t.plane.deleteSavedView({ viewId: first?.id ?? '' });
        expect(await t.plane.updateSavedView({ viewId: team.id, changes: { scope: 'personal' } })).to.include({
          scope: 'personal',
          ownerId: t.call.actor.id,
        });
      });

      it('are saved once under one key', async () => {
        const t = makePlane();
        const call = { ...t.call, idempotency: { key: 'view', requestHash: 'h' } };
        const first = await t.data.invoke('createSavedView', { call }, aView());
        expect(await t.data.invoke('createSavedView', { call }, aView())).to.deep.equal({
          output: first.output,
          replayed: true,
        });
      });
    },
    { only: PLANES },
  );
});

describe('a handover of saved views', () => {
  forEachPlane(
    (_name, makePlane) => {
      const handover = (memberId: string, successorId: string, changes: object = {}) => ({
        memberId,
        memberName: 'Lea Leaver',
        successorId,
        successorScope: null,
        successorSuperiorId: null,
        transferContracts: true,
        transferContractSupervisors: true,
        transferTasks: true,
        transferReminders: true,
        transferSavedViews: true,
        ...changes,
      });

      it("moves personal views under names that include the previous owner's, and makes the successor the owner of team views", async () => {
        const t = makePlane();
        const [leaver, successor] = [newId(), newId()];
        const as = (id: string) => t.as({ actor: { ...t.call.actor, id } });
        for (const name of ['Mine', 'x'.repeat(500)]) await as(leaver).createSavedView(aView({ name }));
        const team = await as(leaver).createSavedView(aView({ name: 'Ours', scope: 'team' }));
        await as(successor).createSavedView(aView({ name: 'mine (FROM lea leaver)' }));
        const extent = await t.plane.getHandoverExtent({ memberId: leaver });
        expect(extent.totals).to.include({ personalViews: 2, teamViews: 1 });
        expect(extent.samples.personalViews.map(({ name }) => name.slice(0, 4)).toSorted()).to.deep.equal([
          'Mine',
          'xxxx',
        ]);
        expect(extent.samples.teamViews).to.deep.equal([{ id: team.id, name: 'Ours' }]);

        expect(
          (await t.plane.handOver(handover(leaver, successor, { transferSavedViews: false }))).transferred,
        ).to.include({
          personalViews: 0,
          teamViews: 0,
        });
        expect((await t.plane.handOver(handover(leaver, successor))).transferred).to.include({
          personalViews: 2,
          teamViews: 1,
        });
        const now = await as(successor).listSavedViews({});
        expect(now.map(({ name }) => name)).to.deep.equal([
          'Mine (from Lea Leaver) 2',
          'mine (FROM lea leaver)',
          `${'x'.repeat(500 - 18)} (from Lea Leaver)`,
          'Ours',
        ]);
        expect(now.map(({ ownerId }) => ownerId)).to.deep.equal([successor, successor, successor, successor]);
        expect(now.at(-1)?.createdBy, 'the creator is unchanged').to.equal(leaver);
        expect(await as(leaver).listSavedViews({})).to.have.length(1);
        expect((await t.plane.handOver(handover(leaver, successor))).transferred, 'again').to.include({
          personalViews: 0,
          teamViews: 0,
        });
      });

      it('copies the views of a member who stays once, also in two concurrent requests', async () => {
        const t = makePlane();
        const [leaver, successor] = [newId(), newId()];
        const as = (id: string) => t.as({ actor: { ...t.call.actor, id } });
        const view = await as(leaver).createSavedView(aView({ name: 'Mine' }));
        const handed = await Promise.all(
          [1, 2].map(() => t.plane.handOver(handover(leaver, successor, { memberStays: true }))),
        );
        expect(handed.map(({ transferred }) => transferred.personalViews).toSorted((a, b) => a - b)).to.deep.equal([
          0, 1,
        ]);
        expect(await as(leaver).listSavedViews({})).to.deep.equal([view]);
        expect(
          (await as(successor).listSavedViews({})).map(({ name, ownerId, createdBy }) => [name, ownerId, createdBy]),
        ).to.deep.equal([['Mine (from Lea Leaver)', successor, leaver]]);
      });

      it('moves later, once the member leaves, only views created or changed since the copy', async () => {
        const t = makePlane();
        const [leaver, successor, other] = [newId(), newId(), newId()];
        const as = (id: string) => t.as({ actor: { ...t.call.actor, id } });
        const changed = await as(leaver).createSavedView(aView({ name: 'Changed' }));
        await as(leaver).createSavedView(aView({ name: 'Same' }));
        for (const id of [successor, other, successor])
          await t.plane.handOver(handover(leaver, id, { memberStays: true }));
        t.clock.advance(1);
        await as(leaver).updateSavedView({ viewId: changed.id, changes: { description: 'Later' } });
        expect((await t.plane.handOver(handover(leaver, successor))).transferred).to.include({ personalViews: 1 });
        expect(
          (await as(successor).listSavedViews({})).map(({ name, description }) => [name, description]),
        ).to.deep.equal([
          ['Changed (from Lea Leaver)', null],
          ['Changed (from Lea Leaver) 2', 'Later'],
          ['Same (from Lea Leaver)', null],
        ]);
        expect((await as(other).listSavedViews({})).map(({ name }) => name)).to.deep.equal([
          'Changed (from Lea Leaver)',
          'Same (from Lea Leaver)',
        ]);
        expect((await t.plane.handOver(handover(leaver, successor))).transferred, 'again').to.include({
          personalViews: 0,
        });
      });

      it('loses no view to the limit', async () => {
        const t = makePlane();
        const [leaver, successor] = [newId(), newId()];
        const as = (id: string) => t.as({ actor: { ...t.call.actor, id } });
        for (let n = 0; n < 101; n++)
          for (const id of [leaver, successor]) await as(id).createSavedView(aView({ name: `v${n}` }));
        expect((await t.plane.handOver(handover(leaver, successor))).transferred).to.include({ personalViews: 101 });
        expect(await as(successor).listSavedViews({})).to.have.length(202);
      });
    },
    { only: PLANES },
  );
});
