import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { migrate, migrationState, type Migration } from '../../data-plane-agent/base/database/migrator.js';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { forEachDatabase } from '../support/database.js';

const first: Migration = { id: '0001-first', statements: (t) => [`CREATE TABLE a (id ${t.id} NOT NULL, n ${t.big})`] };
const second: Migration = {
  id: '0002-second',
  statements: (t) => [`ALTER TABLE a ADD COLUMN name ${t.text}`, 'CREATE TABLE b (id INTEGER)'],
};
const broken: Migration = { id: '0003-broken', statements: () => ['CREATE TABLE c (id INTEGER)', 'THIS IS NO SQL'] };

describe('the migrator', () => {
  forEachDatabase((kind, fresh) => {
    it('applies pending steps in order, once', async () => {
      const { database } = await fresh();
      expect(await migrationState(database, [first, second])).to.deep.equal({
        applied: [],
        pending: ['0001-first', '0002-second'],
      });
      expect(await migrate(database, [first])).to.deep.equal(['0001-first']);
      expect(await migrate(database, [first, second])).to.deep.equal(['0002-second']);
      expect(await migrate(database, [first, second])).to.deep.equal([]);
      expect(await migrationState(database, [first, second])).to.deep.equal({
        applied: ['0001-first', '0002-second'],
        pending: [],
      });
    });

    it('runs in one of several processes that start at once', async () => {
      const { again } = await fresh();
      const programs = await Promise.all([again(), again(), again(), again()]);
      const applied = await Promise.all(programs.map((database) => migrate(database, [first, second])));
      expect(applied.flat()).to.deep.equal(['0001-first', '0002-second']);
    });

    if (kind === 'postgres') {
      /** Like a server that cancels statements after this time: the default of half a minute is too long for a test. */
      const hurried = async (url: string): Promise<Database> => {
        const short = new URL(url);
        short.searchParams.set('statement_timeout', '300');
        const database = await openDatabase(short.href, { poolMax: 2 });
        undo.push(() => database.close());
        return database;
      };
      const undo: (() => Promise<void>)[] = [];
      afterEach(async () => {
        for (const step of undo.splice(0)) await step();
      });

      it('waits for another migration longer than the statement timeout, reports its holder, and then has nothing left to do', async () => {
        const { database, url } = await fresh();
        const second = await hurried(url);
        const reported: { heldBy: string; waitedMs: number }[] = [];
        let waiting: Promise<readonly string[]> | undefined;
        let pid: unknown;
        const slow: Migration = {
          id: '0002-slow',
          statements: () => [],
          async fill(connection) {
            pid = (await connection.all('SELECT pg_backend_pid() AS pid'))[0]?.['pid'];
            waiting = migrate(second, [first, slow], (wait) => reported.push(wait));
            while (reported.length === 0) await sleep(10);
            await sleep(900);
          },
        };
        await migrate(database, [first]); // a new database is not filled
        expect(await migrate(database, [first, slow])).to.deep.equal(['0002-slow']);
        expect(await waiting).to.deep.equal([]);
        expect(reported).to.have.length(1);
        expect(reported[0]?.heldBy).to.equal(`PostgreSQL process ${String(pid)}, for a client at 127.0.0.1`);
      });

      it('allows statements of a step, and no others, to exceed the timeout of requests', async () => {
        const { url } = await fresh();
        const database = await hurried(url);
        const sleepy: Migration = {
          id: '0001-sleepy',
          statements: (t) => (t.dialect === 'postgres' ? ['SELECT pg_sleep(0.6)'] : []),
        };
        expect(await migrate(database, [sleepy])).to.deep.equal(['0001-sleepy']);
        expect(
          await database
            .read({ tenantId: null }, (tx) => tx.all('SELECT pg_sleep(0.6)'))
            .catch((error: unknown) => error),
        ).to.have.property('problem', 'timeout');
      });

      it('reports the applied steps while another program migrates', async () => {
        const { database, again } = await fresh();
        await migrate(database, [first]);
        const beside = await again();
        await database.exclusive(async () => {
          expect(await migrationState(beside, [first, second])).to.deep.equal({
            applied: ['0001-first'],
            pending: ['0002-second'],
          });
        });
      });
    }

    it('rolls back a failing step, and keeps those applied before', async () => {
      const { database } = await fresh();
      await migrate(database, [first, second]);
      const error = await migrate(database, [first, second, broken]).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(Error);
      expect(await migrationState(database, [first, second, broken])).to.deep.equal({
        applied: ['0001-first', '0002-second'],
        pending: ['0003-broken'],
      });
      const left = await database.exclusive((connection) =>
        connection.all(
          kind === 'sqlite'
            ? "SELECT name FROM sqlite_master WHERE name = 'c'"
            : "SELECT table_name FROM information_schema.tables WHERE table_name = 'c'",
        ),
      );
      expect(left).to.deep.equal([]);
    });

    it('allows a step to process rows before its statements, in several transactions, and to repeat this after an interruption', async () => {
      const { database } = await fresh();
      await migrate(database, [first]);
      let isBroken = true;
      const filling: Migration = {
        ...second,
        async fill(connection) {
          const [row] = await connection.all('SELECT count(*) AS n FROM a');
          if (Number(row?.['n']) === 0)
            await connection.transaction(async () =>
              connection.run('INSERT INTO a (id, n) VALUES (?, ?)', ['00000000-0000-7000-8000-000000000001', 1]),
            );
          if (isBroken) throw new Error('the power failed');
          await connection.transaction(async () => connection.run('UPDATE a SET n = n + 1'));
        },
      };
      expect(await migrate(database, [first, filling]).catch((error: unknown) => error)).to.have.property(
        'message',
        'the power failed',
      );
      expect(await migrationState(database, [first, filling])).to.deep.equal({
        applied: ['0001-first'],
        pending: ['0002-second'],
      });
      isBroken = false;
      expect(await migrate(database, [first, filling])).to.deep.equal(['0002-second']);
      expect(await database.exclusive((connection) => connection.all('SELECT n, name FROM a'))).to.deep.equal([
        { n: 2, name: null },
      ]);
      expect(await migrate(database, [first, filling])).to.deep.equal([]);
    });

    it('processes no rows in a new database, which has none', async () => {
      const { database } = await fresh();
      const filling: Migration = {
        ...second,
        fill: () => Promise.reject(new Error('a new database was filled')),
      };
      expect(await migrate(database, [first, filling])).to.deep.equal(['0001-first', '0002-second']);
    });

    it('refuses a step that was changed after it had been applied', async () => {
      const { database } = await fresh();
      await migrate(database, [first]);
      const edited: Migration = { id: first.id, statements: () => ['CREATE TABLE a (id INTEGER)'] };
      const error = await migrate(database, [edited]).catch((reason: unknown) => reason);
      expect(error).to.have.property('name', 'SchemaMismatch');
      expect(error).to.have.property('message').that.contains('0001-first');
    });

    it('refuses a database that a newer program has migrated', async () => {
      const { database } = await fresh();
      await migrate(database, [first, second]);
      const error = await migrate(database, [first]).catch((reason: unknown) => reason);
      expect(error).to.have.property('message').that.contains('0002-second').and.contains('upgrade');
    });
  });
});
