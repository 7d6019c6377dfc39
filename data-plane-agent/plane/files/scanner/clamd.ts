import type { Readable } from 'node:stream';
import type { Log } from '../../../base/log.js';
import { ask, ClamdError, clamdAddress, type ClamdAddress } from './clamd-stream.js';
import { ContentError, framesOf } from './instream.js';
import { selfTest } from './scanner-self-test.js';
import { createScanSlots } from './scan-slots.js';
import type { Scanner, ScannerVersion, Verdict } from './scanner.js';

export interface ClamdOptions {
  /** `tcp://host:3310` or `unix:/path`. */
  readonly url: string;
  /** The largest file that is to be scanned: the self-test asks whether the scanner takes one. */
  readonly fileMaxBytes: number;
  readonly log: Log;
  /** How long a scan may take, waiting for its turn included: 30 s and 1 s for each MiB. */
  readonly patience?: { readonly baseMs: number; readonly perMiBMs: number };
}

/**
 * A clamd, spoken to in its own words: every file on a connection of its own, at most four at a time. Clean is its
 * exact OK for exactly the bytes that were announced; infected is what it found, unless that is only a limit of its own
 * or a thing that it cannot look into. Of some archives beyond its limits it says OK all the same: `archiveFault` knows
 * them.
 */
export function createClamd({
  url,
  fileMaxBytes,
  log,
  patience = { baseMs: 30_000, perMiBMs: 1_000 },
}: ClamdOptions): Scanner {
  const address = clamdAddress(url);
  if (!address) throw new TypeError('the address of a clamd is tcp://host:port or unix:/path');
  const slots = createScanSlots({ atOnce: 4, waiting: 200 });
  const within = <T>(
    milliseconds: number,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => withDeadline({ milliseconds, signal }, work);

  const scan: Scanner['scan'] = async (content, { sizeBytes, signal }) => {
    try {
      const milliseconds = patience.baseMs + Math.ceil(sizeBytes / MIB) * patience.perMiBMs;
      return await within(milliseconds, signal, (inTime) =>
        slots(inTime, () => scanOne(address, content, { sizeBytes, signal: inTime })),
      );
    } catch (error) {
      const reason = reasonOf(error);
      log.warn({ scanner: url, reason }, 'a file was not scanned');
      return { status: 'error', reason };
    } finally {
      content.destroy();
    }
  };

  return {
    provider: 'clamav',
    scan,
    version: () =>
      within(VERSION_MS, undefined, (signal) => ask(address, { command: 'VERSION', signal })).then(
        versionOf,
        (error: unknown) => void reasonOf(error),
      ),
    selfTest: () =>
      within(patience.baseMs, undefined, (signal) =>
        selfTest({ fileMaxBytes, ask: (question) => ask(address, { ...question, signal }) }),
      ).catch((error: unknown) => [`the scanner at ${url} ${reasonOf(error).replace(/^the scanner /, '')}`]),
  };
}

const MIB = 2 ** 20;
const VERSION_MS = 5_000;

async function scanOne(
  address: ClamdAddress,
  content: Readable,
  { sizeBytes, signal }: { readonly sizeBytes: number; readonly signal: AbortSignal },
): Promise<Verdict> {
  // What ends the wait for the scanner ends that for the content too.
  const onAbort = (): void => void content.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    let hasAll = false;
    const frames = (async function* () {
      for await (const frame of framesOf(content, { sizeBytes })) {
        hasAll = frame.at(-1)?.length === 0;
        yield frame;
      }
    })();
    const verdict = verdictOf(await ask(address, { command: 'INSTREAM', frames, signal }));
    // What it has not been sent it cannot have looked at.
    if (verdict.status === 'clean' && !hasAll) throw new ClamdError('answered before it had the whole file');
    return verdict;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Of its words, only the exact OK is clean. */
export function verdictOf(answer: string): Verdict {
  if (answer === 'stream: OK') return { status: 'clean' };
  const signature = /^stream: (.{1,300}) FOUND$/.exec(answer)?.[1];
  if (signature === undefined) return { status: 'error', reason: `the scanner answered "${answer.slice(0, 200)}"` };
  // Nothing was found: it says that it has not looked.
  return NOT_LOOKED_INTO.test(signature)
    ? { status: 'error', reason: `the scanner did not look into it (${signature})`, isFinal: true }
    : { status: 'infected', signature };
}

const NOT_LOOKED_INTO = /^Heuristics\.(Limits|Encrypted)\./;

/** `ClamAV 1.4.6/27123/Fri Nov 20 08:26:00 2026`: the last two only when it has the official signatures. */
export function versionOf(answer: string): ScannerVersion | undefined {
  const [, engine, signatures = '', written] = /^ClamAV ([^/\s]+)(?:\/(\d+)\/(.+))?$/.exec(answer) ?? [];
  if (engine === undefined) return undefined;
  // In the scanner's own time zone, which it does not say: half a day does not matter to anybody.
  const at = written === undefined ? Number.NaN : Date.parse(`${written} UTC`);
  return { engine, signatures, signaturesAt: Number.isNaN(at) ? null : at };
}

/** The signal that the work is given is aborted when time is up, or with the caller's. */
async function withDeadline<T>(
  { milliseconds, signal }: { readonly milliseconds: number; readonly signal: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new ClamdError(`did not answer within ${Math.round(milliseconds / 1000)} s`)),
    milliseconds,
  );
  const onAbort = (): void => deadline.abort(new ContentError('the scan was called off'));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** What a scan can end with; all else is a fault of ours. */
function reasonOf(error: unknown): string {
  if (error instanceof ClamdError) return `the scanner ${error.message}`;
  if (error instanceof ContentError) return error.message;
  throw error;
}
