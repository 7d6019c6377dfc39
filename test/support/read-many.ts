import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pdfOfLines } from '../../cli/demo/pdf.js';
import { documentReader } from '../../data-plane-agent/plane/files/text/index.js';

/**
 * What this file says it held, in MB, when it is run as a process of its own, so that its memory is its own: it reads
 * documents, each in a thread of its own.
 */
export interface ReadMany {
  readonly before: number;
  /** While the first thread was there. */
  readonly busy: number;
  /** The memory after each thread had ended. */
  readonly gone: readonly number[];
  /** The least memory after the last thread had ended. */
  readonly idle: number;
}

/**
 * From Node.js 24 on V8 keeps the pages of a thread that has ended for the next one: for eight seconds, and until the
 * process has something to do after that.
 */
const V8_KEEPS_PAGES_MS = 40_000;

if (process.argv[1] === import.meta.filename)
  process.stdout.write(JSON.stringify(await readMany(Number(process.argv[2]))));

async function readMany(times: number): Promise<ReadMany> {
  const reader = documentReader({ residentBytes: () => process.memoryUsage.rss(), idleMs: 1 });
  // Long, so that what a document takes stands out from what a thread takes.
  const document = pdfOfLines(
    Array.from({ length: 6_000 }, (_, i) => `Contract No.: ${i} and what else is said in a line`),
  );
  const before = residentMb();
  const busy: number[] = [];
  const gone: number[] = [];
  for (let i = 0; i < times; i++) {
    await reader.textOf(Readable.from([document]), {
      contentType: 'application/pdf',
      signal: new AbortController().signal,
    });
    busy.push(residentMb());
    await sleep(500);
    gone.push(residentMb());
  }
  const idle = await leastMb({ before, last: gone.at(-1) ?? 0 });
  await reader.close();
  return { before, busy: busy[0] ?? 0, gone, idle };
}

/** Looks until most of it has been given back, or the time is over. */
async function leastMb({ before, last }: { readonly before: number; readonly last: number }): Promise<number> {
  let least = last;
  for (
    const giveUpAt = performance.now() + V8_KEEPS_PAGES_MS;
    least - before > (last - before) / 2 && performance.now() < giveUpAt;
  ) {
    await sleep(500);
    least = Math.min(least, residentMb());
  }
  return least;
}

function residentMb(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 2 ** 20;
}
