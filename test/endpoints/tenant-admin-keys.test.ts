import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { PASSWORD } from '../support/accounts.js';
import { administration, type Administration } from '../support/administration.js';
import type { Answer, DomainError, FrameworkError } from '../support/http.js';
import { fakeClock } from '../support/clock.js';
import { forEachServer } from '../support/server.js';

interface Subject {
  id: string;
  name: string;
}

const clock = fakeClock();
const key = (): Record<string, string> => ({ 'Idempotency-Key': `key-${randomBytes(8).toString('hex')}` });
const replayed = ({ headers }: Answer<unknown>) => headers.get('idempotency-replayed');

forEachServer(
  (server) => {
    describe('a change of platform data with an idempotency key', () => {
      let org: Administration;
      beforeEach(async () => {
        org = await administration(server());
      });
      const add = <T = Subject>(name: string, headers: Record<string, string>, client = org.asOwner) =>
        client.post<T>('/tenant-admin/subjects', { name }, { headers });
      const subjects = async () => (await org.asOwner.get<Subject[]>('/tenant-admin/subjects')).body;

      it('happens once: the repeat gets the same bytes as the first answer, marked as replayed', async () => {
        const headers = key();
        const first = await add('Once', headers);
        const second = await add('Once', headers);
        expect([second.status, second.text, replayed(second)]).to.deep.equal([201, first.text, 'true']);
        expect(replayed(first)).to.equal(null);
        expect(await subjects()).to.have.length(2);
        expect((await org.audit()).filter(({ action }) => action === 'subject_added')).to.have.length(1);
      });

      it('happens once in many concurrent requests', async () => {
        const headers = key();
        const answers = await Promise.all(Array.from({ length: 8 }, () => add('At once', headers)));
        expect(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size).to.equal(1);
        expect(
          answers
            .filter(({ status }) => status !== 201)
            .every(
              ({ status, body }) =>
                status === 409 && (body as unknown as DomainError).error.code === 'IDEMPOTENCY_IN_PROGRESS',
            ),
        ).to.equal(true);
        expect(await subjects()).to.have.length(2);
      });

      it('is refused if the key comes with another body or another path', async () => {
        const headers = key();
        await add('First', headers);
        const other = await add<DomainError>('Second', headers);
        expect([other.status, other.body.error.code]).to.deep.equal([422, 'IDEMPOTENCY_KEY_REUSED']);
        // A key on another path is a different key.
        expect(
          (await org.asOwner.post('/tenant-admin/notification-channels', { kind: 'email' }, { headers })).status,
        ).to.equal(201);
      });

      it('belongs to one user and tenant', async () => {
        const headers = key();
        const admin = await org.join({ roleCode: 'admin' });
        const otherTenant = await administration(server());
        const made = [
          await add('Mine', headers),
          await add('Mine', headers, admin.client),
          await add('Mine', headers, otherTenant.asOwner),
        ];
        expect(new Set(made.map(({ body }) => body.id)).size).to.equal(3);
        expect(made.map(replayed)).to.deep.equal([null, null, null]);
      });

      it('repeats a refusal, and the deletion of a record', async () => {
        const headers = key();
        const refuse = () =>
          org.asOwner.delete<DomainError>(`/tenant-admin/subjects/${org.subjectId}`, undefined, { headers });
        const first = await refuse();
        expect([first.status, first.body.error.code]).to.deep.equal([409, 'LAST_SUBJECT']);
        const { body: second } = await add('Second', key());
        const again = await refuse();
        expect([again.status, again.text, replayed(again)]).to.deep.equal([409, first.text, 'true']);
        const deletedKey = key();
        const remove = () =>
          org.asOwner.delete(`/tenant-admin/subjects/${second.id}`, undefined, { headers: deletedKey });
        expect([(await remove()).status, (await remove()).status]).to.deep.equal([200, 200]);
      });

      it('does not store a validation failure: the corrected request may use the key', async () => {
        const headers = key();
        const post = <T>(target: string) =>
          org.asOwner.post<T>('/tenant-admin/notification-channels', { kind: 'webhook', target }, { headers });
        expect((await post<FrameworkError>('https://10.0.0.1/')).status).to.equal(400);
        expect((await post('https://hooks.example.com/')).status).to.equal(201);
        expect(
          (
            await org.asOwner.post<FrameworkError>(
              '/tenant-admin/subjects',
              { name: 'X' },
              { headers: { 'Idempotency-Key': 'short' } },
            )
          ).body.message,
        ).to.deep.equal(['Idempotency-Key must be 8 to 255 printable ASCII characters']);
      });

      it('is stored encrypted, for a day', async () => {
        const headers = key();
        const first = await add('Unmistakable', headers);
        const rows = await server().foundation.platform.read({ tenantId: null }, (tx) =>
          tx.all('SELECT * FROM idempotency_records WHERE tenant_id = ?', [org.tenant.id]),
        );
        expect(rows).to.have.length(1);
        expect(JSON.stringify(rows))
          .to.match(/"v1\./)
          .and.not.contain('Unmistakable')
          .and.not.contain(headers['Idempotency-Key'] ?? '');
        clock.advance(24 * 3_600_000);
        // The owner's access token has expired by now.
        const { body } = await server().client.post<{ accessToken: string }>('/auth/login', {
          tenantSlug: org.tenant.slug,
          email: org.owner.email,
          password: PASSWORD,
        });
        const next = await add('Unmistakable', headers, server().client.as(body.accessToken));
        expect([next.status, next.body.id === first.body.id]).to.deep.equal([201, false]);
      });

      it('includes side effects: an invitation is sent once', async () => {
        const headers = key();
        const invite = () =>
          org.asOwner.post<{ id: string }>(
            '/tenant-admin/invitations',
            { email: 'new@example.test', roleCode: 'viewer' },
            { headers },
          );
        const [first, second] = [await invite(), await invite()];
        expect([second.status, second.text, replayed(second)]).to.deep.equal([201, first.text, 'true']);
      });
    });
  },
  { clock },
);
