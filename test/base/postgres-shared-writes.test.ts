import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Database, Scope, Transaction } from '../../data-plane-agent/base/database/database.js';
import { DatabaseError } from '../../data-plane-agent/base/database/errors.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { deadlineIn, type Deadline } from '../../data-plane-agent/base/deadline.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { together } from '../../data-plane-agent/base/together.js';
import { breakableConnectionTo, type BreakableConnection } from '../support/breakable-connection.js';
import { keptWaiting } from '../support/kept-waiting.js';
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.js';

const TENANT = { tenantId: newId() };
const OTHER = { tenantId: newId() };
const INSERT = 'INSERT INTO things (id, amount) VALUES (?, ?)';
const AMOUNT = 'SELECT id, amount FROM things WHERE id = ?';

type Work = (tx: Transaction) => Promise<unknown>;

/** The number of the transaction that a write is part of. */
const transactionOf = async (tx: Transaction): Promise<string> =>
  String((await tx.get('SELECT pg_current_xact_id()::text AS id'))?.['id']);

const isTransaction = (result: unknown): boolean => typeof result === 'string' && /^\d+$/.test(result);

const put =
  (id: string, amount = 1): Work =>
  async (tx) => {
    await tx.defer(INSERT, [id, amount]);
    return transactionOf(tx);
  };

/** Adds one to a row as it was read, as a receipt does. */
const increment =
  (id: string): Work =>
  async (tx) => {
    const row = await tx.getForUpdate(AMOUNT, [id]);
    await tx.defer('UPDATE things SET amount = ? WHERE id = ?', [Number(row?.['amount']) + 1, id]);
    return transactionOf(tx);
  };

/** What a write has resolved to, or its error: the problem, or its message. */
const ended = (writing: Promise<unknown>): Promise<unknown> =>
  writing.catch((error: unknown) => (error instanceof DatabaseError ? error.problem : (error as Error).message));

