import { expect } from 'chai';
import type { ContractDetail } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import { makeMember, makeTenant, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import type { Answer, Client } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

const DAY_MS = 86_400_000;
const CONDITIONAL = Object.values(ENDPOINTS as Readonly<Record<string, Endpoint>>).filter(
  ({ conditional }) => conditional,
);
const clock = fakeClock('2026-03-15T08:00:00.000Z');

describe('lists with an entity tag', () => {
  it('are those of contracts and of payment lines', () => {
    expect(CONDITIONAL.map(({ route }) => route)).to.have.members(['GET /contracts', 'GET /payments']);
  });

  forEachServer(
    (server) => {
      let made: MadeTenant;
      let owner: Client;
      let token: string;
      let contract: ContractDetail;
      before('a tenant with a contract', async () => {
        made = await makeTenant(server().services);
        await signInAgain();
        const created = await owner.post<ContractDetail>(
          '/contracts',
          aContract({
            subjectId: made.subjectId,
            ownerId: made.owner.id,
            payments: [aLine({ dueDate: '2026-03-16' }), aLine({ dueDate: '2026-03-20' })],
          }),
        );
        expect(created.status, created.text).to.equal(201);
        contract = created.body;
      });

      const asked = (client: Client, path: string, ifNoneMatch?: string): Promise<Answer<unknown>> =>
        client.get(path, ifNoneMatch === undefined ? {} : { headers: { 'If-None-Match': ifNoneMatch } });
      const tagOf = ({ headers }: Answer<unknown>): string => headers.get('etag') ?? '';

      for (const path of ['/contracts?sort=contractNo', '/payments?tab=all']) {
        /** That what the owner had is answered anew after the change, and differs. */
        const changes = async (change: () => Promise<unknown>): Promise<void> => {
          const known = await asked(owner, path);
          expect((await asked(owner, path, tagOf(known))).status).to.equal(304);
          await change();
          const after = await asked(owner, path, tagOf(known));
          expect(after.status, after.text).to.equal(200);
          expect(after.text).not.to.equal(known.text);
          expect(tagOf(after)).not.to.equal(tagOf(known));
        };

        it(`${path} is answered with 304 and no body to who has the answer`, async () => {
          const first = await asked(owner, path);
          const tag = tagOf(first);
          expect(tag).to.match(/^"[0-9a-f]{32}"$/);
          expect((await asked(owner, path)).headers.get('etag')).to.equal(tag);
          for (const sent of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
            const again = await asked(owner, path, sent);
            expect([again.status, again.text, tagOf(again)], sent).to.deep.equal([304, '', tag]);
            expect(again.headers.get('content-type')).to.equal(null);
            expect(again.headers.get('cache-control')).to.equal('no-store');
            expect(again.headers.get('x-request-id')).to.be.a('string');
          }
          for (const sent of ['"other"', tag.replaceAll('"', ''), '']) {
            const again = await asked(owner, path, sent);
            expect([again.status, again.text, tagOf(again)], sent).to.deep.equal([200, first.text, tag]);
          }
          const head = await owner.raw(`/api/v1${path}`, {
            method: 'HEAD',
            headers: { Authorization: `Bearer ${token}`, 'If-None-Match': tag },
          });
          expect([head.status, head.text]).to.deep.equal([304, '']);
        });

        it(`${path} is answered anew after a write, a new name and another day`, async () => {
          const receivedAmount = path.startsWith('/contracts') ? 1 : 2;
          await changes(() => owner.patch(`/payments/${contract.payments[0]?.id}/receipt`, { receivedAmount }));
          await changes(() => owner.patch(`/tenant-admin/members/${made.owner.id}`, { name: `Seen in ${path}` }));
          await changes(() => {
            clock.advance(3 * DAY_MS);
            return signInAgain();
          });
        });

        it(`${path} is answered anew to a caller who sees something else, and refused as without a tag`, async () => {
          const tag = tagOf(await asked(owner, path));
          const scoped = await makeMember(server().services, made, { roleCode: 'finance', subjectScope: [] });
          const { client } = await signIn(server().client, { tenant: made.tenant, member: scoped });
          const seen = await asked(client, path, tag);
          expect([seen.status, (seen.body as { total: number }).total]).to.deep.equal([200, 0]);
          expect((await asked(server().client, path, tag)).status).to.equal(401);
          expect((await asked(server().client, path, '*')).status).to.equal(401);
          expect((await asked(owner, `${path}&page=x`, '*')).status).to.equal(400);
        });
      }

      it('a contract is not, whose tag is its version', async () => {
        const { version } = (await owner.get<ContractDetail>(`/contracts/${contract.id}`)).body;
        for (const sent of [`"${version}"`, '*']) {
          const again = await asked(owner, `/contracts/${contract.id}`, sent);
          expect([again.status, tagOf(again)], sent).to.deep.equal([200, `"${version}"`]);
        }
      });

      /** An access token lasts a quarter of an hour. */
      const signInAgain = async (): Promise<void> => {
        const { client, result } = await signIn(server().client, { tenant: made.tenant, member: made.owner });
        owner = client;
        token = result.accessToken;
      };
    },
    { clock },
  );
});
