import { once } from 'node:events';
import type { Log } from '../base/log.js';
import type { Job } from '../base/schedules.js';
import { mayScan } from '../plane/files/scanner/scanner.js';
import type { FileServices } from '../plane/files/services.js';
import type { Round, Step, Upkeep } from './upkeep.js';

export interface PlaneJobsParts {
  readonly upkeep: Upkeep;
  readonly files: Pick<FileServices, 'objects' | 'scanner' | 'policy'>;
  readonly log: Log;
  /** Starts the delivery of due outbox messages; without it, messages stay in the outbox until they expire. */
  readonly deliver?: Step | undefined;
}

/**
 * The maintenance jobs of a plane: chain the audit, mark tasks overdue, run queued or interrupted scans and document
 * readings, finish interrupted imports, delete expired data. Each job finds the tenants with work due. The jobs run in every process, because the
 * work itself is leased.
 */
export function planeJobs({ upkeep, files, deliver, log }: PlaneJobsParts): readonly Job[] {
  const job = (name: string, rule: string, steps: Round['steps']): Job => ({
    name,
    rule,
    everywhere: true,
    run: (signal) => upkeep.round({ job: name, steps, signal }),
  });
  const orphans = job('file-orphans', '20 45 2 * * *', {
    'file-orphans': (plane) => plane.sweepFiles({ orphans: true }),
  });
  const scans = fileScans({ upkeep, files });
  return [
    job('audit-chain', '*/5 * * * * *', { audit: (plane) => plane.chainAudit({}) }),
    job('upkeep', '25 * * * * *', { expiry: (plane) => plane.removeEnded({}), tasks: overdueTasks }),
    job('imports', '10,40 * * * * *', { imports: interruptedImports(log) }),
    ...(deliver ? [job('outbox', '* * * * * *', { outbox: deliver })] : []),
    scans,
    scannerReturns({ files, scans }),
    job('documents', '5,35 * * * * *', { documents: (plane) => plane.readDocuments({}) }),
    job('file-sweep', '20 15 * * * *', { 'file-sweep': (plane) => plane.sweepFiles({ orphans: false }) }),
    { ...orphans, run: (signal) => orphans.run(signal).then(() => files.objects.tidy()) },
  ];
}

const interruptedImports =
  (log: Log): Step =>
  async (plane, tenantId) => {
    const { more, abandoned } = await plane.continueImports({});
    if (abandoned > 0)
      log.error({ tenantId, rows: abandoned }, 'an import was given up: its remaining rows are reported as failed');
    return { more };
  };

/** Contracts per transaction. */
const CONTRACTS_AT_ONCE = 100;

const overdueTasks: Step = async (plane) => ({
  more: (await plane.stepOverdueTasks({ limit: CONTRACTS_AT_ONCE })).isMore,
});

/**
 * Does nothing while the scanner does not respond or is not trusted. When the scanner's signatures differ from those
 * last seen by this process, the files of every tenant are rescanned; also on the first run, since changes during
 * downtime are unknown.
 */
function fileScans({ upkeep, files: { scanner, policy } }: Pick<PlaneJobsParts, 'upkeep' | 'files'>): Job {
  let known: string | undefined;
  const run = async (signal: AbortSignal): Promise<void> => {
    if (!policy.scans) return;
    const version = await scanner.version();
    if (!version || !mayScan(await scanner.trust())) return;
    if (version.signatures !== known) {
      await upkeep.bringForward('file-scans', signal);
      known = version.signatures;
    }
    await upkeep.round({ job: 'file-scans', steps: { 'file-scans': (plane) => plane.scanFiles({}) }, signal });
  };
  return { name: 'file-scans', rule: '*/15 * * * * *', everywhere: true, run };
}

/**
 * Asks a scanner that does not respond again every two seconds, and repeats its self-test when it is due. When the
 * scanner can be used again, waiting files are scanned at once. Otherwise it costs no query.
 */
function scannerReturns({
  files: { scanner, policy },
  scans,
}: Pick<PlaneJobsParts, 'files'> & { readonly scans: Pick<Job, 'run'> }): Job {
  let couldScan = scanner.state() !== 'down';
  const run = async (signal: AbortSignal): Promise<void> => {
    if (!policy.scans) return;
    const test = await unlessEnded(scanner.trust(), signal);
    if (!test) return;
    const isBack = mayScan(test) && !couldScan;
    couldScan = mayScan(test);
    if (isBack) await scans.run(signal);
  };
  return { name: 'scanner', rule: '*/2 * * * * *', everywhere: true, run };
}

/** `undefined` once the signal fires: a silent scanner must not delay the end of the process. */
async function unlessEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const settled = new AbortController();
  const ended = once(signal, 'abort', { signal: settled.signal }).then(
    () => undefined,
    () => undefined, // no longer awaited
  );
  try {
    return await Promise.race([work, ended]);
  } finally {
    settled.abort();
  }
}
