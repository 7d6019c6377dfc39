import { expect } from 'chai';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { Insertion } from '../../data-plane-agent/base/database/insertion.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { deadlineIn } from '../../data-plane-agent/base/deadline.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { keptWaiting } from '../support/kept-waiting.js';
import { createDatabase, needsPostgres, type TestDatabase } from '../support/postgres.js';

const TENANT = { tenantId: newId() };
const THINGS = new Insertion('things (id, amount)', '(?, ?)');
const OTHERS = new Insertion('others (id, thing)', '(?, ?)');

type Work = (tx: Transaction) => Promise<unknown>;

describe('statements of writes that share a transaction on PostgreSQL', () => {
  needsPostgres();
  let created: TestDatabase;
  let database: Database;

  beforeEach(async () => {
    created = await createDatabase();
    database = await openDatabase(created.url, { poolMax: 8 });
    const setUp = [
      'CREATE TABLE things (id TEXT PRIMARY KEY, amount INTEGER NOT NULL CHECK (amount < 100))',
      'CREATE TABLE others (id TEXT PRIMARY KEY, thing TEXT NOT NULL REFERENCES things (id))',
      'CREATE TABLE run (what TEXT NOT NULL)',
      'CREATE SEQUENCE asked',
      "CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO run VALUES (TG_OP || ' ' || TG_TABLE_NAME); RETURN NULL; END $$",
      ...['things', 'others'].map(
        (table) =>
          `CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION noted()`,
      ),
    ];
    await database.exclusive(async (connection) => {
      for (const sql of setUp) await connection.run(sql);
    });
  });
  afterEach(async () => {
    await database.close();
    await created.drop();
  });

  const write = (work: Work): Promise<unknown> =>
    database.write(TENANT, work, { mayShare: true }).catch((error: unknown) => (error as Error).message);

  /** How these end, which share a transaction. */
  async function together(...works: readonly Work[]): Promise<unknown[]> {
    const release = await keptWaiting(database, TENANT);
    const writing = works.map(write);
    release();
    return Promise.all(writing);
  }

  const rowsOf = (table: string): Promise<unknown[]> =>
    database.read(TENANT, async (tx) =>
      (await tx.all(`SELECT * FROM ${table} ORDER BY 1`)).map((row) => Object.values(row)),
    );
  /** The statements that were run, in their order. */
  const statements = async (): Promise<unknown[]> =>
    database.read(TENANT, async (tx) => (await tx.all('SELECT what FROM run ORDER BY ctid')).map(({ what }) => what));
  const numbered = (from: number, to: number): unknown[][] =>
    Array.from({ length: to - from }, (_, n) => [`n${String(from + n).padStart(3, '0')}`, 1]);

  describe('insert their rows', () => {
    const entering =
      (id: string, others: number): Work =>
      async (tx) => {
        await tx.insert(THINGS, [[id, 1]]);
        await tx.insert(
          OTHERS,
          Array.from({ length: others }, (_, n) => [`${id}-${n}`, id]),
        );
      };

    it('with the same statements, table by table', async () => {
      await together(...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((id) => entering(id, 3)));
      expect(await statements()).to.deep.equal(['INSERT things', 'INSERT others', 'INSERT others']); // 8; 16 and 8
      expect((await rowsOf('others')).slice(0, 4)).to.deep.equal([
        ['a-0', 'a'],
        ['a-1', 'a'],
        ['a-2', 'a'],
        ['b-0', 'b'],
      ]);
      expect(await rowsOf('things')).to.have.length(8);
      expect(await rowsOf('others')).to.have.length(24);
    });

    it('not before what the same write has done before', async () => {
      await write(entering('old', 0));
      const replacing: Work = async (tx) => {
        await tx.defer('DELETE FROM things WHERE id = ?', ['old']);
        await tx.insert(THINGS, [['old', 2]]);
      };
      const linking: Work = async (tx) => {
        await tx.insert(THINGS, [['y', 1]]);
        await tx.hold("SELECT nextval('asked')");
        await tx.insert(THINGS, [['z', 1]]);
      };
      await together(entering('x', 1), replacing, linking, linkingTo('x'));
      expect(await statements()).to.deep.equal([
        'INSERT things', // of the write before
        'INSERT things', // x and y
        'DELETE things',
        'INSERT others', // of both
        'INSERT things', // after the deletion
        'INSERT things', // after the lock
      ]);
      expect(await rowsOf('things')).to.deep.equal([
        ['old', 2],
        ['x', 1],
        ['y', 1],
        ['z', 1],
      ]);
    });
    const linkingTo =
      (thing: string): Work =>
      (tx) =>
        tx.insert(OTHERS, [['later', thing]]);

    it('which each of them sees as soon as it has inserted them', async () => {
      const seeing =
        (id: string): Work =>
        async (tx) => {
          await tx.insert(THINGS, [[id, 7]]);
          const row = await tx.get('SELECT amount FROM things WHERE id = ?', [id]);
          await tx.insert(THINGS, [[`${id} again`, Number(row?.['amount']) + 1]]);
          return row?.['amount'];
        };
      expect(await together(seeing('a'), seeing('b'), seeing('c'))).to.deep.equal([7, 7, 7]);
      expect(await statements()).to.have.length(4); // of 2 and 1 rows
      expect(await rowsOf('things')).to.have.length(6);
    });

    it('by themselves after one of them was refused', async () => {
      const [x, refused, y] = await together(
        entering('x', 1),
        (tx) => tx.insert(THINGS, [['lost', 100]]),
        entering('y', 1),
      );
      expect([x, y]).to.deep.equal([undefined, undefined]);
      expect(refused).to.be.a('string');
      expect(await rowsOf('things')).to.deep.equal([
        ['x', 1],
        ['y', 1],
      ]);
    });

    it('however many they are', async () => {
      const many = (from: number, to: number): Work => {
        const rows = numbered(from, to).map(([id, amount]) => [String(id), Number(amount)]);
        return (tx) => tx.insert(THINGS, rows);
      };
      await together(many(0, 300), many(300, 301), many(301, 400));
      expect(await rowsOf('things')).to.deep.equal(numbered(0, 400));
      expect(await statements()).to.have.length(7); // 6 of 64, 1 of 16
    });

    it('not at all if they are none', async () => {
      await together(
        (tx) => tx.insert(THINGS, []),
        (tx) => tx.insert(THINGS, []),
      );
      expect(await statements()).to.deep.equal([]);
    });
  });

  describe('without others', () => {
    it('insert rows with the statement before them, and not across a savepoint', async () => {
      await database.write(TENANT, async (tx) => {
        await tx.insert(THINGS, [['a', 1]]);
        await tx.insert(THINGS, [['b', 1]]);
        const undone = tx.savepoint(async () => {
          await tx.insert(THINGS, [['lost', 1]]);
          throw new Error('undone');
        });
        const [ended] = await Promise.allSettled([undone]);
        expect(ended).to.have.nested.property('reason.message', 'undone');
        await tx.insert(THINGS, [['c', 1]]);
        await tx.savepoint(() => tx.insert(THINGS, [['d', 1]]));
      });
      expect((await rowsOf('things')).flat()).to.deep.equal(['a', 1, 'b', 1, 'c', 1, 'd', 1]);
      expect(await statements()).to.have.length(3);
    });
  });

  describe('that others have asked too', () => {
    const ASKED = "SELECT nextval('asked') AS n";
    const number = async (read: Promise<readonly Record<string, unknown>[]>): Promise<unknown> =>
      (await read)[0]?.['n'];

    it('are run once if what they read is steady, with the same values', async () => {
      const steady: Work = (tx) => number(tx.steady(ASKED));
      expect(await together(steady, steady, (tx) => number(tx.all(ASKED)), steady)).to.deep.equal([1, 1, 2, 1]);
      const adding =
        (value: number): Work =>
        (tx) =>
          number(tx.steady("SELECT nextval('asked') + CAST(? AS bigint) AS n", [value]));
      expect(await together(adding(10), adding(20), adding(10))).to.deep.equal([13, 24, 13]);
      expect([await write(steady), await write(steady)]).to.deep.equal([5, 6]); // each by itself
    });

    it('are run once if they take a lock, before what follows it', async () => {
      const holding: Work = async (tx) => {
        await tx.hold(ASKED);
        return number(tx.all('SELECT last_value AS n FROM asked'));
      };
      expect(await together(holding, holding, holding)).to.deep.equal([1, 1, 1]);
      expect(await write(holding)).to.equal(2);
      const locking =
        (key: number): Work =>
        async (tx) => {
          await tx.hold('SELECT pg_advisory_xact_lock_shared(CAST(? AS bigint))', [key]);
          return number(
            tx.all("SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"),
          );
        };
      expect(await together(locking(1), locking(2), locking(1))).to.deep.equal([2, 2, 2]);
    });

    it('are refused to those whose deadline has passed', async () => {
      const caller = new AbortController();
      const deadline = deadlineIn(60_000, caller.signal);
      const ends: string[] = [];
      const asked: Work = async (tx) => {
        await tx.get('SELECT 1');
        caller.abort();
        const all = [tx.steady(ASKED), tx.hold(ASKED), tx.insert(THINGS, [['lost', 1]])];
        ends.push(...(await Promise.allSettled(all)).map(({ status }) => status));
      };
      const release = await keptWaiting(database, TENANT);
      const writing = [
        database.write({ ...TENANT, deadline }, asked, { mayShare: true }),
        write((tx) => tx.insert(THINGS, [['kept', 1]])),
      ];
      release();
      const [ended] = await Promise.allSettled(writing);
      expect(ended).to.have.nested.property('reason.message', 'the caller has disconnected');
      expect(ends).to.deep.equal(['rejected', 'rejected', 'rejected']);
      expect(await rowsOf('things')).to.deep.equal([['kept', 1]]);
    });
  });

  it('count as a change if they end the transaction', async () => {
    const failing: Work = async (tx) => {
      await tx.last('rows', 'one', async () => tx.insert(THINGS, [['lost', 1]]));
      throw new Error('failed');
    };
    const [failed, kept] = await together(failing, (tx) => tx.insert(THINGS, [['kept', 1]]));
    expect([failed, kept]).to.deep.equal(['failed', undefined]);
    expect(await rowsOf('things')).to.deep.equal([['kept', 1]]);
  });
});
