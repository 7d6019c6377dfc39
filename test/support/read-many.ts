import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pdfOfLines } from '../../cli/demo/pdf.js';
import { documentReader } from '../../data-plane-agent/plane/files/text/index.js';

/** What this file says it held, in MB, when it is run as a process of its own, so that its memory is its own: it reads documents, each in a thread of its own. */
export interface ReadMany {
  readonly before: number;
  /** While the first thread was there. */
  readonly busy: number;
  /** After each thread had gone. */
  readonly idle: readonly number[];
}

if (process.argv[1] === import.meta.filename) process.stdout.write(JSON.stringify(await readMany(Number(process.argv[2]))));

async function readMany(times: number): Promise<ReadMany> {
  const reader = documentReader({ residentBytes: () => process.memoryUsage.rss(), idleMs: 1 });
  // Long, so that what a document takes stands out from what a thread takes.
  const document = pdfOfLines(Array.from({ length: 6_000 }, (_, i) => `Contract No.: ${i} and what else is said in a line`));
  const before = residentMb();
  const busy: number[] = [];
  const idle: number[] = [];
  for (let i = 0; i < times; i++) {
    await reader.textOf(Readable.from([document]), { contentType: 'application/pdf', signal: new AbortController().signal });
    busy.push(residentMb());
    // A thread takes a moment to give back what it had.
    await sleep(500);
    idle.push(residentMb());
  }
  await reader.close();
  return { before, busy: busy[0] ?? 0, idle };
}

function residentMb(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 2 ** 20;
}
