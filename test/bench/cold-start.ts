import { residentMb } from '../support/process.js';
import { median, ROUNDS } from './load.js';
import { boundRow, timed, type Timed } from './nominal.js';
import type { Row } from './report.js';
import { startService } from './service.js';

/** The time from the start of the process to its first `/health`, and its memory at that time. */
export async function coldStart(dataDir: string): Promise<Row[]> {
  const starts: Timed[] = [];
  const sizes: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const service = await startService(dataDir);
    starts.push(...timed([service.startedInMs]));
    const size = residentMb(service.pid);
    if (size !== undefined) sizes.push(size);
    await service.stop();
  }
  const row = boundRow({
    key: 'start',
    name: 'cold start to first /health',
    unit: 'ms',
    times: starts,
    of: median,
    atMost: 1_000,
    details: { starts },
  });
  if (sizes.length === 0) return [row];
  const size = median(sizes);
  return [
    row,
    {
      key: 'start',
      name: 'idle memory',
      unit: 'MB',
      figure: size,
      raw: null,
      ratio: null,
      target: '≤ 130 MB',
      met: size <= 130,
      details: { sizes },
    },
  ];
}
