import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadCases, type Subject } from './cases.js';
import { copyOf } from './dataset.js';
import { median, ROUNDS, underLoad } from './load.js';
import type { Row } from './report.js';
import { signIn, startService } from './service.js';

const PROCESSES = [1, 2, 4] as const;
const METRICS_TOKEN = 'metrics-of-the-bench';
const MEASURED: ReadonlySet<string> = new Set(['list', 'get', 'create', 'receipt']);

/** The same load on one, two and four processes behind one port. The baseline of each row is one process. */
export async function workerRows(folder: string, subject: Subject, seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  const alone = new Map<string, number>();
  for (const workers of PROCESSES) {
    const dataDir = await copyOf(folder, `workers-${workers}`);
    try {
      const service = await startService(dataDir, { WORKERS: String(workers), METRICS_TOKEN });
      try {
        await untilAllAnswer(service.origin, workers);
        const { token } = await signIn(service.origin, 'bench');
        for (const { key, name, requests } of loadCases(subject).filter((one) => MEASURED.has(one.key))) {
          await underLoad(service.origin, requests, { token, seconds: 1 });
          const rounds: number[] = [];
          for (let round = 0; round < ROUNDS; round++)
            rounds.push((await underLoad(service.origin, requests, { token, seconds })).perSecond);
          const figure = median(rounds);
          if (workers === 1) alone.set(key, figure);
          rows.push({
            key: 'workers',
            name: `${workers} ${workers === 1 ? 'process' : 'processes'}: ${name}`,
            unit: '/s',
            figure,
            raw: alone.get(key) ?? null,
            ratio: figure / (alone.get(key) ?? figure),
            target: 'none: against one process',
            met: true,
            details: { rounds },
          });
        }
      } finally {
        await service.stop();
      }
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  }
  return rows;
}

/** The first process answers before the others have started, and would get all connections. */
async function untilAllAnswer(origin: string, workers: number): Promise<void> {
  for (let tries = 0; workers > 1; tries++) {
    const answer = await fetch(`${origin}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
    if ((await answer.text()).includes(`\nduebook_processes ${workers}\n`)) return;
    if (tries > 600) throw new Error(`not all of ${workers} processes answer`);
    await sleep(100);
  }
}
