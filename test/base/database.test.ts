import { expect } from 'chai';
import Connection from 'better-sqlite3';
import pg from 'pg';
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Transaction } from '../../data-plane-agent/base/database/database.js';
import { isDatabaseError } from '../../data-plane-agent/base/database/errors.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { openDatabase, sqlitePath } from '../../data-plane-agent/base/database/open.js';
import { forEachDatabase } from '../support/database.js';

const NOBODY = { tenantId: null };

const withTable = async (database: Database) => {
  await database.exclusive(async (connection) => {
    await connection.run('CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)');
  });
  return database;
};
const names = (database: Database) =>
  database.read(NOBODY, async (tx) => (await tx.all('SELECT name FROM things ORDER BY id')).map((row) => row['name']));
const add = (database: Database, id: number, name: string) =>
  database.write(NOBODY, (tx) => tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [id, name]));

describe('a database', () => {
  forEachDatabase((kind, fresh) => {
    it('commits a write, and rolls back one that throws', async () => {
      const database = await withTable((await fresh()).database);
      await add(database, 1, 'kept');
      const error = await database
        .write(NOBODY, async (tx) => {
          await tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [2, 'lost']);
          throw new Error('no');
        })
        .catch((reason: unknown) => reason);
      expect(error).to.have.property('message', 'no');
      expect(await names(database)).to.deep.equal(['kept']);
    });

    it('glances at one row by an id, the tenant by default', async () => {
      const database = await withTable((await fresh()).database);
      const [tenantId, other] = [newId(), newId()];
      await add(database, 1, tenantId);
      await add(database, 2, other);
      const sql = 'SELECT id FROM things WHERE name = ?';
      expect(await database.glance({ tenantId }, sql)).to.deep.equal({ id: 1 });
      expect(await database.glance(NOBODY, sql, other)).to.deep.equal({ id: 2 });
      expect(await database.glance(NOBODY, sql, newId())).to.equal(undefined);
    });

    it(
      kind === 'sqlite'
        ? 'has another generation after each commit, of whichever process, and the same one otherwise'
        : 'has no generation',
      async () => {
        const { database: one, again } = await fresh();
        await withTable(one);
        const other = await again();
        const before = one.generation();
        if (kind === 'postgres') return void expect(before).to.equal(undefined);
        await names(one);
        expect(one.generation()).to.equal(before);
        await add(other, 1, 'by another');
        const after = one.generation();
        expect(after).to.be.a('number').and.not.equal(before);
        await add(one, 2, 'by this one');
        expect(one.generation()).to.be.a('number').and.not.equal(after);
        expect(other.generation()).to.be.a('number');
      },
    );

    it('takes values wherever SQL allows an expression', async () => {
      const { database } = await fresh();
      await withTable(database);
      await database.write(NOBODY, async (tx) => {
        await tx.run(`INSERT INTO things (id, name) VALUES (?, 'one'), (?, ?) ON CONFLICT DO NOTHING`, [1, 2, '']);
        await tx.run(`UPDATE things SET name = coalesce(nullif(name, ''), ?) WHERE id IN (?, ?)`, ['two', 1, 2]);
      });
      const rows = await database.read(NOBODY, (tx) =>
        tx.all(
          `SELECT name AS what, CASE WHEN id < ? THEN 'first' ELSE name END AS either FROM things WHERE name LIKE ? AND id >= ? ORDER BY id LIMIT ? OFFSET ?`,
          [2, '%o%', 0, 10, 0],
        ),
      );
      expect(rows).to.deep.equal([
        { what: 'one', either: 'first' },
        { what: 'two', either: 'two' },
      ]);
    });

    it('isolates concurrent writes: a failing one does not affect the others', async () => {
      const database = await withTable((await fresh()).database);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, i) =>
          database.write(NOBODY, async (tx) => {
            await tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [i, `n${i}`]);
            if (i % 3 === 0) throw new Error(`refused ${i}`);
          }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'rejected')).to.have.length(14);
      expect(await names(database)).to.have.length(26);
    });

    it('classifies driver errors by their code', async () => {
      const database = await withTable((await fresh()).database);
      await add(database, 1, 'one');
      const unique = await add(database, 2, 'one').catch((error: unknown) => error);
      expect(isDatabaseError(unique, 'unique')).to.equal(true);
      const missing = await database
        .write(NOBODY, (tx) => tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [3, null]))
        .catch((error: unknown) => error);
      expect(isDatabaseError(missing, 'not_null')).to.equal(true);
    });

    it('rolls back to a savepoint', async () => {
      const database = await withTable((await fresh()).database);
      await database.write(NOBODY, async (tx) => {
        await tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [1, 'before']);
        const failure = await tx
          .savepoint(async () => {
            await tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [2, 'inside']);
            await tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [3, 'before']);
          })
          .catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(Error);
        await tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [4, 'after']);
      });
      expect(await names(database)).to.deep.equal(['before', 'after']);
    });

    it('refuses to write in a read', async () => {
      const database = await withTable((await fresh()).database);
      const error = await database
        .read(NOBODY, (tx) => tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [1, 'x']))
        .catch((reason: unknown) => reason);
      expect(isDatabaseError(error, 'read_only')).to.equal(true);
    });

    it('gives a read one snapshot, even when others commit writes in the meantime', async () => {
      const database = await withTable((await fresh()).database);
      await add(database, 1, 'one');
      await database.read(NOBODY, async (tx) => {
        const count = async () => Number((await tx.get('SELECT count(*) AS n FROM things'))?.['n']);
        expect(await count()).to.equal(1);
        await add(database, 2, 'two');
        expect(await count()).to.equal(1);
      });
      expect(await names(database)).to.deep.equal(['one', 'two']);
    });

    it('refuses a statement after its transaction has ended', async () => {
      const database = await withTable((await fresh()).database);
      let late: (() => Promise<unknown>) | undefined;
      await database.write(NOBODY, async (tx) => {
        late = () => tx.all('SELECT 1');
      });
      const error = await late?.().catch((reason: unknown) => reason);
      expect(error).to.have.property('message').that.contains('after its transaction');
    });

    it('loses nothing when two processes read and then write the same row', async () => {
      const { database, again } = await fresh();
      await withTable(database);
      await add(database, 1, '0');
      const other = await again();
      const lock = kind === 'postgres' ? ' FOR UPDATE' : '';
      const increment = (db: Database) =>
        db.write(NOBODY, async (tx) => {
          const row = await tx.get(`SELECT name FROM things WHERE id = 1${lock}`);
          await tx.run('UPDATE things SET name = ? WHERE id = 1', [String(Number(row?.['name']) + 1)]);
        });
      await Promise.all(Array.from({ length: 100 }, (_, i) => increment(i % 2 ? database : other)));
      expect(await names(database)).to.deep.equal(['100']);
    });

    it('runs exclusive work and writes one after the other', async () => {
      const database = await withTable((await fresh()).database);
      const exclusive = (id: number) =>
        database.exclusive((connection) =>
          connection.run('INSERT INTO things (id, name) VALUES (?, ?)', [id, `e${id}`]),
        );
      await Promise.all([exclusive(1), add(database, 2, 'w2'), exclusive(3), add(database, 4, 'w4'), exclusive(5)]);
      expect(await names(database)).to.deep.equal(['e1', 'w2', 'e3', 'w4', 'e5']);
    });

    it('reports whether it responds, and refuses work once closed', async () => {
      const database = await withTable((await fresh()).database);
      expect(await database.ping(1_000)).to.equal(true);
      await database.close();
      expect(await database.ping(1_000)).to.equal(false);
      const error = await add(database, 1, 'late').catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(Error);
    });

    if (kind === 'sqlite') {
      it('runs writes of one commit once, unless one of them fails halfway', async () => {
        const database = await withTable((await fresh()).database);
        const runs: string[] = [];
        const together = (works: Readonly<Record<string, (tx: Transaction) => Promise<unknown>>>) =>
          Promise.allSettled(
            Object.entries(works).map(([name, work]) =>
              database.write(NOBODY, async (tx) => {
                runs.push(name);
                await work(tx);
              }),
            ),
          );
        const adds = (id: number) => (tx: Transaction) =>
          tx.run('INSERT INTO things (id, name) VALUES (?, ?)', [id, `n${id}`]);
        const refused = () => Promise.reject(new Error('refused'));
        const halfway = (id: number) => (tx: Transaction) => adds(id)(tx).then(refused);

        await together({ one: adds(1), refused, two: adds(2) });
        expect(runs.splice(0)).to.deep.equal(['one', 'refused', 'two']);
        const outcomes = await together({ three: adds(3), halfway: halfway(4), five: adds(5), again: halfway(6) });
        expect(runs.splice(0)).to.deep.equal(['three', 'halfway', 'three', 'five', 'again']);
        expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
        await together({
          parts: async (tx) => {
            await adds(7)(tx);
            await tx.savepoint(() => halfway(8)(tx)).catch(() => undefined);
            await adds(9)(tx);
          },
        });
        expect(runs.splice(0)).to.deep.equal(['parts', 'parts']);
        expect(await names(database)).to.deep.equal(['n1', 'n2', 'n3', 'n5', 'n7', 'n9']);
      });

      it('undoes a long part by itself where that is asked for', async () => {
        const database = await withTable((await fresh()).database);
        let runs = 0;
        await database.write(NOBODY, async (tx) => {
          runs += 1;
          const insert = 'INSERT INTO things (id, name) VALUES (?, ?)';
          const part = async () => {
            await tx.run(insert, [1, 'undone']);
            throw new Error('undone');
          };
          await tx.savepoint(part, { isUndoneAlone: true }).catch(() => undefined);
          await tx.run(insert, [2, 'kept']);
        });
        expect(runs).to.equal(1);
        expect(await names(database)).to.deep.equal(['kept']);
      });

      it('syncs each commit on every connection, also on those opened later', async () => {
        const { url, database, again } = await fresh();
        await withTable(database);
        const second = await again();
        for (const db of [database, second]) {
          const level = await db.exclusive(
            async (connection) => (await connection.all('PRAGMA synchronous'))[0]?.['synchronous'],
          );
          expect(level).to.equal(2);
          const onReader = await db.read(NOBODY, async (tx) => (await tx.get('PRAGMA synchronous'))?.['synchronous']);
          expect(onReader).to.equal(2);
        }
        const raw = new Connection(sqlitePath(url) ?? '');
        expect(raw.pragma('journal_mode', { simple: true })).to.equal('wal');
        raw.close();
      });

      it('makes its files accessible to their owner only', async () => {
        const { url, database } = await fresh();
        await withTable(database);
        const modes = ['', '-wal', '-shm'].map((suffix) =>
          (statSync(`${sqlitePath(url)}${suffix}`).mode & 0o777).toString(8),
        );
        expect(modes).to.deep.equal(['600', '600', '600']);
      });

      it('waits for the write of another process, then continues', async () => {
        const { url, database } = await fresh();
        await withTable(database);
        const raw = new Connection(sqlitePath(url) ?? '');
        raw.exec('BEGIN IMMEDIATE');
        const waiting = add(database, 1, 'patient');
        await new Promise((resolve) => setTimeout(resolve, 150));
        raw.exec('COMMIT');
        raw.close();
        await waiting;
        expect(await names(database)).to.deep.equal(['patient']);
      });
    } else {
      it('reports unreachable when there is no server', async () => {
        const database = await openDatabase('postgres://nobody:x@127.0.0.1:1/none', { poolMax: 1 });
        const error = await database.read(NOBODY, (tx) => tx.all('SELECT 1')).catch((reason: unknown) => reason);
        expect(isDatabaseError(error)).to.equal(true);
        expect(await database.ping(1_000)).to.equal(false);
        await database.close();
      });

      it('reports unreachable for statements on a broken connection, also from the query builder, then opens a new one', async () => {
        const database = await withTable((await fresh()).database);
        const asks: readonly ((tx: Transaction) => PromiseLike<unknown>)[] = [
          (tx) => tx.all('SELECT 1'),
          (tx) => tx.table('things').insert({ id: 1, name: 'x' }),
          (tx) => tx.savepoint(() => Promise.resolve()),
        ];
        for (const again of asks) {
          const reported: unknown[] = [];
          const work = async (tx: Transaction): Promise<void> => {
            await tx
              .get('SELECT pg_terminate_backend(pg_backend_pid())')
              .catch((reason: unknown) => reported.push(reason));
            await again(tx);
          };
          reported.push(await database.write(NOBODY, work).catch((reason: unknown) => reason));
          expect(reported.map((error) => isDatabaseError(error, 'unreachable'))).to.deep.equal([true, true]);
          expect(await names(database)).to.deep.equal([]);
        }
      });

      for (const way of ['read', 'glance'] as const)
        it(`repeats a ${way} that the server ended because of a deadlock with a migration`, async () => {
          const { database, url } = await fresh();
          await database.exclusive(async (connection) => {
            for (const table of ['first', 'second'])
              await connection.run(`CREATE TABLE ${table} (id BIGINT PRIMARY KEY)`);
          });
          const migration = new pg.Client({ connectionString: url });
          await migration.connect();
          try {
            const alter = (table: string) => migration.query(`ALTER TABLE ${table} ADD COLUMN added BIGINT`);
            await migration.query('BEGIN');
            await alter('first');
            // It has the second table and waits for the first; the server ends it when the migration waits for the second.
            const asked =
              way === 'read'
                ? database.read(NOBODY, async (tx) => {
                    await tx.all('SELECT id FROM second');
                    return tx.get('SELECT count(*) AS n FROM first');
                  })
                : database.glance(NOBODY, 'SELECT count(*) AS n FROM second, first WHERE first.id::text <> ?', newId());
            await sleep(200);
            await alter('second');
            await migration.query('COMMIT');
            expect(Number((await asked)?.['n'])).to.equal(0);
          } finally {
            await migration.end();
          }
        });

      it('retries a write after a conflict with another one', async () => {
        const { database } = await fresh();
        await withTable(database);
        await add(database, 1, 'a');
        await add(database, 2, 'b');
        const swap = (first: number, second: number) =>
          database.write(NOBODY, async (tx) => {
            await tx.run("UPDATE things SET name = name || '.' WHERE id = ?", [first]);
            await new Promise((resolve) => setTimeout(resolve, 30));
            await tx.run("UPDATE things SET name = name || '.' WHERE id = ?", [second]);
          });
        await Promise.all([swap(1, 2), swap(2, 1)]); // a deadlock: the server aborts one of the two
        expect(await names(database)).to.deep.equal(['a..', 'b..']);
      });
    }
  });
});
