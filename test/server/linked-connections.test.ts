import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey } from '../../data-plane-agent/base/link/keys.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { createChanges } from '../../server/access/changes.js';
import { removeExpired } from '../../server/store/expiry.js';
import { LinkTokenStore } from '../../server/store/link-tokens.js';
import { acceptedKeys, LinkedConnectionStore, type AgentKey } from '../../server/store/linked-connections.js';
import { createOutbound } from '../../data-plane-agent/base/outbound.js';
import { createChange } from '../../server/tenants/change.js';
import { createConnections } from '../../server/tenants/connections.js';
import { makeTenant, OPERATOR, PUBLIC_URL, startIdentity, type TestIdentity } from '../support/accounts.js';
import { failureOf } from '../support/failures.js';
import { forEachDatabase } from '../support/database.js';

const DAY_MS = 24 * 3_600_000;
const NO_COMPONENTS = [] as const;

describe('the connections of agents', () => {
  forEachDatabase((_kind, fresh) => {
    let identity: TestIdentity;
    let database: Database;
    let place: { tenantId: string; id: string };
    let tokenHash: string;
    let key: AgentKey;

    before(async () => {
      ({ database } = await fresh());
      identity = await startIdentity(database, { edition: 'enterprise_hybrid' });
    });
    beforeEach(async () => {
      const { tenant } = await makeTenant(identity);
      const declared = await identity.tenants.connections.declare(
        { tenantId: tenant.id, fields: { kind: 'agent' } },
        OPERATOR,
      );
      place = { tenantId: tenant.id, id: declared.connection.id };
      tokenHash = sha256Hex(declared.joinToken ?? '');
      key = await aKey();
    });

    const links = <T>(work: (store: LinkedConnectionStore) => Promise<T>): Promise<T> =>
      database.write({ tenantId: null }, (tx: Transaction) => work(new LinkedConnectionStore(tx)));
    const aKey = async (): Promise<AgentKey> => {
      const { kid, publicJwk } = await newLinkKey();
      return { kid, key: publicJwk };
    };
    const now = () => identity.clock.now();
    const join = (of: AgentKey = key) =>
      links((store) =>
        store.join({
          tokenHash,
          at: now(),
          instanceId: newId(),
          key: of,
          version: '1.2.3',
          components: NO_COMPONENTS,
        }),
      );
    const present = async () => {
      const connection = await links((store) => store.byId(place.id));
      if (!connection) throw new Error('there is no such connection');
      return connection;
    };
    const connect = (of: AgentKey = key) =>
      links((store) =>
        store.connected({
          ...place,
          key: of,
          at: now(),
          bootId: newId(),
          version: '1.2.4',
          protocol: 1,
          operations: 'ops',
          schema: '0001',
          components: [{ kind: 'database', provider: 'postgres', location: null, state: 'up' }],
        }),
      );

    it('are found by id, whatever text an agent sends as an id, by tenant and by token', async () => {
      expect(await links((store) => store.byId("' OR 1=1"))).to.equal(undefined);
      expect((await present()).status).to.equal('pending');
      expect((await links((store) => store.ofTenant(place.tenantId)))?.id).to.equal(place.id);
      expect((await links((store) => store.byTokenHash(tokenHash)))?.id).to.equal(place.id);
      expect((await links((store) => store.among([place.id, newId()]))).map(({ id }) => id)).to.deep.equal([place.id]);
    });

    it('are joined once with a token, also by agents that join at the same time', async () => {
      const keys = await Promise.all(Array.from({ length: 8 }, aKey));
      const won = await Promise.all(keys.map((one) => join(one)));
      expect(won.filter(Boolean)).to.have.length(1);
      expect((await present()).agentKey).to.deep.equal(keys[won.indexOf(true)]);
      expect(await join()).to.equal(false);
    });

    it('are not joined with an expired token', async () => {
      identity.clock.advance(DAY_MS);
      expect(await join()).to.equal(false);
    });

    it('accept the next number of a session, and the last one until it is confirmed', async () => {
      await join();
      const take = (sequence: number) => links((store) => store.takeSequence({ ...place, sequence }));
      const confirm = (sequence: number) => links((store) => store.confirmSequence({ ...place, sequence }));
      expect([await take(0), await take(2), await take(1)], 'before the first').to.deep.equal([false, false, true]);
      expect(await take(1), 'the welcome was lost').to.equal(true);
      expect(await confirm(1)).to.equal(true);
      expect([await take(1), await take(3), await take(2)]).to.deep.equal([false, false, true]);
      expect(await take(3), 'the agent has confirmed, but the service was not notified').to.equal(true);
      expect(await confirm(2), 'of an earlier session').to.equal(false);
      expect(await take(3)).to.equal(true);
    });

    it('give one number to one of two sessions that open at the same time with it', async () => {
      await join();
      await links((store) => store.takeSequence({ ...place, sequence: 1 }));
      await links((store) => store.confirmSequence({ ...place, sequence: 1 }));
      const taken = await Promise.all(
        [2, 2].map((sequence) =>
          links(async (store) => {
            const took = await store.takeSequence({ ...place, sequence });
            await store.confirmSequence({ ...place, sequence });
            return took;
          }),
        ),
      );
      expect(taken.filter(Boolean)).to.have.length(1);
    });

    it('record sessions and what the agent says, and drop the previous key at the first session on the new one', async () => {
      await join();
      expect(await connect()).to.equal(true);
      expect(await present()).to.deep.include({ agentVersion: '1.2.4', protocolVersion: 1, connectedSince: now() });
      const next = await aKey();
      const rotate = (current: AgentKey) =>
        links((store) => store.rotateKey({ ...place, current, next, oldKeyUntil: now() + DAY_MS, at: now() }));
      expect([await rotate(await aKey()), await rotate(key)]).to.deep.equal([false, true]);
      expect(acceptedKeys(await present(), now())).to.deep.equal([next, key]);
      expect([await connect(key), await connect(await aKey())], 'the old key is still valid').to.deep.equal([
        true,
        false,
      ]);
      expect(acceptedKeys(await present(), now() + DAY_MS)).to.deep.equal([next]);
      expect(await connect(next)).to.equal(true);
      expect(acceptedKeys(await present(), now())).to.deep.equal([next]);
      expect(await connect(key), 'after the first session on the new key').to.equal(false);
    });

    it('refuse sessions on the previous key after its end', async () => {
      await join();
      const next = await aKey();
      await links((store) => store.rotateKey({ ...place, current: key, next, oldKeyUntil: now() + DAY_MS, at: now() }));
      identity.clock.advance(DAY_MS);
      expect(await connect(key)).to.equal(false);
    });

    it('record at most every 15 seconds that the agent was seen, and changed components at once', async () => {
      await join();
      await connect();
      const { components } = await present();
      const seen = (of = components ?? []) =>
        links((store) => store.seen({ ...place, at: now(), latencyMs: 7, components: of }));
      identity.clock.advance(14_999);
      expect(await seen()).to.equal(false);
      expect(await seen([])).to.equal(true);
      identity.clock.advance(15_000);
      expect(await seen([])).to.equal(true);
      expect(await present()).to.deep.include({ lastSeenAt: now(), latencyMs: 7, components: [] });
    });

    it('are connected since the first session of those that overlap', async () => {
      await join();
      await connect();
      const since = now();
      identity.clock.advance(30_000);
      await connect();
      expect((await present()).connectedSince).to.equal(since);
      identity.clock.advance(61_000);
      await connect();
      expect((await present()).connectedSince, 'after a silence').to.equal(now());
      expect(await links((store) => store.disconnected(place))).to.equal(true);
      expect((await present()).connectedSince).to.equal(null);
    });

    it('refuse a suspended agent until one joins with a new token', async () => {
      await join();
      const suspended = await links((store) => store.suspend({ ...place, reason: 'copied', at: now() }));
      expect([suspended, await connect()]).to.deep.equal([true, false]);
      expect(await present()).to.deep.include({ status: 'suspended', statusReason: 'copied' });
      expect(acceptedKeys(await present(), now())).to.deep.equal([]);
      const again = await identity.tenants.connections.declare(
        { tenantId: place.tenantId, fields: { kind: 'agent' } },
        OPERATOR,
      );
      expect([again.connection.id, again.connection.status]).to.deep.equal([place.id, 'suspended']);
      tokenHash = sha256Hex(again.joinToken ?? '');
      expect(await join()).to.equal(true);
      expect(await present()).to.deep.include({ status: 'connected', statusReason: null, sequence: 0 });
    });

    it('have no keys after they are revoked', async () => {
      await join();
      await identity.tenants.connections.revoke({ tenantId: place.tenantId, kind: 'agent' }, OPERATOR);
      expect(await present()).to.deep.include({ status: 'revoked', agentKey: null, components: null });
      expect([await connect(), await join()]).to.deep.equal([false, false]);
    });

    it('are reported to the link when they are revoked, and only those of agents', async () => {
      const revoked: string[] = [];
      const connections = createConnections({
        database,
        clock: identity.clock,
        change: createChange({ database, clock: identity.clock, changes: createChanges() }),
        policy: createOutbound({ allowPrivate: [], production: false }),
        linked: true,
        publicUrl: PUBLIC_URL,
        onRevoked: (id) => revoked.push(id),
      });
      const { tenantId } = place;
      await connections.declare({ tenantId, fields: { kind: 'database' } }, OPERATOR);
      for (const kind of ['database', 'agent']) await connections.revoke({ tenantId, kind }, OPERATOR);
      await failureOf(connections.revoke({ tenantId, kind: 'agent' }, OPERATOR));
      expect(revoked).to.deep.equal([place.id]);
    });

    it('list joined agents that are called directly, page by page', async () => {
      await join();
      const page = (after: string | null) => links((store) => store.direct({ after, limit: 1 }));
      const before = (await page(null)).length;
      const direct = { kind: 'agent', accessMode: 'direct', endpoint: 'https://agent.example.com' } as const;
      await identity.tenants.connections.declare({ tenantId: place.tenantId, fields: direct }, OPERATOR);
      expect([before, (await page(null))[0]?.id, (await page(place.id)).length]).to.deep.equal([0, place.id, 0]);
    });

    it('remember the ids of used tokens until they expire', async () => {
      const jti = newId();
      const use = (id: string) =>
        database.write({ tenantId: null }, (tx) => new LinkTokenStore(tx).use({ jti: id, expiresAt: now() + 120_000 }));
      expect([await use(jti), await use(jti), await use('not an id')]).to.deep.equal([true, false, false]);
      await removeExpired(database, { at: now() + 120_000 });
      expect(await use(jti)).to.equal(true);
    });
  });
});
