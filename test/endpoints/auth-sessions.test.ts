import { expect } from 'chai';
import type { OwnSession } from '../../server/auth/auth.schemas.js';
import {
  makeMember,
  makeTenant,
  PASSWORD,
  serveIdentity,
  signIn,
  startIdentity,
  type TestIdentity,
} from '../support/accounts.js';
import { forEachDatabase } from '../support/database.js';
import type { LittleApp } from '../support/little-app.js';
import { auditedOf } from '../support/second-factor.js';

describe("a member's sessions", () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let app: LittleApp;
    before(async () => {
      identity = await startIdentity((await fresh()).database);
      app = await serveIdentity(identity);
    });
    after(() => app.stop());

    const signedIn = async () => {
      const made = await makeTenant(identity);
      const user = { ...made, member: await makeMember(identity, made) };
      return { who: user, ...(await signIn(app.client, user)) };
    };

    it('are listed newest first, with the place and time of their sign-in', async () => {
      const { who: user, client } = await signedIn();
      identity.clock.advance(60_000);
      await app.client.post(
        '/auth/login',
        { tenantSlug: user.tenant.slug, email: user.member.email, password: PASSWORD },
        { headers: { 'User-Agent': 'second browser' } },
      );
      const { status, body } = await client.get<OwnSession[]>('/auth/sessions');
      expect(status).to.equal(200);
      expect(body.map(({ current, userAgent }) => [current, userAgent === 'second browser'])).to.deep.equal([
        [false, true],
        [true, false],
      ]);
      const [newest] = body;
      expect(Object.keys(newest ?? {}).toSorted()).to.deep.equal([
        'createdAt',
        'current',
        'expiresAt',
        'id',
        'ip',
        'updatedAt',
        'userAgent',
      ]);
      expect(newest?.ip).to.match(/127\.0\.0\.1|::1/);
      expect(newest?.createdAt).to.equal(new Date(identity.clock.now()).toISOString());
      expect(Date.parse(newest?.expiresAt ?? '') - identity.clock.now()).to.equal(30 * 24 * 3_600_000);
    });

    it('are listed for the caller only, without ended ones', async () => {
      const { who: user, client } = await signedIn();
      await signIn(app.client, { ...user, member: user.owner });
      const ended = await signIn(app.client, user);
      await ended.client.post('/auth/logout');
      expect((await client.get<OwnSession[]>('/auth/sessions')).body).to.have.length(1);
      identity.clock.advance(31 * 24 * 3_600_000);
      const again = await signIn(app.client, user);
      expect((await again.client.get<OwnSession[]>('/auth/sessions')).body).to.have.length(1);
    });

    it('end at once, with both tokens', async () => {
      const { who: user, client } = await signedIn();
      const other = await signIn(app.client, user);
      expect((await other.client.get('/auth/me')).status).to.equal(200);
      const { body } = await client.get<OwnSession[]>('/auth/sessions');
      const target = body.find(({ current }) => !current)?.id ?? '';
      const answer = await client.delete(`/auth/sessions/${target}`);
      expect([answer.status, answer.body]).to.deep.equal([200, { ok: true }]);
      expect((await other.client.get('/auth/me')).status).to.equal(401);
      expect((await app.client.post('/auth/refresh', { refreshToken: other.result.refreshToken })).status).to.equal(
        401,
      );
      expect((await client.get('/auth/me')).status).to.equal(200);
      expect((await client.delete(`/auth/sessions/${target}`)).status).to.equal(404);
      expect(await auditedOf(identity, user)).to.include('session_ended');
    });

    it("are all ended except the current one, with both of their tokens, and no other member's", async () => {
      const { who: user, client, result } = await signedIn();
      const others = [await signIn(app.client, user), await signIn(app.client, user)];
      const colleague = await signIn(app.client, { ...user, member: user.owner });
      for (const other of others) expect((await other.client.get('/auth/me')).status).to.equal(200);
      const answer = await client.delete('/auth/sessions');
      expect([answer.status, answer.body]).to.deep.equal([200, { ok: true }]);
      for (const other of others) {
        expect((await other.client.get('/auth/me')).status).to.equal(401);
        expect((await app.client.post('/auth/refresh', { refreshToken: other.result.refreshToken })).status).to.equal(
          401,
        );
      }
      expect((await client.get<OwnSession[]>('/auth/sessions')).body.map(({ current }) => current)).to.deep.equal([
        true,
      ]);
      expect((await app.client.post('/auth/refresh', { refreshToken: result.refreshToken })).status).to.equal(200);
      expect((await colleague.client.get('/auth/me')).status).to.equal(200);
      expect((await client.delete('/auth/sessions')).body, 'when none is left').to.deep.equal({ ok: true });
      const rows = await identity.database.read({ tenantId: null }, (tx) =>
        tx.all(
          "SELECT record_id, changes FROM audit_log WHERE actor_id = ? AND action = 'other_sessions_ended' ORDER BY id",
          [user.member.id],
        ),
      );
      expect(rows).to.deep.equal([
        { record_id: user.member.id, changes: '{"sessionsRevoked":2}' },
        { record_id: user.member.id, changes: '{"sessionsRevoked":0}' },
      ]);
    });

    it('that end each other concurrently leave one', async () => {
      const { who: user, client } = await signedIn();
      const other = await signIn(app.client, user);
      const answers = await Promise.all([client.delete('/auth/sessions'), other.client.delete('/auth/sessions')]);
      expect(answers.map(({ status }) => status)).to.have.members([200, 401]);
    });

    it('that are opened while the others end are either valid or ended', async () => {
      const { who: user, client } = await signedIn();
      const [, ...logins] = await Promise.all([
        client.delete('/auth/sessions'),
        ...[1, 2, 3].map(() => signIn(app.client, user)),
      ]);
      const live = (await client.get<OwnSession[]>('/auth/sessions')).body.length - 1;
      const going = await Promise.all(logins.map(async (login) => (await login.client.get('/auth/me')).status));
      expect(going.filter((status) => status === 200)).to.have.length(live);
    });

    it('may end themselves', async () => {
      const { client } = await signedIn();
      const { body } = await client.get<OwnSession[]>('/auth/sessions');
      expect((await client.delete(`/auth/sessions/${body[0]?.id ?? ''}`)).status).to.equal(200);
      expect((await client.get('/auth/me')).status).to.equal(401);
    });

    it('of another member or tenant, or unknown ones, are not found with identical answers, and continue', async () => {
      const { who: user, client } = await signedIn();
      const colleague = await signIn(app.client, { ...user, member: user.owner });
      const otherTenant = await signedIn();
      const ids: string[] = [];
      for (const { client: theirs } of [colleague, otherTenant])
        ids.push((await theirs.get<OwnSession[]>('/auth/sessions')).body[0]?.id ?? '');
      const texts = new Set<string>();
      for (const id of [...ids, '01890000-0000-7000-8000-0000000000ff', 'no-id']) {
        const answer = await client.delete(`/auth/sessions/${id}`);
        expect(answer.status).to.equal(404);
        texts.add(answer.text);
      }
      expect(texts.size).to.equal(1);
      for (const { client: theirs } of [colleague, otherTenant])
        expect((await theirs.get('/auth/me')).status).to.equal(200);
    });
  });
});
