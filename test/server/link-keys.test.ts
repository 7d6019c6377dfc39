import { expect } from 'chai';
import { keyIdOf } from '../../data-plane-agent/base/link/keys.js';
import { createSeenTokens, signToken, verifyToken } from '../../data-plane-agent/base/link/tokens.js';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { generateKeyRingText, parseKeyRing, SealError } from '../../data-plane-agent/base/secrets.js';
import { createLinkKeys, listLinkKeys, type LinkKeys } from '../../server/data-planes/joining/link-keys.js';
import { PLATFORM_MIGRATIONS } from '../../server/store/migrations/index.js';
import { OPERATOR } from '../support/accounts.js';
import { fakeClock, type FakeClock } from '../support/clock.js';
import { forEachDatabase } from '../support/database.js';
import { failureOf } from '../support/failures.js';

const DAY_MS = 24 * 3_600_000;

describe('the keys of the link to agents', () => {
  forEachDatabase((_kind, fresh) => {
    let database: Database;
    let clock: FakeClock;
    const keyRing = parseKeyRing(generateKeyRingText());
    const replica = (): LinkKeys => createLinkKeys({ database, clock, keyRing });
    const kids = async (keys: LinkKeys) => (await keys.signers()).map(({ kid }) => kid);

    beforeEach(async () => {
      ({ database } = await fresh());
      await migrate(database, PLATFORM_MIGRATIONS);
      clock = fakeClock();
    });

    it('begin with one, also if several replicas need it at the same time', async () => {
      expect(await listLinkKeys(database)).to.deep.equal([]);
      const signers = await Promise.all(Array.from({ length: 5 }, () => replica().signer()));
      expect(new Set(signers.map(({ kid }) => kid)).size).to.equal(1);
      expect((await listLinkKeys(database)).map(({ status }) => status)).to.deep.equal(['active']);
    });

    it('sign what their public halves verify, which have the same ids', async () => {
      const keys = replica();
      const signer = await keys.signer();
      const [publicKey] = await keys.publicKeys();
      expect(publicKey && (await keyIdOf(publicKey))).to.equal(signer.kid);
      const facts = { type: 'forward', issuer: 'a', audience: 'b' } as const;
      const token = signToken(facts, { claims: {}, signer, clock });
      const seen = createSeenTokens({ clock });
      expect(
        await verifyToken(token, facts, { keyOf: (kid) => replica().verifier(kid), clock, seen }),
      ).to.have.property('jti');
      expect(await keys.verifier('unknown')).to.equal(undefined);
    });

    it('are replaced with an overlap of 30 days, in which both sign and verify', async () => {
      const keys = replica();
      const old = await keys.signer();
      const { kid, oldValidUntil } = await keys.rotate(OPERATOR);
      expect(oldValidUntil - clock.now()).to.equal(30 * DAY_MS);
      expect([(await keys.signer()).kid, await kids(keys)]).to.deep.equal([kid, [kid, old.kid]]);
      expect((await keys.publicKeys()).length).to.equal(2);
      clock.advance(30 * DAY_MS);
      expect([await kids(keys), await keys.verifier(old.kid)]).to.deep.equal([[kid], undefined]);
    });

    it('are noticed by other replicas within a minute, and at once when one is to be verified', async () => {
      const [one, other, third] = [replica(), replica(), replica()];
      const old = await other.signer();
      await third.signer();
      const { kid } = await one.rotate(OPERATOR);
      expect((await other.signer()).kid).to.equal(old.kid);
      expect(await third.verifier(kid)).not.to.equal(undefined);
      clock.advance(60_000);
      expect((await other.signer()).kid).to.equal(kid);
    });

    it('are at most five, as many as an agent stores', async () => {
      const keys = replica();
      for (let i = 0; i < 4; i++) await keys.rotate(OPERATOR);
      expect(await failureOf(keys.rotate(OPERATOR))).to.deep.include({ code: 'LIMIT_REACHED' });
      expect((await keys.publicKeys()).length).to.equal(5);
      clock.advance(30 * DAY_MS);
      await keys.rotate(OPERATOR);
      expect((await keys.publicKeys()).length).to.equal(2);
    });

    it('are unreadable without the key ring', async () => {
      await replica().signer();
      const stranger = createLinkKeys({ database, clock, keyRing: parseKeyRing(generateKeyRingText()) });
      expect(await stranger.signer().catch((error: unknown) => error)).to.be.instanceOf(SealError);
    });
  });
});
