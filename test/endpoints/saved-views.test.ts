import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { SavedView } from '../../data-plane-agent/plane/contract/records/views.js';
import { administration, type Administration } from '../support/administration.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { forEachServer } from '../support/server.js';

const NOT_FOUND = JSON.stringify({ statusCode: 404, message: 'Not Found', error: 'Not Found' });
const aView = (changes: object = {}) => ({
  name: 'Overdue',
  mode: 'table',
  groupBy: 'none',
  filters: { overdue: true, subjectId: newId() },
  sortKey: 'nextDueDate',
  visibleFields: ['contractNo'],
  cardFields: [],
  ...changes,
});

forEachServer((server) => {
  describe('saved views over HTTP', () => {
    let org: Administration;
    let viewer: Client;
    beforeEach(async () => {
      org = await administration(server());
      viewer = (await org.join({ roleCode: 'viewer' })).client;
    });
    const names = async (client: Client) =>
      (await client.get<SavedView[]>('/saved-views/contracts')).body.map(({ name }) => name);

    it('members who may read contracts save, list, change and delete their own views', async () => {
      const made = await viewer.post<SavedView>('/saved-views/contracts', aView());
      expect(made.status, made.text).to.equal(201);
      expect(made.body).to.include({ name: 'Overdue', scope: 'personal', mode: 'table', sortKey: 'nextDueDate' });
      expect(
        (await viewer.patch<SavedView>(`/saved-views/${made.body.id}`, { mode: 'calendar' })).body,
      ).to.deep.include({ mode: 'calendar', filters: made.body.filters });
      expect(await names(viewer)).to.deep.equal(['Overdue']);
      expect(await names(org.asOwner)).to.deep.equal([]);
      expect((await viewer.delete(`/saved-views/${made.body.id}`)).body).to.deep.equal({ ok: true });
      expect(await names(viewer)).to.deep.equal([]);
    });

    it('team views need admin (edit) to be created, changed and deleted', async () => {
      const refused = await viewer.post<FrameworkError>('/saved-views/contracts', aView({ scope: 'team' }));
      expect([refused.status, refused.body]).to.deep.equal([
        403,
        {
          statusCode: 403,
          message: 'admin (edit) is required; your role "viewer" has admin (none)',
          error: 'Forbidden',
        },
      ]);
      const { body: team } = await org.asOwner.post<SavedView>('/saved-views/contracts', aView({ scope: 'team' }));
      expect(await names(viewer)).to.deep.equal(['Overdue']);
      for (const answer of [
        await viewer.patch(`/saved-views/${team.id}`, { name: 'x' }),
        await viewer.delete(`/saved-views/${team.id}`),
      ])
        expect([answer.status, answer.text]).to.deep.equal([403, refused.text]);
      const admin = await org.join({ roleCode: 'admin', subjectScope: [] });
      expect((await admin.client.delete(`/saved-views/${team.id}`)).status).to.equal(200);
    });

    it("another member's personal view is answered with the same bytes as a missing one", async () => {
      const { body: view } = await viewer.post<SavedView>('/saved-views/contracts', aView());
      for (const client of [org.asOwner, (await administration(server())).asOwner]) {
        for (const id of [view.id, newId(), 'no-id']) {
          for (const answer of [
            await client.patch(`/saved-views/${id}`, { name: 'x' }),
            await client.delete(`/saved-views/${id}`),
          ])
            expect([answer.status, answer.text]).to.deep.equal([404, NOT_FOUND]);
        }
      }
      expect(await names(viewer)).to.deep.equal(['Overdue']);
    });

    it('bad fields are reported separately, a duplicate name is 409, and a key makes a repeated request run once', async () => {
      const bad = await viewer.post<FrameworkError>(
        '/saved-views/contracts',
        aView({ mode: 'grid', sortKey: 'colour', filters: [], visibleFields: 'all', surprise: 1 }),
      );
      expect(bad.status).to.equal(400);
      expect(
        (bad.body.message as unknown as string[])
          .map((message) => message.split(' ')[0] ?? '')
          .toSorted((a, b) => (a < b ? -1 : 1)),
      ).to.deep.equal(['filters', 'mode', 'sortKey', 'surprise', 'visibleFields']);
      expect(
        (await viewer.post<FrameworkError>('/saved-views/contracts', aView({ filters: { colour: 1 } }))).body.message,
      ).to.deep.equal(['filters.colour is not a known filter']);
      expect((await viewer.post('/saved-views/contracts', {})).body)
        .to.have.property('message')
        .with.length(7);
      const headers = { 'Idempotency-Key': 'saved-view-1' };
      const [first, second] = [
        await viewer.post('/saved-views/contracts', aView(), { headers }),
        await viewer.post('/saved-views/contracts', aView(), { headers }),
      ];
      expect(first.status).to.equal(201);
      expect(
        (await viewer.post<DomainError>('/saved-views/contracts', aView({ name: 'overdue' }))).body.error,
      ).to.deep.include({ code: 'DUPLICATE_CODE', details: { field: 'name', value: 'overdue' } });
      expect(second.status).to.equal(422); // a different subject company in the filter makes a different request
      const body = aView({ name: 'Twice' });
      const again = { 'Idempotency-Key': 'saved-view-2' };
      expect((await viewer.post('/saved-views/contracts', body, { headers: again })).text).to.equal(
        (await viewer.post('/saved-views/contracts', body, { headers: again })).text,
      );
    });

    it('views of a member who leaves are previewed, transferred, and not transferred twice', async () => {
      const [leaver, heir] = [await org.join({ roleCode: 'admin' }), await org.join({ roleCode: 'sales' })];
      await leaver.client.post('/saved-views/contracts', aView());
      await leaver.client.post('/saved-views/contracts', aView({ scope: 'team', name: 'Ours' }));
      const preview = await org.asOwner.get<{ totals: object; samples: { personalViews: { name: string }[] } }>(
        `/tenant-admin/members/${leaver.id}/handover-preview`,
      );
      expect(preview.body.totals).to.include({ personalViews: 1, teamViews: 1 });
      expect(preview.body.samples.personalViews.map(({ name }) => name)).to.deep.equal(['Overdue']);
      const offboard = () =>
        org.asOwner.post<{ transferred: object }>(`/tenant-admin/members/${leaver.id}/offboard`, {
          successorUserId: heir.id,
        });
      expect((await offboard()).body.transferred).to.include({ personalViews: 1, teamViews: 1 });
      const [personal, team] = await names(heir.client);
      expect(personal).to.match(/^Overdue \(from .+\)$/);
      expect(team).to.equal('Ours');
      expect((await offboard()).body.transferred).to.include({ personalViews: 0, teamViews: 0 });
    });

    it('views of a member who stays are copied once, and the originals kept', async () => {
      const [leaver, heir] = [await org.join({ roleCode: 'sales' }), await org.join({ roleCode: 'sales' })];
      await leaver.client.post('/saved-views/contracts', aView());
      const handOver = async (body: object = {}) =>
        (
          await org.asOwner.post<{ transferred: { personalViews: number } }>(
            `/tenant-admin/members/${leaver.id}/offboard`,
            { successorUserId: heir.id, disableMember: false, ...body },
          )
        ).body.transferred.personalViews;
      expect(await handOver()).to.equal(1);
      expect(await names(leaver.client)).to.deep.equal(['Overdue']);
      const [copy] = (await heir.client.get<{ id: string; name: string }[]>('/saved-views/contracts')).body;
      expect(copy?.name).to.match(/^Overdue \(from .+\)$/);
      // It remains the copy, even if the successor has renamed it since.
      await heir.client.patch(`/saved-views/${copy?.id ?? ''}`, { name: 'Late' });
      expect(await handOver()).to.equal(0);
      expect(await names(heir.client)).to.deep.equal(['Late']);
      expect(await handOver({ disableMember: true }), 'the views were transferred before the member leaves').to.equal(
        0,
      );
      expect(await names(heir.client)).to.deep.equal(['Late']);
    });

    it('views stay where they are if their transfer is switched off', async () => {
      const [leaver, heir] = [await org.join({ roleCode: 'sales' }), await org.join({ roleCode: 'sales' })];
      await leaver.client.post('/saved-views/contracts', aView());
      const { body } = await org.asOwner.post<{ transferred: object }>(`/tenant-admin/members/${leaver.id}/offboard`, {
        successorUserId: heir.id,
        transferSavedViews: false,
      });
      expect(body.transferred).to.include({ personalViews: 0 });
      expect(await names(heir.client)).to.deep.equal([]);
    });
  });
});
