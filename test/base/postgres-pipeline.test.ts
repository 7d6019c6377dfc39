import { expect } from 'chai';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { isDatabaseError } from '../../data-plane-agent/base/database/errors.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { together } from '../../data-plane-agent/base/together.js';
import { CallEnded, deadlineIn } from '../../data-plane-agent/base/deadline.js';
import { breakableConnectionTo } from '../support/breakable-connection.js';
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.js';
import { countingRoundTrips } from '../support/round-trips.js';

const NOBODY = { tenantId: null };
const SLEEP = 'SELECT pg_sleep(3600)';

const insert = 'INSERT INTO things (id, name) VALUES (?, ?)';
const put = (tx: Transaction, id: number, name = `n${id}`) => tx.defer(insert, [id, name]);

describe('statements of a transaction on PostgreSQL', () => {
  needsPostgres();
  const counted = countingRoundTrips();
  let created: TestDatabase;
  let database: Database;

  beforeEach(async () => {
    created = await createDatabase();
    database = await openDatabase(created.url, { poolMax: 4 });
    await database.exclusive((connection) =>
      connection.run('CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)'),
    );
  });
  afterEach(async () => {
    await database.close();
    await created.drop();
  });

  const ids = async (): Promise<unknown[]> =>
    database.read(NOBODY, async (tx) => (await tx.all('SELECT id FROM things ORDER BY id')).map(({ id }) => id));
  /** The error of a write: the problem, or its message. */
  const refused = (work: (tx: Transaction) => Promise<unknown>): Promise<string> =>
    problemOf(database.write(NOBODY, work));
  const sleeping = async (query = SLEEP): Promise<number> =>
    database.read(NOBODY, async (tx) => {
      const row = await tx.get(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE query = ? AND state = 'active' AND datname = current_database()",
        [query],
      );
      return Number(row?.['n']);
    });

  describe('are sent together', () => {
    it('if they are deferred: with the next that is awaited, and with the commit', async () => {
      const trips = await counted(() =>
        database.write(NOBODY, async (tx) => {
          await put(tx, 1);
          await put(tx, 2);
          expect(await tx.all('SELECT id FROM things')).to.have.length(2);
          await put(tx, 3);
          await put(tx, 4);
        }),
      );
      expect(trips).to.equal(2);
      expect(await ids()).to.deep.equal([1, 2, 3, 4]);
    });

    it('if none waits for another', async () => {
      let found: readonly unknown[] = [];
      const trips = await counted(() =>
        database.read(NOBODY, async (tx) => {
          found = await together(tx.all('SELECT 1 AS n'), tx.get('SELECT 2 AS n'), tx.get('SELECT 3 AS n WHERE false'));
        }),
      );
      expect(found).to.deep.equal([[{ n: 1 }], { n: 2 }, undefined]);
      expect(trips).to.equal(2);
    });

    it('in their order', async () => {
      await database.write(NOBODY, async (tx) => {
        await put(tx, 1, 'a');
        const [first, , second] = await together(
          tx.get('SELECT name FROM things'),
          tx.run("UPDATE things SET name = 'b'"),
          tx.get('SELECT name FROM things'),
        );
        expect([first, second]).to.deep.equal([{ name: 'a' }, { name: 'b' }]);
      });
    });

    it('before too many of them wait', async () => {
      const many = Array.from({ length: 1_000 }, (_, i) => i);
      const trips = await counted(() =>
        database.write(NOBODY, async (tx) => {
          for (const id of many) await put(tx, id);
        }),
      );
      expect(await ids()).to.deep.equal(many);
      expect(trips).to.be.within(10, 20);
    });

    it('and nothing at all, if there are none', async () => {
      expect(await counted(() => database.write(NOBODY, () => Promise.resolve()))).to.equal(0);
    });
  });

  describe('that fail after they were deferred', () => {
    it('give their error to the next that is awaited, and nothing is kept', async () => {
      let heard: unknown;
      const problem = await refused(async (tx) => {
        await put(tx, 1);
        await put(tx, 1, 'other');
        await put(tx, 2);
        await tx.all('SELECT 1').catch((error: unknown) => (heard = error));
        throw heard;
      });
      expect(problem).to.equal('unique');
      expect(heard).to.have.property('constraint', 'things_pkey');
      expect(await ids()).to.deep.equal([]);
    });

    it('give it to the commit', async () => {
      expect(await refused((tx) => put(tx, 1).then(() => put(tx, 1, 'other')))).to.equal('unique');
      expect(await ids()).to.deep.equal([]);
    });

    it('give it to the commit even if one that was awaited had the error before, and the caller went on', async () => {
      const problem = await refused(async (tx) => {
        await put(tx, 1);
        await tx.run(insert, [1, 'other']).catch(() => undefined);
        await tx.all('SELECT 1').catch(() => undefined);
      });
      expect(problem).to.equal('unique');
      expect(await ids()).to.deep.equal([]);
    });

    it('while the commit waits, whose work did not await them, are not committed', async () => {
      const problem = await refused(async (tx) => {
        await put(tx, 1);
        await tx.hold('SELECT pg_sleep(0.2)');
        const failing = tx.run(insert, [2, null]);
        failing.catch(() => undefined);
        await new Promise(setImmediate); // it was sent
      });
      expect(problem).to.equal('not_null');
      expect(await ids()).to.deep.equal([]);
    });

    it('give it to the end of their savepoint, which alone is rolled back', async () => {
      await database.write(NOBODY, async (tx) => {
        await put(tx, 1);
        const inside = tx.savepoint(async () => {
          await put(tx, 2);
          await put(tx, 1, 'other');
        });
        expect(await problemOf(inside)).to.equal('unique');
        await put(tx, 3);
      });
      expect(await ids()).to.deep.equal([1, 3]);
    });

    it('fail the transaction if the savepoint does not wait for them', async () => {
      const problem = await refused(async (tx) => {
        await put(tx, 1);
        await tx.savepoint(() => put(tx, 1, 'other'), { isLazy: true });
        await put(tx, 3);
      });
      expect(problem).to.equal('unique');
      expect(await ids()).to.deep.equal([]);
    });

    it('before a savepoint fail the transaction, whatever its caller does', async () => {
      const problem = await refused(async (tx) => {
        await put(tx, 1);
        await put(tx, 1, 'other');
        for (const id of [2, 3]) await tx.savepoint(() => tx.run(insert, [id, `n${id}`])).catch(() => undefined);
      });
      expect(problem).to.equal('unique');
      expect(await ids()).to.deep.equal([]);
    });

    it('are retried with their transaction after a conflict', async () => {
      await database.write(NOBODY, async (tx) => {
        await put(tx, 1, 'a');
        await put(tx, 2, 'b');
      });
      const swap = (first: number, second: number) =>
        database.write(NOBODY, async (tx) => {
          await tx.run("UPDATE things SET name = name || '.' WHERE id = ?", [first]);
          await new Promise((resolve) => setTimeout(resolve, 30));
          await tx.defer("UPDATE things SET name = name || '.' WHERE id = ?", [second]);
        });
      await Promise.all([swap(1, 2), swap(2, 1)]); // a deadlock: the server aborts one of the two
      const rows = await database.read(NOBODY, (tx) => tx.all('SELECT name FROM things ORDER BY id'));
      expect(rows).to.deep.equal([{ name: 'a..' }, { name: 'b..' }]);
    });
  });

  it('are taken back with their savepoint if they were not sent', async () => {
    const trips = await counted(() =>
      database.write(NOBODY, async (tx) => {
        await put(tx, 1);
        const inside = tx.savepoint(async () => {
          await put(tx, 2);
          throw new Error('no');
        });
        expect(await problemOf(inside)).to.equal('no');
        await put(tx, 3);
      }),
    );
    expect(trips).to.equal(1);
    expect(await ids()).to.deep.equal([1, 3]);
  });

  it('are not sent any more once their transaction has failed', async () => {
    expect(
      await refused(async (tx) => {
        await put(tx, 1);
        throw new Error('no');
      }),
    ).to.equal('no');
    expect(await ids()).to.deep.equal([]);
  });

  it('fail alone if only their rows cannot be read', async () => {
    await database.write(NOBODY, async (tx) => {
      await put(tx, 1);
      const big = problemOf(tx.all('SELECT 9007199254740993::bigint AS n'));
      const [message, row] = await together(big, tx.get('SELECT 5::bigint AS n'));
      expect(message).to.contain('is not a safe integer');
      expect(row).to.deep.equal({ n: 5 });
    });
    expect(await ids()).to.deep.equal([1]);
  });

  it('are prepared again if the server could not prepare them', async () => {
    const missing = (tx: Transaction) => tx.all('SELECT * FROM later WHERE id = ?', [1]);
    expect(await refused(missing)).to.contain('later');
    await database.exclusive((connection) => connection.run('CREATE TABLE later (id INTEGER)'));
    for (let i = 0; i < 3; i++) expect(await database.write(NOBODY, missing)).to.deep.equal([]);
  });

  it('cannot follow the commit', async () => {
    let late: Promise<unknown> = Promise.resolve();
    await database.write(NOBODY, async (tx) => {
      await put(tx, 1);
      late = Promise.resolve().then(() => Promise.resolve().then(() => tx.run(insert, [2, 'late'])));
      late.catch(() => undefined);
    });
    expect(await problemOf(late)).to.contain('after its transaction');
    expect(await ids()).to.deep.equal([1]);
  });

  describe('when the connection is lost', () => {
    it('are certainly not committed if the server had ended before the commit', async () => {
      const end = 'SELECT pg_terminate_backend(pg_backend_pid())';
      const problem = await refused(async (tx) => {
        await put(tx, 1);
        await tx.hold(end);
      });
      expect(problem).to.equal('unreachable');
      expect(await ids()).to.deep.equal([]);
    });

    for (const [name, isCommitting] of [
      ['are in doubt if the commit was sent with them', true],
      ['are certainly not committed if it was not', false],
    ] as const)
      it(name, async () => {
        const link = await breakableConnectionTo(Number(new URL(created.url).port));
        const url = Object.assign(new URL(created.url), { hostname: '127.0.0.1', port: String(link.port) });
        const away = await openDatabase(url.href, { poolMax: 1 });
        try {
          const work = away.write(NOBODY, async (tx) => {
            await put(tx, 1);
            await tx.hold(SLEEP);
            if (!isCommitting) await tx.all('SELECT 1');
          });
          const problem = problemOf(work);
          while ((await sleeping()) === 0);
          link.pull();
          expect(await problem).to.equal(isCommitting ? 'in_doubt' : 'unreachable');
        } finally {
          await away.close();
          await link.stop();
          await database.write(NOBODY, (tx) =>
            tx.all(
              'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = ? AND datname = current_database()',
              [SLEEP],
            ),
          );
        }
      });
  });

  describe('at a deadline', () => {
    const ending = (work: (tx: Transaction) => Promise<unknown>) => {
      const caller = new AbortController();
      const deadline = deadlineIn(60_000, caller.signal);
      const ended = database.write({ ...NOBODY, deadline }, work).then(
        () => 'done',
        (error: unknown) => (error instanceof CallEnded ? error.why : error),
      );
      return { go: () => caller.abort(), ended: ended.finally(() => deadline.settle()) };
    };

    for (const [name, work] of [
      ['are cancelled in the middle of a batch', (tx) => together(tx.all(SLEEP), tx.run(insert, [2, 'n2']))],
      ['are cancelled with the commit that was sent with them', (tx) => tx.hold(SLEEP)],
    ] as const satisfies readonly (readonly [string, (tx: Transaction) => Promise<unknown>])[])
      it(name, async () => {
        const { go, ended } = ending(async (tx) => {
          await put(tx, 1);
          await work(tx);
        });
        while ((await sleeping()) === 0);
        go();
        expect(await ended).to.equal('disconnected');
        expect(await sleeping()).to.equal(0);
        expect(await ids()).to.deep.equal([]);
        await database.write(NOBODY, (tx) => put(tx, 3));
        expect(await ids()).to.deep.equal([3]);
      });

    it('are cancelled while one short statement follows the other', async () => {
      const nap = 'SELECT pg_sleep(0.001)';
      const { go, ended } = ending(async (tx) => {
        await put(tx, 1);
        await Promise.all(Array.from({ length: 100_000 }, () => tx.all(nap)));
      });
      while ((await sleeping(nap)) === 0);
      go();
      expect(await ended).to.equal('disconnected');
      expect(await ids()).to.deep.equal([]);
    });

    it('are not sent after it', async () => {
      const { go, ended } = ending(async (tx) => {
        await tx.all('SELECT 1');
        await put(tx, 1);
        const last = tx.all('SELECT 2');
        go();
        await last;
      });
      expect(await ended).to.equal('disconnected');
      expect(await ids()).to.deep.equal([]);
    });
  });
});

const problemOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (isDatabaseError(error) ? error.problem : String((error as Error).message)),
  );
