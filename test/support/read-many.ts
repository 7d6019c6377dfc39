import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pdfOfLines } from '../../cli/demo/pdf.js';
import { documentReader } from '../../data-plane-agent/plane/files/text/index.js';

/**
 * The memory, in MB, reported by this file when run as a separate process: it reads documents, each in a separate
 * thread.
 */
export interface ReadMany {
  readonly before: number;
  /** While the first thread was running. */
  readonly busy: number;
  /** The memory after each thread had ended. */
  readonly gone: readonly number[];
  /** The least memory after the last thread had ended. */
  readonly idle: number;
}

/**
 * Since Node.js 24, V8 keeps the pages of an ended thread for the next one: for at least eight seconds, until the next
 * activity of the process.
 */
const V8_KEEPS_PAGES_MS = 40_000;

if (process.argv[1] === import.meta.filename)
  process.stdout.write(JSON.stringify(await readMany(Number(process.argv[2]))));

async function readMany(times: number): Promise<ReadMany> {
  const reader = documentReader({ residentBytes: () => process.memoryUsage.rss(), idleMs: 1 });
  // Long documents, so that their memory is significant compared with that of a thread.
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

/** Polls until most of the memory is released, or the time is over. */
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