describe('writes that may share a transaction on PostgreSQL', () => {
  needsPostgres();
  let created: TestDatabase;
  let database: Database;

  beforeEach(async () => {
    created = await createDatabase();
    database = await openDatabase(created.url, { poolMax: 8 });
    await database.exclusive((connection) =>
      connection.run('CREATE TABLE things (id TEXT PRIMARY KEY, amount INTEGER NOT NULL CHECK (amount < 100))'),
    );
    await database.write(TENANT, (tx) => together(tx.run(INSERT, ['a', 0]), tx.run(INSERT, ['b', 0])));
  });
  afterEach(async () => {
    await database.close();
    await created.drop();
  });

  const write = (work: Work, scope: Scope = TENANT, on = database): Promise<unknown> =>
    ended(on.write(scope, work, { mayShare: true }));
  const amounts = async (): Promise<unknown> =>
    database.read(TENANT, async (tx) =>
      Object.fromEntries((await tx.all('SELECT id, amount FROM things')).map(({ id, amount }) => [id, amount])),
    );

  const busy = (on = database): Promise<() => void> => keptWaiting(on, TENANT);

  /** Locks a row in a transaction of its own until it is released. */
  async function lockedRow(id: string): Promise<() => Promise<void>> {
    const locked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const locking = database.write(TENANT, async (tx) => {
      await tx.getForUpdate(AMOUNT, [id]);
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    return () => {
      held.resolve();
      return locking;
    };
  }

  /** How these end, which wait together, and each of which may have a deadline. */
  async function atOnce(...works: readonly (Work | { readonly work: Work; readonly deadline: Deadline })[]) {
    const release = await busy();
    const writing = works.map((one) =>
      typeof one === 'function' ? write(one) : write(one.work, { ...TENANT, deadline: one.deadline }),
    );
    release();
    return Promise.all(writing);
  }

  it('share it if they wait, and get each their own result', async () => {
    const ids = Array.from({ length: 8 }, (_, n) => `n${n}`);
    const transactions = await atOnce(...ids.map((id) => put(id)));
    expect(new Set(transactions)).to.have.length(1);
    expect(await amounts()).to.deep.equal({ a: 0, b: 0, ...Object.fromEntries(ids.map((id) => [id, 1])) });
  });

  it('do not if there are more than eight, or if they find nobody', async () => {
    const transactions = await atOnce(...Array.from({ length: 9 }, (_, n) => put(`n${n}`)));
    expect(new Set(transactions)).to.have.length(2);
    expect(await write(put('x'))).not.to.equal(await write(put('y')));
  });

  it('do not with writes of other tenants, which do not wait either', async () => {
    const release = await busy();
    const waiting = [write(put('mine')), write(put('also mine'))];
    expect(await write(put('theirs'), OTHER)).to.match(/^\d+$/);
    expect(await amounts()).not.to.have.any.keys('mine', 'also mine');
    release();
    const [mine, also] = await Promise.all(waiting);
    expect(mine).to.match(/^\d+$/).and.equal(also);
  });

  it('see what row-level security lets their tenant see', async () => {
    const tenant: Work = async (tx) => (await tx.get("SELECT current_setting('duebook.tenant') AS id"))?.['id'];
    expect(await atOnce(tenant, tenant)).to.deep.equal([TENANT.tenantId, TENANT.tenantId]);
  });

  it('do not lose what another adds to the same row', async () => {
    const waited = await atOnce(...Array.from({ length: 6 }, () => increment('a')), increment('b'), increment('b'));
    expect(waited.filter((one) => !isTransaction(one))).to.deep.equal([]);
    await Promise.all(Array.from({ length: 60 }, (_, n) => write(increment(n % 3 ? 'a' : 'b'))));
    expect(await amounts()).to.deep.equal({ a: 46, b: 22 });
  });

  it('are kept if another is refused before it has changed anything', async () => {
    const refusal: Work = async (tx) => {
      await tx.getForUpdate(AMOUNT, ['a']);
      throw new Error('refused');
    };
    const [one, refused, other] = await atOnce(put('x'), refusal, put('y'));
    expect(refused).to.equal('refused');
    expect(one).to.match(/^\d+$/).and.equal(other);
    expect(await amounts()).to.have.all.keys('a', 'b', 'x', 'y');
  });

  const failing: Readonly<Record<string, { readonly work: Work; readonly error: string }>> = {
    'by itself after it has changed something': {
      work: async (tx) => {
        await tx.defer(INSERT, ['lost', 1]);
        throw new Error('failed');
      },
      error: 'failed',
    },
    'by itself after a change that has returned a row': {
      work: async (tx) => {
        await tx.get(`${INSERT} RETURNING id`, ['lost', 1]);
        throw new Error('failed');
      },
      error: 'failed',
    },
    'for a statement that it awaits': { work: (tx) => tx.run(INSERT, ['a', 1]), error: 'unique' },
    'for a statement that goes with the commit': { work: (tx) => tx.defer(INSERT, ['lost', 100]), error: 'check' },
    'because it ends when a statement has failed, whatever it makes of it': {
      work: (tx) => tx.run(INSERT, ['a', 1]).catch(() => undefined),
      error: 'unique',
    },
  };
  for (const [name, { work, error }] of Object.entries(failing))
    it(`are kept if another fails ${name}`, async () => {
      const [one, failed, other] = await atOnce(put('x'), work, put('y'));
      expect(failed).to.equal(error);
      expect([one, other].every(isTransaction)).to.equal(true);
      expect(await amounts()).to.have.all.keys('a', 'b', 'x', 'y');
    });

  it('of which two insert the same key: one is refused', async () => {
    const results = await atOnce(put('x'), put('x'), put('y'));
    expect(results.filter((one) => one === 'unique')).to.have.length(1);
    expect(await amounts()).to.have.all.keys('a', 'b', 'x', 'y');
  });

  it('run by themselves for a second after that', async () => {
    await atOnce(put('x'), put('x'));
    const release = await busy();
    expect(await write(put('y'))).to.match(/^\d+$/); // does not wait
    release();
    await sleep(1_100);
    const [one, other] = await atOnce(put('m'), put('n'));
    expect(one).to.equal(other);
  });

  it('have savepoints as long as nothing has to be undone', async () => {
    const tried =
      (attempt: Work): Work =>
      async (tx) => {
        const refused = await ended(tx.savepoint(() => attempt(tx)));
        await tx.defer(INSERT, [`after ${String(refused)}`, 1]);
        return transactionOf(tx);
      };
    const nothing = () => Promise.reject(new Error('nothing'));
    const one: Work = async (tx) => {
      await tx.defer(INSERT, ['lost', 1]);
      throw new Error('one');
    };
    const [first, second] = await atOnce(tried(nothing), put('x'));
    expect(first).to.equal(second);
    const [third, fourth] = await atOnce(tried(one), put('y'));
    expect(third).to.match(/^\d+$/).and.not.equal(fourth);
    expect(await amounts()).to.have.all.keys('a', 'b', 'x', 'y', 'after nothing', 'after one');
  });

  it('may use a query builder, by themselves', async () => {
    const built: Work = (tx) => tx.table('things').insert({ id: 'built', amount: 1 });
    const [, one] = await atOnce(built, put('x'));
    expect(one).to.match(/^\d+$/);
    expect(await amounts()).to.have.all.keys('a', 'b', 'x', 'built');
  });

  it('do not wait for a lock that one of them needs', async () => {
    const release = await lockedRow('a');
    const ends: string[] = [];
    const noted =
      (name: string, work: Work): Work =>
      async (tx) => {
        const result = await work(tx);
        ends.push(name);
        return result;
      };
    const writing = atOnce(noted('blocked', increment('a')), noted('x', put('x')), noted('y', put('y')));
    for (const began = performance.now(); !Object.hasOwn(Object(await amounts()), 'y'); await sleep(20))
      if (performance.now() - began > 5_000) throw new Error('they wait');
    expect(ends).not.to.include('blocked');
    await release();
    await writing;
    expect(await amounts()).to.deep.equal({ a: 1, b: 0, x: 1, y: 1 });
  });

  it('begin while those before them wait for a lock', async () => {
    const release = await lockedRow('a');
    const blocked = Array.from({ length: 4 }, () => write(increment('a')));
    expect(isTransaction(await write(put('x')))).to.equal(true);
    await release();
    await Promise.all(blocked);
    expect(await amounts()).to.deep.equal({ a: 4, b: 0, x: 1 });
  });

  it('run by themselves if one of them must be alone', async () => {
    const alone: Work = async (tx) => {
      tx.mustBeAlone();
      return put('x')(tx);
    };
    const [one, other] = await atOnce(alone, put('y'));
    expect([one, other].every(isTransaction)).to.equal(true);
    expect(one).not.to.equal(other);
  });

  it('run after the first of them that must be alone, and then share one again', async () => {
    const needsX =
      (id: string): Work =>
      async (tx) => {
        if (!(await tx.get(AMOUNT, ['x']))) {
          tx.mustBeAlone();
          await tx.defer(INSERT, ['x', 1]);
        }
        return put(id)(tx);
      };
    const [one, first, second, third] = await atOnce(put('y'), needsX('m'), needsX('n'), needsX('o'));
    expect([one, first, second, third].every(isTransaction)).to.equal(true);
    expect(second).to.equal(third);
    expect(new Set([one, first, second])).to.have.length(3);
    expect(await amounts()).to.have.all.keys('a', 'b', 'x', 'y', 'm', 'n', 'o');
  });

  it('share one with what comes in the same turn of the event loop, if nobody runs', async () => {
    const [one, other] = await Promise.all([write(put('x')), write(put('y'))]);
    expect(isTransaction(one)).to.equal(true);
    expect(one).to.equal(other);
  });

  for (const { writes, begin } of [
    { writes: 7, begin: 0 },
    { writes: 8, begin: 8 },
    { writes: 15, begin: 8 },
    { writes: 24, begin: 16 },
  ])
    it(`begin while two transactions run only if they fill a third or fourth: of ${writes}, ${begin}`, async () => {
      /** How many have begun 200 ms after the two; after 250 ms these count as blocked, and that says nothing. */
      const begunInTime = async (): Promise<number | undefined> => {
        const since = performance.now();
        const release = await busy();
        const held = Promise.withResolvers<void>();
        let begun = 0;
        const waits: Work = async (tx) => {
          begun++;
          await tx.get('SELECT 1');
          await held.promise;
        };
        const writing = Array.from({ length: writes }, () => write(waits));
        await sleep(200 - (performance.now() - since));
        const seen = performance.now() - since < 250 ? begun : undefined;
        held.resolve();
        release();
        await Promise.all(writing);
        return seen;
      };
      const seen: (number | undefined)[] = [];
      while (seen.at(-1) !== begin && seen.length < 20) seen.push(await begunInTime());
      expect(seen.at(-1)).to.equal(begin);
      expect(Math.max(...seen.map((one) => one ?? 0))).to.equal(begin);
    });

  it('that lock rows in different orders in two transactions all end', async () => {
    const both =
      (first: string, second: string): Work =>
      async (tx) => {
        await increment(first)(tx);
        await increment(second)(tx);
      };
    const seven = Array.from({ length: 7 }, (_, n) => put(`n${n}`));
    const results = await atOnce(both('a', 'b'), ...seven, both('b', 'a'), put('x'));
    expect(results.filter((one) => one !== undefined && !isTransaction(one))).to.deep.equal([]);
    expect(await amounts()).to.include({ a: 2, b: 2, n0: 1, n6: 1, x: 1 });
  });

  it('end with their own deadline: while they wait, and while they run', async () => {
    const release = await busy();
    const deadline = deadlineIn(50);
    expect(await write(put('lost'), { ...TENANT, deadline })).to.equal('the deadline has passed');
    release();
    const short = deadlineIn(300);
    const slow: Work = async (tx) => {
      await tx.defer(INSERT, ['slow', 1]);
      await tx.get('SELECT pg_sleep(30)');
    };
    const long = deadlineIn(60_000);
    const began = performance.now();
    const results = await atOnce({ work: slow, deadline: short }, { work: put('x'), deadline: long }, put('y'));
    expect(performance.now() - began).to.be.below(20_000);
    expect(results[0]).to.equal('the deadline has passed');
    expect(results.slice(1).every(isTransaction)).to.equal(true);
    expect(await amounts()).to.have.all.keys('a', 'b', 'x', 'y');
    long.settle();
  });

  it('fail as those of other transactions do once their deadline has passed: by a promise', async () => {
    const caller = new AbortController();
    const deadline = deadlineIn(60_000, caller.signal);
    const asked: Work = async (tx) => {
      caller.abort();
      const all = [tx.all('SELECT 1'), tx.run('SELECT 1'), tx.defer('SELECT 1'), tx.hold('SELECT 1')];
      const [first] = await Promise.allSettled(all);
      if (first?.status === 'rejected') throw first.reason;
    };
    const [ended, other] = await atOnce({ work: asked, deadline }, put('x'));
    expect(ended).to.equal('the caller has disconnected');
    expect(isTransaction(other)).to.equal(true);
  });

  it('do not keep what a part has changed whose deadline has passed', async () => {
    const short = deadlineIn(300);
    const work: Work = async (tx) => {
      await tx.run(INSERT, ['slow', 1]);
      await sleep(600);
    };
    const results = await atOnce({ work, deadline: short }, put('x'));
    expect(results[0]).to.equal('the deadline has passed');
    expect(await amounts()).to.have.all.keys('a', 'b', 'x');
  });

  it('end with work that one of them runs, when all have ended', async () => {
    const order: string[] = [];
    const ending =
      (name: string): Work =>
      async (tx) => {
        await tx.last('sums', name, async (all) => {
          order.push(`last of ${all.join(' and ')}`);
          await tx.defer(INSERT, ['sum', 1]);
        });
        await tx.get('SELECT 1');
        order.push(name);
      };
    expect(await atOnce(ending('one'), ending('other'))).to.deep.equal([undefined, undefined]);
    expect(order.slice(0, 2)).to.have.members(['one', 'other']);
    expect(order.slice(2)).to.deep.equal(['last of one and other']);
    expect(await amounts()).to.deep.equal({ a: 0, b: 0, sum: 1 });
    // If that fails, each of them has its own.
    expect(await atOnce(ending('third'), put('x'), ending('fourth'))).to.include.members(['unique']);
    expect(order.slice(3)).to.include.members(['last of third', 'last of fourth']);
    expect(await amounts()).to.have.all.keys('a', 'b', 'sum', 'x');
  });

  it('use one pool connection for all of them', async () => {
    let used = 0;
    const looked: Work = async (tx) => {
      await tx.get('SELECT 1');
      used = Math.max(used, database.pool().used);
    };
    await atOnce(...Array.from({ length: 8 }, () => looked));
    expect(used).to.be.within(1, 4); // the others are those of the writes before them
  });

  describe('when the connection is lost', () => {
    const SLEEP = 'SELECT pg_sleep(3600)';
    let link: BreakableConnection;
    let away: Database;

    beforeEach(async () => {
      link = await breakableConnectionTo(Number(new URL(created.url).port));
      const url = Object.assign(new URL(created.url), { hostname: '127.0.0.1', port: String(link.port) });
      away = await openDatabase(url.href, { poolMax: 4 });
    });
    afterEach(async () => {
      await away.close();
      await link.stop();
    });

    /** How writes end that wait together when the connection is lost while one of them sleeps. */
    async function lostWith(...works: readonly Work[]): Promise<readonly unknown[]> {
      const release = await busy(away);
      const writing = works.map((work) => write(work, TENANT, away));
      release();
      while ((await sleepers()) === 0);
      link.pull();
      const results = await Promise.all(writing);
      await database.write(TENANT, (tx) => tx.all(`SELECT pg_terminate_backend(pid) ${OF_SLEEPERS}`, [SLEEP]));
      return results;
    }
    const OF_SLEEPERS = 'FROM pg_stat_activity WHERE query = ? AND datname = current_database()';
    const sleepers = (): Promise<number> =>
      database.read(TENANT, async (tx) =>
        Number((await tx.get(`SELECT count(*) AS n ${OF_SLEEPERS} AND state = 'active'`, [SLEEP]))?.['n']),
      );
    const reads: Work = (tx) => tx.get(AMOUNT, ['a']);

    it('are in doubt if the commit was sent, except for those that have changed nothing', async () => {
      const sleeps: Work = async (tx) => {
        await tx.get('SELECT 1');
        await tx.defer(INSERT, ['x', 1]); // sent with the commit, as is the next
        await tx.hold(SLEEP);
      };
      const changes: Work = (tx) => tx.defer(INSERT, ['y', 1]);
      expect(await lostWith(reads, changes, sleeps)).to.deep.equal(['unreachable', 'in_doubt', 'in_doubt']);
      expect(await amounts()).to.deep.equal({ a: 0, b: 0 });
    });

    it('are certainly not committed if it was not', async () => {
      const sleeps: Work = async (tx) => {
        await tx.defer(INSERT, ['x', 1]);
        await tx.get(SLEEP);
      };
      expect(await lostWith(sleeps, put('y'), reads)).to.deep.equal(['unreachable', 'unreachable', 'unreachable']);
      expect(await amounts()).to.deep.equal({ a: 0, b: 0 });
    });
  });
});
