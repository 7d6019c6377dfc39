import { expect } from 'chai';
import pino from 'pino';
import { Leases } from '../../data-plane-agent/base/database/leases.js';
import { fakeClock } from '../support/clock.js';
import { forEachDatabase } from '../support/database.js';

describe('leases', () => {
  forEachDatabase((_kind, fresh) => {
    const two = async () => {
      const { database, again } = await fresh();
      await database.exclusive((connection) =>
        connection.run(
          'CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, fence BIGINT NOT NULL, until BIGINT NOT NULL)',
        ),
      );
      const clock = fakeClock();
      const log = pino({ level: 'silent' });
      return {
        clock,
        a: new Leases(database, clock, { holder: 'a', log }),
        b: new Leases(await again(), clock, { holder: 'b', log }),
      };
    };

    it('are held by one process at a time', async () => {
      const { a, b } = await two();
      expect(await a.take('sweep', 1_000)).to.deep.equal({ name: 'sweep', fence: 1 });
      expect(await b.take('sweep', 1_000)).to.equal(undefined);
      expect(await b.take('other', 1_000)).to.deep.equal({ name: 'other', fence: 1 });
    });

    it('can be prolonged by their holder under the same fence', async () => {
      const { a, b, clock } = await two();
      await a.take('sweep', 1_000);
      clock.advance(900);
      expect(await a.take('sweep', 1_000)).to.deep.equal({ name: 'sweep', fence: 1 });
      clock.advance(900);
      expect(await b.take('sweep', 1_000)).to.equal(undefined);
    });

    it('can be taken over when expired, with another fence', async () => {
      const { a, b, clock } = await two();
      await a.take('sweep', 1_000);
      clock.advance(1_000);
      expect(await b.take('sweep', 1_000)).to.deep.equal({ name: 'sweep', fence: 2 });
      expect(await a.take('sweep', 1_000)).to.equal(undefined);
    });

    it('are acquired by exactly one of many concurrent processes', async () => {
      const { a, b } = await two();
      const taken = await Promise.all([a.take('x', 1_000), b.take('x', 1_000)]);
      expect(taken.filter((lease) => lease !== undefined)).to.have.length(1);
    });

    it('are released after the work, also when it failed', async () => {
      const { a, b } = await two();
      expect(
        await a.during('job', 60_000, async () => (await b.during('job', 60_000, async () => 'both')) ?? 'alone'),
      ).to.equal('alone');
      const error = await a
        .during('job', 60_000, () => Promise.reject(new Error('no')))
        .catch((reason: unknown) => reason);
      expect(error).to.have.property('message', 'no');
      expect(await b.during('job', 60_000, async () => 'mine')).to.equal('mine');
    });
  });
});
