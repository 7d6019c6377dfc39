import { expect } from 'chai';
import type { Preferences, Session } from '../../server/auth/auth.schemas.js';
import {
  makeMember,
  makeTenant,
  serveIdentity,
  signIn,
  startIdentity,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { Client, FrameworkError } from '../support/http.js';
import type { LittleApp } from '../support/little-app.js';

describe('the settings that members change for themselves', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    before(async () => {
      identity = await startIdentity((await fresh()).database);
      app = await serveIdentity(identity);
    });
    after(() => app.stop());

    const signedIn = async (roleCode = 'viewer') => {
      const made = await makeTenant(identity);
      const member = await makeMember(identity, made, { roleCode });
      return { made, member, ...(await signIn(app.client, { ...made, member })) };
    };
    const preferencesOf = async (client: Client) => (await client.get<Session>('/auth/me')).body.settings.preferences;
    const changesOf = async (memberId: string, action: string) => {
      const rows = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all('SELECT changes FROM audit_log WHERE actor_id = ? AND action = ? ORDER BY id', [memberId, action]),
      );
      return rows.map(({ changes }) => JSON.parse(String(changes)) as unknown);
    };

    describe('preferences', () => {
      const ALL: Preferences = {
        language: 'zh-CN',
        locale: 'zh-Hans-CN',
        timezone: 'Asia/Shanghai',
        currency: 'EUR',
        calendarSystem: 'chinese',
        measurementSystem: 'imperial',
        firstDayOfWeek: 0,
        dateFormat: 'DD.MM.YYYY',
        numberFormat: '1.234,56',
      };

      it('are returned merged, stored, and shown in the session', async () => {
        const { client, member } = await signedIn();
        const before = await preferencesOf(client);
        const one = await client.patch<Preferences>('/auth/preferences', { language: 'zh-CN' });
        expect(one.status).to.equal(200);
        expect(one.body).to.deep.equal({ ...before, language: 'zh-CN' });
        const all = await client.patch<Preferences>('/auth/preferences', { ...ALL, currency: 'eur' });
        expect(all.body).to.deep.equal(ALL);
        expect(await preferencesOf(client)).to.deep.equal(ALL);
        expect((await changesOf(member.id, 'preferences_changed'))[0]).to.deep.equal({
          language: { from: null, to: 'zh-CN' },
        });
      });

      it("fall back to the tenant's setting with null, and never change the tenant's", async () => {
        const { client } = await signedIn();
        const before = await preferencesOf(client);
        await client.patch('/auth/preferences', ALL);
        expect((await client.get<Session>('/auth/me')).body.settings.timezone).to.equal('UTC');
        const nothing = Object.fromEntries(Object.keys(ALL).map((key) => [key, null]));
        expect((await client.patch('/auth/preferences', nothing)).body).to.deep.equal(before);
      });

      it('apply only to the caller', async () => {
        const { made, client, member } = await signedIn();
        const other = await signIn(app.client, { ...made, member: made.owner });
        await client.patch('/auth/preferences', ALL);
        expect(await preferencesOf(other.client)).to.include({ language: 'en' });
        expect(member.id).to.not.equal(made.owner.id);
      });

      it('are all kept when changed concurrently', async () => {
        const { client } = await signedIn();
        await Promise.all(
          Object.entries(ALL).map(([key, value]) => client.patch('/auth/preferences', { [key]: value })),
        );
        expect(await preferencesOf(client)).to.deep.equal(ALL);
      });

      it('are unchanged by an empty request', async () => {
        const { client, member } = await signedIn();
        const before = await preferencesOf(client);
        expect((await client.patch('/auth/preferences', {})).body).to.deep.equal(before);
        expect((await client.patch('/auth/preferences')).body).to.deep.equal(before);
        expect(await changesOf(member.id, 'preferences_changed')).to.deep.equal([]);
      });

      const BAD = {
        language: 'not a language',
        locale: 'x',
        timezone: 'Mars/Olympus',
        currency: 'XXQ',
        calendarSystem: 'mayan',
        measurementSystem: 'cubits',
        firstDayOfWeek: 7,
        dateFormat: 'D'.repeat(41),
        numberFormat: 5,
        theme: 'dark',
      };
      it('are all reported at once if invalid, each in one message', async () => {
        const { client } = await signedIn();
        const { status, body } = await client.patch<FrameworkError>('/auth/preferences', BAD);
        expect(status).to.equal(400);
        expect([body.message].flat().map((line) => line.split(' ')[0])).to.have.members(Object.keys(BAD));
      });

      for (const [field, value] of Object.entries(BAD)) {
        it(`with a bad ${field} are refused, and the field is reported`, async () => {
          const { client } = await signedIn();
          const answer = await client.patch<FrameworkError>('/auth/preferences', { [field]: value });
          expect(answer.status).to.equal(400);
          expect(answer.body.message).to.have.length(1);
          expect(answer.body.message[0]).to.match(new RegExp(`^${field} `));
        });
      }
    });

    describe('the profile', () => {
      it('changes name and nameProfile, which the answer and the session contain', async () => {
        const { client, member } = await signedIn();
        const nameProfile = {
          givenName: '伟',
          familyName: '王',
          nameOrder: 'family_first',
          phoneticGivenName: 'Wěi',
          phoneticFamilyName: 'Wáng',
        };
        const answer = await client.patch<Session['user']>('/auth/profile', { name: '  王伟  ', nameProfile });
        expect(answer.status).to.equal(200);
        expect(answer.body).to.deep.include({ id: member.id, email: member.email, name: '王伟', roleCode: 'viewer' });
        expect(answer.body.nameProfile).to.deep.include(nameProfile);
        expect((await client.get<Session>('/auth/me')).body.user).to.deep.equal(answer.body);
        expect((await identity.directory.of(member.tenantId)).memberName(member.id)).to.equal('王伟');
        expect((await changesOf(member.id, 'profile_changed'))[0]).to.deep.include({
          name: { from: member.name, to: '王伟' },
        });
      });

      it('keeps omitted fields, and removes a nameProfile with null', async () => {
        const { client, member } = await signedIn();
        await client.patch('/auth/profile', { nameProfile: { givenName: 'Wei' } });
        expect(
          (await client.patch<Session['user']>('/auth/profile', { name: 'Wei Wang' })).body.nameProfile,
        ).to.deep.include({ givenName: 'Wei' });
        const cleared = await client.patch<Session['user']>('/auth/profile', { nameProfile: null });
        expect(cleared.body).to.include({ name: 'Wei Wang', nameProfile: null });
        expect((await client.patch('/auth/profile', {})).body).to.deep.equal(cleared.body);
        expect(await changesOf(member.id, 'profile_changed')).to.have.length(3);
      });

      it('accepts names of one and of a hundred characters', async () => {
        const { client } = await signedIn();
        for (const name of ['李', '李'.repeat(100), '𠮷']) {
          expect((await client.patch<Session['user']>('/auth/profile', { name })).body.name).to.equal(name);
          expect((await client.get<Session>('/auth/me')).body.user.name).to.equal(name);
        }
        for (const name of ['', ' ', '李'.repeat(101)])
          expect((await client.patch('/auth/profile', { name })).status, name).to.equal(400);
      });

      for (const [field, value] of Object.entries({
        name: null,
        email: 'new@else.test',
        roleCode: 'owner',
        status: 'active',
        nameProfile: { nickname: 'W' },
      })) {
        it(`refuses ${field} ${JSON.stringify(value)}`, async () => {
          const { client } = await signedIn();
          expect((await client.patch('/auth/profile', { [field]: value })).status).to.equal(400);
        });
      }
    });
  });
});
