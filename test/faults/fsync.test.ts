import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { program } from '../support/programs.js';
import { root } from '../support/source.js';
import { skip } from '../support/skip.js';

const run = promisify(execFile);
const WRITES = 40;

// Data in the cache of the operating system survives `kill -9` but not a power failure. A test cannot cause one, so it
// counts fsync calls.
describe('a write on SQLite', function () {
  this.timeout(180_000);
  let folder = '';
  let library = '';

  before('build the counting library', async function () {
    if (process.platform !== 'linux')
      skip(this, 'fsync is counted by a library that is loaded before the C library, which needs Linux');
    folder = await mkdtemp(join(tmpdir(), 'duebook-fsync-'));
    library = join(folder, 'count-syncs.so');
    const compiled = await run('cc', [
      '-shared',
      '-fPIC',
      '-o',
      library,
      join(root, 'test/faults/count-syncs.c'),
      '-ldl',
    ]).catch((error: unknown) => error);
    if (compiled instanceof Error) skip(this, `no C compiler: ${compiled.message}`);
  });

  after('remove the library', () => rm(folder, { recursive: true, force: true }));

  it('is on the disk when it is answered: each sequential write costs an fsync', async () => {
    const { idle, total } = await syncsOf(`for (let i = 0; i < ${WRITES}; i++) await write(i);`);
    expect(total - idle).to.be.at.least(WRITES);
  });

  it('shares its fsync with concurrent writes', async () => {
    const { idle, total } = await syncsOf(`await Promise.all(Array.from({ length: ${WRITES} }, (_, i) => write(i)));`);
    expect(total - idle).to.be.within(1, WRITES / 4);
  });

  it('would be lost in NORMAL mode, which this count detects', async () => {
    const { idle, total } = await syncsOf(`for (let i = 0; i < ${WRITES}; i++) await write(i);`, NORMAL);
    expect(total - idle).to.be.below(WRITES / 4);
  });

  /** The fsync calls of a program that opens a database and creates a table, and of one that then also runs `work`. */
  const syncsOf = async (work: string, writing = OURS) => ({
    idle: await syncs(writing('')),
    total: await syncs(writing(work)),
  });

  async function syncs(text: string): Promise<number> {
    const home = await mkdtemp(join(folder, 'run-'));
    const counted = join(home, 'syncs');
    const env = { ...process.env, LD_PRELOAD: library, COUNT_SYNCS_TO: counted, BOOK: join(home, 'book.db') };
    // Closing the database would write the rest, so the program kills itself.
    const outcome: unknown = await run(process.execPath, ['--input-type=module', '--eval', text], {
      cwd: root,
      env,
    }).catch((error: unknown) => error);
    if (!(outcome instanceof Error && 'signal' in outcome && outcome.signal === 'SIGKILL'))
      throw new Error('the program did not come to its end', { cause: outcome });
    return (await readFile(counted)).length;
  }
});

const OURS = (work: string): string => `
  import { openSqlite } from '${program('data-plane-agent/base/database/sqlite.ts')}';
  const database = await openSqlite(process.env.BOOK);
  await database.exclusive((connection) => connection.run('CREATE TABLE writes (n INTEGER)'));
  const write = (n) => database.write({ tenantId: null }, (tx) => tx.run('INSERT INTO writes VALUES (?)', [n]));
  ${work}
  process.kill(process.pid, 'SIGKILL');
`;

/** The same with SQLite's defaults for a database that is already in WAL mode. */
const NORMAL = (work: string): string => `
  import Connection from 'better-sqlite3';
  new Connection(process.env.BOOK).pragma('journal_mode = WAL');
  const connection = new Connection(process.env.BOOK);
  connection.exec('CREATE TABLE writes (n INTEGER)');
  const write = (n) => connection.prepare('INSERT INTO writes VALUES (?)').run(n);
  ${work}
  process.kill(process.pid, 'SIGKILL');
`;
