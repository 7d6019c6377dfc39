import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { COMPILE_CACHE, program } from '../support/programs.js';
import type { Rivalry } from '../support/rival-program.js';

const WRITES = 1_000;

describe('two processes that write to one SQLite file all the time', () => {
  it('both get on, and what was acknowledged is there once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'duebook-rivals-'));
    const url = `sqlite:${join(folder, 'receipts.db')}`;
    const database = await openDatabase(url, { poolMax: 1 });
    try {
      await database.exclusive((connection) =>
        connection.run('CREATE TABLE receipts (writer TEXT NOT NULL, number INTEGER NOT NULL)'),
      );
      const rivals = ['one', 'other'].map((name) => startRival(url, name));
      for (const rival of rivals) await rival.ready;
      for (const rival of rivals) rival.go();
      const [one, other] = await Promise.all(rivals.map((rival) => rival.result));
      if (!one || !other) throw new Error('there are two');
      for (const [name, { acknowledged }] of [
        ['one', one],
        ['other', other],
      ] as const) {
        const rows = await database.read({ tenantId: null }, (tx) =>
          tx.all('SELECT number FROM receipts WHERE writer = ? ORDER BY number', [name]),
        );
        expect(acknowledged.length).to.equal(WRITES);
        expect(rows.map((row) => row['number'])).to.deep.equal(acknowledged.toSorted((a, b) => a - b));
      }
      // When the first has finished, the other has got its share.
      const end = Math.min(...[one, other].map(({ endedAt }) => Math.max(...endedAt)));
      const share = Math.min(...[one, other].map(({ endedAt }) => endedAt.filter((at) => at <= end).length));
      expect(share).to.be.at.least(WRITES / 4);
    } finally {
      await database.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

function startRival(url: string, name: string) {
  const child = spawn(process.execPath, [program('test/support/rival-program.ts'), url, name, String(WRITES)], {
    env: { PATH: process.env['PATH'], ...COMPILE_CACHE },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ready = lines.next();
  return {
    ready,
    go: () => void child.stdin.end('go\n'),
    result: ready.then(async () => JSON.parse(String((await lines.next()).value)) as Rivalry),
  };
}
