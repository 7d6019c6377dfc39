import { createReadStream } from 'node:fs';
import { createLog } from '../../data-plane-agent/base/log.js';
import { inspectArchive } from '../../data-plane-agent/plane/files/archives/archive-limits.js';
import { createClamd } from '../../data-plane-agent/plane/files/scanner/clamd.js';

/**
 * The memory growth reported by this file when run as a separate process that scans one file many times, four at a
 * time.
 */
export interface ScanMany {
  readonly grownBytes: number;
}

if (process.argv[1] === import.meta.filename) {
  const [url = '', path = '', sizeBytes = '0', times = '0'] = process.argv.slice(2);
  process.stdout.write(
    JSON.stringify({
      grownBytes: await growth(() => scanMany({ url, path, sizeBytes: Number(sizeBytes), times: Number(times) })),
    } satisfies ScanMany),
  );
}

async function scanMany({
  url,
  path,
  sizeBytes,
  times,
}: {
  url: string;
  path: string;
  sizeBytes: number;
  times: number;
}): Promise<void> {
  const scanner = createClamd({ url, fileMaxBytes: sizeBytes, log: createLog({ level: 'silent', name: 'test' }) });
  await Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      for (let done = lane; done < times; done += 4) {
        const { fault } = await inspectArchive(createReadStream(path) as AsyncIterable<Uint8Array>);
        const verdict = await scanner.scan(createReadStream(path), { sizeBytes });
        if (verdict.status !== 'clean' || fault !== undefined) throw new Error(JSON.stringify({ verdict, fault }));
      }
    }),
  );
}

async function growth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  await work();
  clearInterval(watch);
  return most - before;
}
