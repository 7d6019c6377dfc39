import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { keyIdOf, signerOf } from '../../data-plane-agent/base/link/keys.js';
import { LINK_PATHS } from '../../data-plane-agent/base/link/messages.js';
import { signToken } from '../../data-plane-agent/base/link/tokens.js';
import { makeTenant } from '../support/accounts.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { namedFields, type Answer, type DomainError, type FrameworkError } from '../support/http.js';
import {
  aJoiningAgent,
  challengeFor,
  joinBody,
  joinTokenFor,
  joinWith,
  post,
  rotateTo,
  type JoiningAgent,
} from '../support/joining.js';
import { needsPostgres } from '../support/postgres.js';
import { startServer, type TestServer } from '../support/server.js';

const DAY_MS = 24 * 3_600_000;
const refusal = ({ status, body }: Answer<DomainError>): unknown[] => [status, body.error.code];

for (const database of ['sqlite', 'postgres'] as const) {
  describe(`an agent that joins, with the platform database on ${database}`, () => {
    if (database === 'postgres') needsPostgres();
    let clock: FakeClock;
    let server: TestServer;
    let tenantId: string;
    let slug: string;
    let agent: JoiningAgent;
    let joinToken: string;
    let connectionId: string;

    before(async () => {
      clock = fakeClock();
      server = await startServer({
        database,
        clock,
        env: { EDITION: 'enterprise_hybrid', RATE_LIMIT_PER_MINUTE: '0' },
      });
    });
    after(() => server.stop());
    beforeEach(async () => {
      ({
        tenant: { id: tenantId, slug },
      } = await makeTenant(server.services));
      agent = await aJoiningAgent();
      ({ joinToken, connectionId } = await joinTokenFor(server, tenantId));
    });

    const join = (as: JoiningAgent = agent) => joinWith(server.client, as, { joinToken, clock });
    const sent = (body: unknown) => post<FrameworkError & DomainError>(server.client, LINK_PATHS.join, { body });
    const shown = async (of = tenantId) =>
      (await server.services.tenants.connections.list(of)).find(({ kind }) => kind === 'agent');
    const audited = (): Promise<Record<string, unknown>[]> =>
      server.foundation.platform.read({ tenantId: null }, async (tx) =>
        (
          await tx.all(
            "SELECT action, record_id, changes FROM audit_log WHERE tenant_id = ? AND action LIKE 'data_plane_%' ORDER BY id",
            [tenantId],
          )
        ).map((row) => ({ ...row, changes: JSON.parse(String(row['changes'])) as unknown })),
      );

    it('learns its connection, its organisation and the keys of the service, and is recorded', async () => {
      const { status, body } = await join();
      expect(status).to.equal(200);
      expect(body).to.deep.include({
        connectionId,
        controlPlane: server.config.publicUrl,
        accessMode: 'outbound',
      });
      expect(body.tenant).to.deep.include({ id: tenantId, slug, timeZone: 'UTC', active: true });
      expect(body.keys).to.have.length(1);
      expect(await shown()).to.deep.include({
        id: connectionId,
        status: 'disconnected',
        agentVersion: '1.2.3',
        components: [{ kind: 'database', provider: 'postgres', location: null, state: 'up' }],
      });
      expect((await audited()).at(-1)).to.deep.equal({
        action: 'data_plane_joined',
        record_id: connectionId,
        changes: { instanceId: agent.instanceId, kid: agent.pair.kid },
      });
    });

    it('wins alone if others join with the same token at the same time', async () => {
      const others = await Promise.all(Array.from({ length: 6 }, aJoiningAgent));
      const answers = await Promise.all(others.map((other) => join(other)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      for (const answer of answers.filter(({ status }) => status !== 200))
        expect(refusal(answer)).to.deep.equal([410, 'JOIN_TOKEN_USED']);
    });

    it('is refused with an expired token', async () => {
      clock.advance(DAY_MS - 1);
      const { challenge, late } = {
        challenge: await challengeFor(server.client, joinToken),
        late: await aJoiningAgent(),
      };
      clock.advance(1);
      expect(refusal(await sent(await joinBody(late, { joinToken, challenge, clock })))).to.deep.equal([
        410,
        'JOIN_TOKEN_EXPIRED',
      ]);
    });

    it('is refused with an unknown token, and with one that a newer one has replaced', async () => {
      const replaced = joinToken;
      await joinTokenFor(server, tenantId);
      for (const token of [replaced, 'dpj_nothing', replaced.toUpperCase()])
        expect(refusal(await joinWith(server.client, agent, { joinToken: token, clock })), token).to.deep.equal([
          401,
          'JOIN_TOKEN_INVALID',
        ]);
    });

    it('joins the organisation of its token only, and with no challenge or proof for the token of another', async () => {
      const other = await makeTenant(server.services);
      const theirs = await joinTokenFor(server, other.tenant.id);
      const challenge = await challengeFor(server.client, joinToken);
      const crossed = await joinBody(agent, { joinToken: theirs.joinToken, challenge, clock });
      expect(refusal(await sent(crossed)), 'the nonce of this token').to.deep.equal([401, 'CHALLENGE_INVALID']);
      const proven = await joinBody(agent, { joinToken, challenge, clock });
      expect(refusal(await sent({ ...proven, joinToken: theirs.joinToken })), 'the proof of it').to.deep.equal([
        401,
        'LINK_TOKEN_REFUSED',
      ]);
      const { body } = await joinWith(server.client, agent, { joinToken: theirs.joinToken, clock });
      expect([body.connectionId, body.tenant.id]).to.deep.equal([theirs.connectionId, other.tenant.id]);
      expect((await shown())?.status).to.equal('pending');
      expect((await join()).status, 'with the token of the first').to.equal(200);
    });

    it('is refused with the signature of another key, and of another instance or service', async () => {
      const challenge = await challengeFor(server.client, joinToken);
      const stranger = await aJoiningAgent();
      const facts = { joinToken, challenge, clock };
      const right = await joinBody(agent, facts);
      for (const [what, body] of Object.entries({
        'another key': await joinBody(agent, { ...facts, signer: stranger.signer }),
        'the id of the right key, signed by another': await joinBody(agent, {
          ...facts,
          signer: { ...stranger.signer, kid: agent.signer.kid },
        }),
        'another instance': { ...right, instanceId: newId() },
        'another service': await joinBody(agent, {
          ...facts,
          challenge: { ...challenge, controlPlane: 'https://other.example.com' },
        }),
        'a token for something else': {
          ...right,
          proof: signToken(
            { type: 'rotate', issuer: agent.instanceId, audience: challenge.controlPlane },
            { claims: {}, signer: agent.signer, clock },
          ),
        },
        'no token': { ...right, proof: 'proof' },
      }))
        expect(refusal(await sent(body)), what).to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
      expect((await sent(right)).status, 'and none of them has used up the token').to.equal(200);
    });

    it('is refused with a challenge that is older than a minute, used before or invented', async () => {
      const challenge = await challengeFor(server.client, joinToken);
      clock.advance(60_000);
      const body = await joinBody(agent, { joinToken, challenge, clock });
      expect(refusal(await sent(body))).to.deep.equal([401, 'CHALLENGE_INVALID']);
      const [random = '', until = '', code = ''] = challenge.nonce.split('.');
      const later = { ...challenge, nonce: [random, Number(until) + DAY_MS, code].join('.') };
      expect(refusal(await sent(await joinBody(agent, { joinToken, challenge: later, clock })))).to.deep.equal([
        401,
        'CHALLENGE_INVALID',
      ]);
      const fresh = await joinBody(agent, {
        joinToken,
        challenge: await challengeFor(server.client, joinToken),
        clock,
      });
      expect([(await sent(fresh)).status, refusal(await sent(fresh))]).to.deep.equal([200, [410, 'JOIN_TOKEN_USED']]);
    });

    it('needs a new token if the answer was lost before it was stored, and reads why', async () => {
      expect((await join()).status).to.equal(200);
      const again = await join();
      expect(refusal(again)).to.deep.equal([410, 'JOIN_TOKEN_USED']);
      expect(again.body.error.message).to.contain('create a new join token');
      const next = await joinTokenFor(server, tenantId);
      expect(next.connectionId).to.equal(connectionId);
      const other = await aJoiningAgent();
      const { status, body } = await joinWith(server.client, other, { joinToken: next.joinToken, clock });
      expect([status, body.connectionId]).to.deep.equal([200, connectionId]);
    });

    it('learns how far its clock is off', async () => {
      const challenge = await challengeFor(server.client, joinToken);
      const ahead = fakeClock(clock.now() + 5 * 60_000);
      const answer = await sent(await joinBody(agent, { joinToken, challenge, clock: ahead }));
      expect([...refusal(answer), answer.body.error.details]).to.deep.equal([
        401,
        'CLOCK_SKEW',
        { serverTime: new Date(clock.now()).toISOString(), seconds: 300 },
      ]);
      const within = fakeClock(clock.now() - 59_000);
      expect((await sent(await joinBody(agent, { joinToken, challenge, clock: within }))).status).to.equal(200);
    });

    it('learns that it has no version of the protocol in common with the service', async () => {
      const challenge = await challengeFor(server.client, joinToken);
      const body = await joinBody(agent, { joinToken, challenge, clock });
      const answer = await sent({ ...body, protocols: { min: 900, max: 901 } });
      expect([...refusal(answer), answer.body.error.details['max']]).to.deep.equal([409, 'PROTOCOL_UNSUPPORTED', 1]);
    });

    it('reads which fields of a bad request are wrong', async () => {
      const good = await joinBody(agent, {
        joinToken,
        challenge: await challengeFor(server.client, joinToken),
        clock,
      });
      const { x: _x, ...keyless } = agent.pair.publicJwk;
      for (const [body, fields] of [
        [{ ...good, instanceId: 'one' }, ['instanceId']],
        [{ ...good, key: keyless }, ['key.x']],
        [{ ...good, key: { ...agent.pair.publicJwk, crv: 'X25519' } }, ['key.crv']],
        [{ ...good, key: { ...agent.pair.publicJwk, d: 'secret' } }, ['key.d']],
        [
          { ...good, components: [{ kind: 'database' }] },
          ['components[0].provider', 'components[0].location', 'components[0].state'],
        ],
        [[], ['body']],
      ] as const)
        expect(namedFields(await sent(body)), JSON.stringify(fields)).to.deep.equal([400, fields]);
      const challenge = (body: unknown) => post<FrameworkError>(server.client, LINK_PATHS.challenge, { body });
      expect(namedFields(await challenge({ tokenHash: 'short' }))).to.deep.equal([400, ['tokenHash']]);
      const rotate = (body: unknown) => post<FrameworkError>(server.client, LINK_PATHS.rotate, { body });
      expect(namedFields(await rotate({}))).to.deep.equal([400, ['key', 'proof']]);
      expect((await sent({ ...good, proof: 'a'.repeat(70_000) })).status).to.equal(413);
      for (const path of [LINK_PATHS.challenge, LINK_PATHS.join, LINK_PATHS.rotate]) {
        const raw = async (headers: Record<string, string>, body = '{}') =>
          (await server.client.raw(path, { method: 'POST', headers, body })).status;
        expect(
          [
            (await server.client.raw(path)).status,
            await raw({ 'content-type': 'text/plain' }),
            await raw({ 'content-type': 'application/json' }, '{'),
            await raw({ 'content-type': 'application/json', origin: 'https://book.example.com' }),
          ],
          path,
        ).to.deep.equal([405, 415, 400, 403]);
      }
    });

    it('may send any 32 bytes as a key: only a key that signed the proof is accepted', async () => {
      const challenge = await challengeFor(server.client, joinToken);
      for (const x of ['A'.repeat(43), '_'.repeat(43), `${'A'.repeat(42)}B`]) {
        const key = { kty: 'OKP', crv: 'Ed25519', x } as const;
        const signer = { ...agent.signer, kid: await keyIdOf(key) };
        const body = await joinBody(agent, { joinToken, challenge, clock, signer });
        expect(refusal(await sent({ ...body, key })), x).to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
      }
    });

    describe('and replaces its key', () => {
      let next: JoiningAgent;
      let joined: { connectionId: string; controlPlane: string };
      beforeEach(async () => {
        joined = (await join()).body;
        next = await aJoiningAgent();
      });
      const rotate = (to: JoiningAgent = next, by: JoiningAgent = agent) =>
        rotateTo(server.client, to, { current: by.signer, joined, clock });

      it('uses both keys for 24 hours', async () => {
        const answer = await rotate();
        expect([answer.status, answer.body.oldKeyUntil]).to.deep.equal([200, clock.now() + DAY_MS]);
        expect((await audited()).at(-1)).to.deep.include({
          action: 'data_plane_key_rotated',
          changes: { from: agent.pair.kid, to: next.pair.kid, oldKeyUntil: clock.now() + DAY_MS },
        });
        const third = await aJoiningAgent();
        expect((await rotate(third, next)).status, 'with the new key').to.equal(200);
      });

      it('repeats the rotation with the old key until a session has used the new one', async () => {
        const first = await rotate();
        clock.advance(1_000);
        const repeated = await rotate();
        expect([repeated.status, repeated.body.oldKeyUntil], 'the answer was lost').to.deep.equal([
          200,
          first.body.oldKeyUntil,
        ]);
        const other = await aJoiningAgent();
        expect((await rotate(other)).status, 'the new key was lost').to.equal(200);
        expect(refusal(await rotate(await aJoiningAgent(), next))).to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
        expect((await rotate(await aJoiningAgent(), other)).status).to.equal(200);
      });

      it('is refused with the old key after 24 hours', async () => {
        await rotate();
        clock.advance(DAY_MS);
        expect(refusal(await rotate())).to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
        expect((await rotate(await aJoiningAgent(), next)).status).to.equal(200);
      });

      it('needs the signatures of both keys, for each other', async () => {
        const stranger = await aJoiningAgent();
        expect(refusal(await rotate(next, stranger)), 'the old key').to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
        const facts = { current: agent.signer, joined, clock };
        expect(
          refusal(await rotateTo(server.client, next, { ...facts, proofBy: stranger.signer })),
          'the new key',
        ).to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
        expect(namedFields((await rotate(agent)) as unknown as Answer<FrameworkError>)).to.deep.equal([400, ['key']]);
        const without = await post<DomainError>(server.client, LINK_PATHS.rotate, {
          body: { key: next.pair.publicJwk, proof: 'proof' },
        });
        expect(refusal(without), 'without the old key').to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
      });

      it('cannot send the same request twice', async () => {
        const sends: { body: string; authorization: string }[] = [];
        const recording = {
          ...server.client,
          raw: (path: string, request: { headers?: Readonly<Record<string, string>>; body?: unknown } = {}) => {
            sends.push({ body: String(request.body), authorization: request.headers?.['authorization'] ?? '' });
            return server.client.raw(path, { method: 'POST', ...(request as object) });
          },
        } as typeof server.client;
        await rotateTo(recording, next, { current: agent.signer, joined, clock });
        const [{ body, authorization } = { body: '', authorization: '' }] = sends;
        const again = await post<DomainError>(server.client, LINK_PATHS.rotate, {
          body: JSON.parse(body) as unknown,
          headers: { authorization },
        });
        expect([...refusal(again), again.body.error.details['reason']]).to.deep.equal([
          401,
          'LINK_TOKEN_REFUSED',
          'the token was used before',
        ]);
      });

      it('reads that it was revoked or suspended', async () => {
        await server.services.tenants.connections.revoke({ tenantId, kind: 'agent' }, { ...SYSTEM });
        expect(refusal(await rotate())).to.deep.equal([403, 'CONNECTION_REVOKED']);
        ({ joinToken } = await joinTokenFor(server, tenantId));
        expect(refusal(await rotate()), 'also while another one may join').to.deep.equal([403, 'CONNECTION_REVOKED']);
        expect((await join()).status).to.equal(200);
        await server.foundation.platform.write({ tenantId: null }, (tx) =>
          tx.run("UPDATE data_plane_connections SET status = 'suspended' WHERE id = ?", [connectionId]),
        );
        expect(refusal(await rotate())).to.deep.equal([403, 'CONNECTION_SUSPENDED']);
      });

      it('is refused as an agent of another connection', async () => {
        const other = await makeTenant(server.services);
        const theirs = await joinTokenFor(server, other.tenant.id);
        const { body } = await joinWith(server.client, next, { joinToken: theirs.joinToken, clock });
        const third = await aJoiningAgent();
        const crossed = await rotateTo(server.client, third, { current: agent.signer, joined: body, clock });
        expect(refusal(crossed)).to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
        const unknown = await rotateTo(server.client, third, {
          current: signerOf(agent.pair),
          joined: { ...joined, connectionId: newId() },
          clock,
        });
        expect(refusal(unknown)).to.deep.equal([401, 'LINK_TOKEN_REFUSED']);
      });
    });
  });
}

const SYSTEM = { kind: 'system', id: null, name: 'test', ip: null, requestId: 'test-request' } as const;

describe('the paths for agents', () => {
  it('do not exist if the service itself stores contract data', async () => {
    const server = await startServer();
    try {
      for (const path of [LINK_PATHS.challenge, LINK_PATHS.join, LINK_PATHS.rotate])
        expect((await post(server.client, path, { body: {} })).status, path).to.equal(404);
    } finally {
      await server.stop();
    }
  });

  it('are limited by address', async () => {
    const server = await startServer({ env: { EDITION: 'enterprise_hybrid', RATE_LIMIT_PER_MINUTE: '3' } });
    try {
      const ask = () => post(server.client, LINK_PATHS.challenge, { body: { tokenHash: 'a'.repeat(64) } });
      const answers = [await ask(), await ask(), await ask(), await ask()];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 429]);
      expect(answers.at(-1)?.headers.get('retry-after')).to.match(/^\d+$/);
    } finally {
      await server.stop();
    }
  });
});
