import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pdfOfLines } from '../../cli/demo/pdf.js';
import { documentReader } from '../../data-plane-agent/plane/files/text/index.js';

/** This file, to be run as a process of its own, so that its memory is its own: it reads documents, each in a thread of its own, and says what it held, in MB. */
export const READ_MANY = fileURLToPath(import.meta.url);

export interface ReadMany {
  readonly before: number;
  /** While the first thread was there. */
  readonly busy: number;
  /** After each thread had gone. */
  readonly idle: readonly number[];
}

if (process.argv[1] === READ_MANY) process.stdout.write(JSON.stringify(await readMany(Number(process.argv[2]))));

async function readMany(times: number): Promise<ReadMany> {
  const reader = documentReader({ residentBytes: () => process.memoryUsage.rss(), idleMs: 1 });
  const before = residentMb();
  const busy: number[] = [];
  const idle: number[] = [];
  for (let i = 0; i < times; i++) {
    await reader.textOf(Readable.from([pdfOfLines(['CONTRACT', 'Contract No.: 7'])]), { contentType: 'application/pdf', signal: new AbortController().signal });
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
