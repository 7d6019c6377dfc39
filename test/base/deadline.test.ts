import { expect } from 'chai';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { deadlineIn, type CallEnded } from '../../data-plane-agent/base/deadline.js';
import { yielding } from '../../data-plane-agent/base/yielding.js';
import { forEachDatabase } from '../support/database.js';
import { until } from '../support/file-server.js';

const NOBODY = { tenantId: null };

/** A distant deadline that ends when its caller disconnects. */
function caller() {
  const going = new AbortController();
  return { deadline: deadlineIn(60_000, going.signal), go: () => going.abort() };
}

/** The reason why work was aborted. */
const ended = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: Partial<CallEnded>) => error.why ?? error.message ?? '',
  );

describe('a deadline', () => {
  const deadlines: { settle(): void }[] = [];
  const leaving = () => {
    const made = caller();
    deadlines.push(made.deadline);
    return made;
  };
  afterEach(() => {
    for (const deadline of deadlines.splice(0)) deadline.settle();
  });

  it('ends at its time, or when the caller disconnects', async () => {
    const late = deadlineIn(1);
    await new Promise((resolve) => late.signal.addEventListener('abort', resolve, { once: true }));
    expect([late.signal.reason, late.remaining()])
      .to.deep.include.members([0])
      .and.have.nested.property('[0].why', 'timeout');
    const { deadline, go } = leaving();
    expect(deadline.remaining()).to.be.within(1, 60_000);
    go();
    expect(deadline.signal.reason).to.have.property('why', 'disconnected');
    expect(deadlineIn(60_000, AbortSignal.abort()).signal.aborted).to.equal(true);
  });

  it('is not ended by the caller once it is kept or settled', () => {
    for (const how of ['keep', 'settle'] as const) {
      const { deadline, go } = leaving();
      deadline[how]();
      go();
      expect(deadline.signal.aborted, how).to.equal(false);
    }
  });

  it('ends long work that yields to the event loop', async () => {
    const { deadline, go } = leaving();
    const turn = yielding(deadline.signal);
    const work = (async () => {
      for (;;) await turn();
    })();
    setImmediate(go);
    expect(await ended(work)).to.equal('disconnected');
  });
});

describe('database work with a deadline', () => {
  forEachDatabase((kind, fresh) => {
    const withTable = async (): Promise<Database> => {
      const { database } = await fresh();
      await database.exclusive((connection) => connection.run('CREATE TABLE things (id INTEGER PRIMARY KEY)'));
      return database;
    };
    const add = (tx: Transaction, id: number) => tx.run('INSERT INTO things (id) VALUES (?)', [id]);
    const ids = (database: Database) =>
      database.read(NOBODY, async (tx) => (await tx.all('SELECT id FROM things ORDER BY id')).map(({ id }) => id));

    it('stops at the deadline, and is rolled back', async () => {
      const database = await withTable();
      const { deadline, go } = caller();
      const work = database.write({ ...NOBODY, deadline }, async (tx) => {
        await add(tx, 1);
        go();
        await add(tx, 2);
      });
      expect(await ended(work)).to.equal('disconnected');
      expect(await ids(database)).to.deep.equal([]);
      deadline.settle();
    });

    it('is rolled back if the deadline passes during the last statement', async () => {
      const database = await withTable();
      const { deadline, go } = caller();
      const work = database.write({ ...NOBODY, deadline }, async (tx) => {
        await add(tx, 1);
        go();
      });
      expect(await ended(work)).to.equal('disconnected');
      expect(await ids(database)).to.deep.equal([]);
      deadline.settle();
    });

    it('does not roll back other work that shares its commit', async () => {
      const database = await withTable();
      const { deadline, go } = caller();
      const given = database.write({ ...NOBODY, deadline }, async (tx) => {
        await add(tx, 1);
        go();
      });
      const others = [2, 3].map((id) => database.write(NOBODY, (tx) => add(tx, id)));
      expect(await ended(given)).to.equal('disconnected');
      await Promise.all(others);
      expect(await ids(database)).to.deep.equal([2, 3]);
      deadline.settle();
    });

    for (const way of ['read', 'write'] as const) {
      it(`stops waiting in the queue to ${way}, and the next one proceeds`, async () => {
        const database = await withTable();
        let letGo: () => void = () => undefined;
        const held = new Promise<void>((resolve) => (letGo = resolve));
        // As many tasks as there are connections.
        const holders = Array.from({ length: 10 }, () => database[way](NOBODY, () => held));
        const { deadline, go } = caller();
        let began = false;
        const work = database[way]({ ...NOBODY, deadline }, async () => {
          began = true;
        });
        const after = database[way](NOBODY, () => Promise.resolve('after'));
        setImmediate(() => setImmediate(go));
        expect(await ended(work)).to.equal('disconnected');
        letGo();
        await Promise.all(holders);
        expect(await after).to.equal('after');
        expect(began).to.equal(false);
        expect(await ended(database[way]({ ...NOBODY, deadline }, () => Promise.resolve()))).to.equal('disconnected');
        expect(await database[way](NOBODY, () => Promise.resolve('still there'))).to.equal('still there');
        deadline.settle();
      });
    }

    if (kind === 'postgres') {
      it('has its statement cancelled, and leaves its connection usable', async () => {
        const database = await withTable();
        const { deadline, go } = caller();
        const sleeping = 'SELECT pg_sleep(3600)';
        const atIt = () =>
          database.read(NOBODY, async (tx) =>
            Number(
              (
                await tx.get(
                  "SELECT count(*) AS n FROM pg_stat_activity WHERE query = ? AND state = 'active' AND datname = current_database()",
                  [sleeping],
                )
              )?.['n'],
            ),
          );
        const work = database.write({ ...NOBODY, deadline }, (tx) => tx.all(sleeping));
        await until(atIt, (n) => n === 1);
        go();
        expect(await ended(work)).to.equal('disconnected');
        expect(await atIt()).to.equal(0);
        await database.write(NOBODY, (tx) => add(tx, 1));
        expect(await ids(database)).to.deep.equal([1]);
        deadline.settle();
      });

      it('has its statement aborted at the deadline', async () => {
        const database = await withTable();
        expect(
          await ended(database.read({ ...NOBODY, deadline: deadlineIn(50) }, (tx) => tx.all('SELECT pg_sleep(3600)'))),
        ).to.equal('timeout');
      });
    }
  });
});
