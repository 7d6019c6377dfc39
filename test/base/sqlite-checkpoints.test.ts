import { statSync } from 'node:fs';
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import SqliteConnection from 'better-sqlite3';
import { expect } from 'chai';
import { once } from 'node:events';
import { SqliteCheckpoints } from '../../data-plane-agent/base/database/sqlite-checkpoints.js';

const WRITES = 1_000;
const OPTIONS = { copiedAfter: WRITES, longPages: 200, mostPages: 100_000, waitsAt: 200 };

describe('checkpoints of an SQLite file', () => {
  let folder: string;
  let filename: string;
  let writer: SqliteConnection.Database;
  let checkpoints: SqliteCheckpoints;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'duebook-checkpoints-'));
    filename = join(folder, 'some.db');
    writer = new SqliteConnection(filename);
    writer.pragma('journal_mode = WAL');
    writer.pragma('wal_autocheckpoint = 0');
    writer.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, text TEXT)');
    writer.pragma('wal_checkpoint(TRUNCATE)');
    checkpoints = new SqliteCheckpoints(filename, OPTIONS);
  });
  afterEach(async () => {
    await checkpoints.close();
    writer.close();
    await rm(folder, { recursive: true, force: true });
  });

  const insert = (rows: number): void => {
    const statement = writer.prepare('INSERT INTO things (text) VALUES (?)');
    writer.transaction(() => {
      for (let row = 0; row < rows; row++) statement.run('x'.repeat(1_000));
    })();
  };
  const write = (rows: number): void => {
    insert(rows);
    checkpoints.committed(rows);
  };
  const sizeOf = async (name: string): Promise<number> => (await stat(name)).size;
  const log = (): string => `${filename}-wal`;

  it('are made after many writes, not after few', async () => {
    const empty = await sizeOf(filename);
    write(WRITES - 1);
    await checkpoints.ended();
    expect(await sizeOf(filename)).to.equal(empty);
    write(1);
    await checkpoints.ended();
    expect(await sizeOf(filename)).to.be.greaterThan(empty + WRITES * 1_000);
  });

  it('let the log begin anew, so that it does not grow with each', async () => {
    write(WRITES);
    await checkpoints.ended();
    const once = await sizeOf(log());
    for (let round = 0; round < 5; round++) {
      write(WRITES);
      await checkpoints.ended();
    }
    expect(await sizeOf(log())).to.be.lessThan(2 * once);
    expect(writer.pragma('integrity_check', { simple: true })).to.equal('ok');
  });

  it('include what is written while one is made', async () => {
    write(WRITES);
    write(WRITES);
    await checkpoints.ended();
    expect(await sizeOf(filename)).to.be.greaterThan(2 * WRITES * 1_000);
  });

  it('let the log begin anew though the thread could not copy all of it, if the writer copies the rest', async () => {
    const reader = new SqliteConnection(filename);
    const afterTen = async (beforeTheNext: () => void): Promise<number> => {
      writer.pragma('wal_checkpoint(TRUNCATE)');
      for (let round = 0; round < 10; round++) {
        reader.exec('BEGIN; SELECT * FROM things LIMIT 1'); // what is written from now on cannot be copied
        write(WRITES);
        await checkpoints.ended();
        reader.exec('COMMIT');
        beforeTheNext();
      }
      return sizeOf(log());
    };
    const without = await afterTen(() => undefined);
    const withRest = await afterTen(() => checkpoints.copyRest(writer));
    reader.close();
    expect(withRest).to.be.lessThan(without / 5);
    expect(writer.pragma('integrity_check', { simple: true })).to.equal('ok');
  });

  it('do not keep a writer from writing if the rest cannot be copied', async () => {
    write(WRITES);
    await checkpoints.ended();
    let tried = 0;
    const fails = new Proxy(writer, {
      get: () => () => {
        tried++;
        throw new SqliteConnection.SqliteError('database or disk is full', 'SQLITE_FULL');
      },
    });
    checkpoints.copyRest(fails);
    expect(tried).to.equal(1);
  });

  it('leave what the thread could not copy to it, if it is much', async () => {
    const reader = new SqliteConnection(filename);
    reader.exec('BEGIN; SELECT * FROM things LIMIT 1');
    write(2 * WRITES);
    await checkpoints.ended();
    reader.exec('COMMIT');
    reader.close();
    const before = await sizeOf(filename);
    checkpoints.copyRest(writer);
    expect(await sizeOf(filename)).to.equal(before);
    write(WRITES);
    await checkpoints.ended();
    expect(await sizeOf(filename)).to.be.greaterThan(before + 3 * WRITES * 1_000);
  });

  /** A writer that answers instead of copying, and what it was asked. */
  const answering = (answers: readonly number[]) => {
    const asked: string[] = [];
    const of = new Proxy(writer, { get: () => (pragma: string) => answers[asked.push(pragma) - 1] });
    return { of, asked };
  };

  it('are tried once more by a writer that finds somebody else copying, and not once they are made', async () => {
    write(WRITES);
    await checkpoints.ended();
    const { of, asked } = answering([1, 0, 0]);
    for (let time = 0; time < 3; time++) checkpoints.copyRest(of);
    expect(asked).to.have.length(2);
  });

  describe('while another connection copies', () => {
    let reader: SqliteConnection.Database;
    let other: Worker;

    beforeEach(async () => {
      reader = new SqliteConnection(filename);
      write(WRITES);
      await checkpoints.ended();
      reader.exec('BEGIN; SELECT * FROM things LIMIT 1'); // what is written from now on cannot be copied
      insert(WRITES);
      // Waits for the reader with the lock of checkpoints.
      other = new Worker(
        `const Database = require('better-sqlite3');
         const { workerData } = require('node:worker_threads');
         const connection = new Database(workerData, { timeout: 60_000 });
         while (connection.pragma('wal_checkpoint(RESTART)', { simple: true }) === 1); // at once if the lock is taken
         connection.close();`,
        { eval: true, workerData: filename },
      );
      while (writer.pragma('wal_checkpoint(PASSIVE)', { simple: true }) !== 1) await sleep(1);
    });
    afterEach(async () => {
      if (reader.inTransaction) reader.exec('COMMIT');
      if (other.threadId !== -1) await once(other, 'exit');
      reader.close();
    });

    it('wait for it', async () => {
      const before = await sizeOf(filename);
      let over = false;
      checkpoints.committed(WRITES);
      const ended = checkpoints.ended().then(() => (over = true));
      await sleep(50);
      expect(over).to.equal(false);
      reader.exec('COMMIT');
      await ended;
      expect(await sizeOf(filename)).to.be.greaterThan(before + WRITES * 1_000);
    });

    it('give up after a second, and know how long the log was', async () => {
      checkpoints.committed(WRITES);
      await checkpoints.ended();
      const { of, asked } = answering([0]);
      checkpoints.copyRest(of);
      expect(asked).to.have.length(1);
    });
  });

  it('have a writer wait that would let the log grow without end', async () => {
    const begun = async () => {
      let begins = false;
      void checkpoints.mayBegin().then(() => (begins = true));
      await Promise.resolve();
      await Promise.resolve();
      return begins;
    };
    write(WRITES);
    expect(await begun()).to.equal(true);
    await checkpoints.ended();
    expect(await begun()).to.equal(true);
    write(WRITES);
    expect(await begun()).to.equal(false);
    await checkpoints.ended();
    expect(await begun()).to.equal(true);
  });

  it('leave a short log to the thread, and one of which much is not copied', async () => {
    const rest = new SqliteCheckpoints(filename, { ...OPTIONS, longPages: 100_000 });
    write(WRITES);
    await checkpoints.ended();
    const copied = await sizeOf(filename);
    rest.copyRest(writer);
    write(WRITES - 1);
    checkpoints.copyRest(writer);
    expect(await sizeOf(filename)).to.equal(copied);
    await rest.close();
  });

  it('let a writer that can wait go on, but not without end', async () => {
    for (let round = 0; round < 30; round++) {
      await checkpoints.mayGrow();
      checkpoints.copyRest(writer);
      write(WRITES);
    }
    const pages = (await sizeOf(log())) / 4_120;
    expect(pages).to.be.lessThan(OPTIONS.longPages + 4 * WRITES);
    expect(writer.prepare('SELECT count(*) FROM things').pluck().get()).to.equal(30 * WRITES);
  });

  it('are waited for once more if much was committed while the thread copied, so that the rest of the log is small', async () => {
    write(WRITES);
    await checkpoints.ended();
    write(WRITES);
    write(WRITES - 1); // while the thread copies; a long log also if it has just begun anew
    await checkpoints.mayGrow();
    const { of, asked } = answering([0]);
    checkpoints.copyRest(of);
    expect(asked).to.deep.equal(['wal_checkpoint(PASSIVE)']);
  });

  describe('beside another writer', () => {
    const MOST_PAGES = 50;
    let other: SqliteConnection.Database;
    let own: SqliteCheckpoints;

    beforeEach(() => {
      other = new SqliteConnection(filename);
      other.pragma('wal_autocheckpoint = 0');
      own = new SqliteCheckpoints(filename, { ...OPTIONS, mostPages: MOST_PAGES });
      writer.pragma(`wal_autocheckpoint = ${MOST_PAGES}`);
    });
    afterEach(async () => {
      await own.close();
      other.close();
    });

    const writeAs = (connection: SqliteConnection.Database, rows: number): void => {
      const insert = connection.prepare('INSERT INTO things (text) VALUES (?)');
      connection.transaction(() => {
        for (let row = 0; row < rows; row++) insert.run('x'.repeat(1_000));
        if (connection === writer) own.beforeCommit(writer, rows);
      })();
      if (connection === writer) own.committed(rows);
    };

    it('leave its log to it, though a commit would copy such a log, until the thread has copied it', async () => {
      const empty = await sizeOf(filename);
      writeAs(other, WRITES);
      own.leaveToOthers();
      writeAs(writer, 1);
      expect(await sizeOf(filename)).to.equal(empty);
      writeAs(writer, WRITES);
      writeAs(writer, 1); // the thread has been asked, and copies when it has started
      expect(statSync(filename).size).to.equal(empty);
      await own.ended();
      const copied = await sizeOf(filename);
      expect(copied).to.be.greaterThan(2 * WRITES * 1_000);
      writeAs(other, WRITES);
      writeAs(writer, 1);
      expect(await sizeOf(filename)).to.be.greaterThan(copied + WRITES * 1_000);
    });

    it('do not copy the rest, of which nobody knows how much it is', async () => {
      writeAs(writer, WRITES);
      await own.ended();
      const copied = await sizeOf(filename);
      writeAs(other, WRITES);
      own.leaveToOthers();
      own.copyRest(writer);
      expect(await sizeOf(filename)).to.equal(copied);
    });

    it('leave the log of a long transaction to the thread', async () => {
      const empty = await sizeOf(filename);
      expect(own.beforeCommit(writer, 2_000)).to.equal(false);
      expect(own.beforeCommit(writer, 2_001)).to.equal(true);
      writeAs(writer, WRITES - 1);
      expect(await sizeOf(filename)).to.equal(empty);
      writeAs(writer, 1);
      await own.ended();
      const copied = await sizeOf(filename);
      expect(copied).to.be.greaterThan(empty + WRITES * 1_000);
      writeAs(writer, WRITES / 2);
      expect(await sizeOf(filename)).to.be.greaterThan(copied);
    });
  });

  it('are not waited for by a writer that can wait while little is not copied', async () => {
    const empty = await sizeOf(filename);
    write(WRITES - 1);
    await checkpoints.mayGrow();
    expect(await sizeOf(filename)).to.equal(empty);
  });

  it('are waited for when the file is closed, and need no thread afterwards', async () => {
    write(WRITES);
    await checkpoints.close();
    expect(await sizeOf(filename)).to.be.greaterThan(WRITES * 1_000);
  });

  it('are tried again after the thread has failed', async () => {
    const moved = join(folder, 'moved.db');
    const ofMoved = new SqliteCheckpoints(moved, OPTIONS);
    ofMoved.committed(WRITES); // the file does not exist
    await ofMoved.ended();
    write(WRITES - 1);
    for (const end of ['', '-wal']) await copyFile(`${filename}${end}`, `${moved}${end}`);
    const before = await sizeOf(moved);
    ofMoved.committed(WRITES);
    await ofMoved.close();
    expect(await sizeOf(moved)).to.be.greaterThan(before);
  });
});
