import { openDatabase } from '../../data-plane-agent/base/database/open.js';

export interface Rivalry {
  /** The numbers whose write was acknowledged. */
  readonly acknowledged: readonly number[];
  /** When each of them was, in milliseconds since the epoch. */
  readonly endedAt: readonly number[];
}

/**
 * A process of its own that writes as fast as it can: `rival-program.js URL NAME COUNT`. Each of several clients makes
 * one write after the other, from the moment when a line is written to its standard input.
 */
const [url = '', name = '', count = ''] = process.argv.slice(2);
const CLIENTS = 8;
const database = await openDatabase(url, { poolMax: 1 });
const acknowledged: number[] = [];
const endedAt: number[] = [];
let next = 0;

async function client(): Promise<void> {
  for (let number = next++; number < Number(count); number = next++) {
    await database.write({ tenantId: null }, (tx) =>
      tx.run('INSERT INTO receipts (writer, number) VALUES (?, ?)', [name, number]),
    );
    endedAt.push(performance.timeOrigin + performance.now());
    acknowledged.push(number);
  }
}

process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
await Promise.all(Array.from({ length: CLIENTS }, client));
await database.close();
process.stdout.write(`${JSON.stringify({ acknowledged, endedAt } satisfies Rivalry)}\n`);
