import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { makeTenant, type MadeTenant } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import { forEachServer } from '../support/server.js';

const HOUR_MS = 3_600_000;
const clock = fakeClock();
/** The number of kinds of unauthenticated events per hour that are recorded separately; others are counted together. */
const AN_HOUR = 20;

/** Uses another address for each request, as an attacker with many addresses would. */
let addresses = 0;
const fromElsewhere = () => ({
  headers: { 'X-Forwarded-For': `198.51.${Math.floor(++addresses / 250)}.${addresses % 250}` },
});
const token = () => createHash('sha256').update(randomBytes(8)).digest('base64url');

describe('the audit of unauthenticated requests', () => {
  forEachServer(
    (server) => {
      let made: MadeTenant;
      before(async () => {
        made = await makeTenant(server().services);
      });
      const rows = async (
        action: string,
      ): Promise<
        { ip: string | null; recordId: string | null; tenantId: string | null; changes: Record<string, unknown> }[]
      > => {
        const found = await server().foundation.platform.read({ tenantId: null }, (tx) =>
          tx.all('SELECT tenant_id, ip, record_id, changes FROM audit_log WHERE action = ? ORDER BY id', [action]),
        );
        return found.map((row) => ({
          tenantId: row['tenant_id'] as string | null,
          ip: row['ip'] as string | null,
          recordId: row['record_id'] as string | null,
          changes: JSON.parse(String(row['changes'])) as Record<string, unknown>,
        }));
      };
      const count = async (): Promise<number> =>
        Number(
          (
            await server().foundation.platform.read({ tenantId: null }, (tx) =>
              tx.get('SELECT count(*) AS n FROM audit_log'),
            )
          )?.['n'],
        );
      const endHour = async () => {
        clock.advance(HOUR_MS + 10 * 60_000);
        await server().schedules.run('audit-repeats');
      };
      const repeatsOf = (all: readonly { changes: Record<string, unknown> }[]) =>
        all.reduce((sum, { changes }) => sum + (typeof changes['repeats'] === 'number' ? changes['repeats'] : 1), 0);
      const flood = async (n: number, request: () => Promise<{ status: number }>) => {
        for (let sent = 0; sent < n; sent += 20) await Promise.all(Array.from({ length: 20 }, request));
      };

      const KINDS: readonly {
        readonly action: string;
        readonly what: string;
        readonly request: () => Promise<{ status: number }>;
      }[] = [
        {
          action: 'token_refused',
          what: 'tokens that nobody was given',
          request: () =>
            server().client.post(
              '/auth/password-reset/confirm',
              { token: token(), tenantSlug: made.tenant.slug, password: 'Another-Horse-43' },
              fromElsewhere(),
            ),
        },
        {
          action: 'token_refused',
          what: 'invitations that nobody sent',
          request: () =>
            server().client.post(
              '/auth/invitations/accept',
              { token: token(), name: 'Eve', password: 'Another-Horse-43' },
              fromElsewhere(),
            ),
        },
        {
          action: 'password_reset_requested',
          what: 'resets for accounts that are not there',
          request: () =>
            server().client.post(
              '/auth/password-reset/request',
              { tenantSlug: made.tenant.slug, email: `${token().slice(0, 12).toLowerCase()}@ghost.test` },
              fromElsewhere(),
            ),
        },
        {
          action: 'login_resolved',
          what: 'questions where an address signs in',
          request: () =>
            server().client.post(
              '/auth/login/resolve',
              { email: `${token().slice(0, 12).toLowerCase()}@ghost.test` },
              fromElsewhere(),
            ),
        },
        {
          action: 'login_failed',
          what: 'sign-ins to accounts and organisations that are not there',
          request: () =>
            server().client.post(
              '/auth/login',
              {
                tenantSlug: `no-${token()
                  .slice(0, 8)
                  .toLowerCase()
                  .replaceAll(/[^a-z0-9]/g, 'x')}`,
                email: 'eve@ghost.test',
                password: 'wrong-password',
              },
              fromElsewhere(),
            ),
        },
      ];
      for (const { action, what, request } of KINDS) {
        it(`is bounded and counted: ${what}`, async () => {
          const [before, allBefore] = [(await rows(action)).length, await count()];
          await flood(200, request);
          const first = (await rows(action)).slice(before);
          // Concurrent requests may each see free capacity, as each runs in its own transaction.
          expect(first.length).to.be.within(1, AN_HOUR + 20);
          await endHour();
          const all = (await rows(action)).slice(before);
          expect(all.length).to.be.at.most(2 * (AN_HOUR + 20) + 1);
          expect(repeatsOf(all), 'no request is lost').to.equal(200);
          expect(all.at(-1)?.changes).to.include({ others: true });
          // Their consequences do not add a row each either.
          expect((await count()) - allBefore - all.length).to.be.at.most(4);
        });
      }

      it('has one row and a count for one network, whichever of its addresses is used', async () => {
        const before = (await rows('token_refused')).length;
        for (let n = 1; n <= 30; n++) {
          await server().client.post(
            '/auth/password-reset/confirm',
            { token: token(), tenantSlug: made.tenant.slug, password: 'Another-Horse-43' },
            { headers: { 'X-Forwarded-For': `2001:db8:1:2::${n.toString(16)}` } },
          );
        }
        expect((await rows('token_refused')).length - before).to.equal(1);
        await endHour();
        const [first, repeats, ...more] = (await rows('token_refused')).slice(before);
        expect(more).to.deep.equal([]);
        expect([first?.ip, repeats?.ip, repeats?.changes['repeats']]).to.deep.equal([
          '2001:db8:1:2::1',
          '2001:db8:1:2::1',
          29,
        ]);
      });

      it('records requests for an existing account in the audit of its organisation', async () => {
        const before = (await rows('password_reset_requested')).length;
        for (let n = 0; n < 5; n++)
          await server().client.post(
            '/auth/password-reset/request',
            { tenantSlug: made.tenant.slug, email: made.owner.email },
            { headers: { 'X-Forwarded-For': '203.0.113.77' } },
          );
        await endHour();
        expect(
          (await rows('password_reset_requested'))
            .slice(before)
            .map(({ tenantId, recordId, ip, changes }) => [tenantId, recordId, ip, changes['repeats']]),
        ).to.deep.equal([
          [made.tenant.id, made.owner.id, '203.0.113.77', undefined],
          [made.tenant.id, made.owner.id, '203.0.113.77', 4],
        ]);
      });

      it('leaves no counts behind once they are recorded', async () => {
        await endHour();
        const left = await server().foundation.platform.read({ tenantId: null }, (tx) =>
          tx.get('SELECT count(*) AS n FROM audit_repeats'),
        );
        expect(Number(left?.['n'])).to.equal(0);
      });
    },
    { clock, env: { TRUST_PROXY: '1', LOGIN_FAILURES_PER_IP: '0', LOGIN_RESOLVES_PER_MINUTE: '10000' } },
  );
});
