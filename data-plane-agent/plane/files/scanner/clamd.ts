import type { Readable } from 'node:stream';
import type { Log } from '../../../base/log.js';
import { ask, ClamdError, ClamdUnreachable, clamdAddress, type ClamdAddress } from './clamd-stream.js';
import { ContentError, framesOf } from './instream.js';
import { selfTest } from './scanner-self-test.js';
import { createScanSlots } from './scan-slots.js';
import type { Scanner, ScannerVersion, SelfTest, Verdict } from './scanner.js';

export interface ClamdOptions {
  /** `tcp://host:3310` or `unix:/path`. */
  readonly url: string;
  /** The largest file to scan; the self-test checks that the scanner accepts it. */
  readonly fileMaxBytes: number;
  readonly log: Log;
  /** The timeout of a scan including its wait in the queue: 30 s plus 1 s per MiB by default. */
  readonly timeouts?: { readonly baseMs: number; readonly perMiBMs: number };
}

/**
 * Scans with a clamd: one connection per file, at most four at a time. Only the exact response OK for exactly the
 * declared bytes is clean. A finding is infected, unless it only reports a limit or encrypted content. For some
 * archives beyond its limits clamd responds OK; `inspectArchive` detects these.
 */
export function createClamd({
  url,
  fileMaxBytes,
  log,
  timeouts = { baseMs: 30_000, perMiBMs: 1_000 },
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
      const milliseconds = timeouts.baseMs + Math.ceil(sizeBytes / MIB) * timeouts.perMiBMs;
      return await within(milliseconds, signal, (inTime) =>
        slots(inTime, () => scanOne(address, content, { sizeBytes, signal: inTime })),
      );
    } catch (error) {
      const reason = reasonOf(error);
      log.warn({ scanner: url, reason }, 'a file was not scanned');
      return { status: 'error', reason, ...(error instanceof ClamdUnreachable && { isUnsent: true }) };
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
    selfTest: (aborted) =>
      within(timeouts.baseMs, aborted, (signal) =>
        selfTest({ fileMaxBytes, ask: (question) => ask(address, { ...question, signal }) }),
      ).catch((error: unknown): SelfTest => ({
        isAnswered: false,
        reason: `the scanner at ${url} ${reasonOf(error).replace(/^the scanner /, '')}`,
        isUnreachable: error instanceof ClamdUnreachable,
      })),
  };
}

const MIB = 2 ** 20;
const VERSION_MS = 5_000;

async function scanOne(
  address: ClamdAddress,
  content: Readable,
  { sizeBytes, signal }: { readonly sizeBytes: number; readonly signal: AbortSignal },
): Promise<Verdict> {
  // Aborting the scan also closes the content.
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
    // It cannot have scanned bytes that were not sent.
    if (verdict.status === 'clean' && !hasAll) throw new ClamdError('responded before it had the whole file');
    return verdict;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Only the exact response OK is clean. */
export function verdictOf(answer: string): Verdict {
  if (answer === 'stream: OK') return { status: 'clean' };
  const signature = /^stream: (.{1,300}) FOUND$/.exec(answer)?.[1];
  if (signature === undefined) return { status: 'error', reason: `the scanner answered "${answer.slice(0, 200)}"` };
  // These signatures report content that was not scanned.
  return NOT_SCANNED.test(signature)
    ? { status: 'error', reason: `the scanner did not scan all of it (${signature})`, isFinal: true }
    : { status: 'infected', signature };
}

const NOT_SCANNED = /^Heuristics\.(Limits|Encrypted)\./;

/** Parses `ClamAV 1.4.6/27123/Fri Nov 20 08:26:00 2026`; only official signatures have the last two parts. */
export function versionOf(answer: string): ScannerVersion | undefined {
  const [, engine, signatures = '', written] = /^ClamAV ([^/\s]+)(?:\/(\d+)\/(.+))?$/.exec(answer) ?? [];
  if (engine === undefined) return undefined;
  // The time zone is unknown; a precision of half a day is sufficient.
  const at = written === undefined ? Number.NaN : Date.parse(`${written} UTC`);
  return { engine, signatures, signaturesAt: Number.isNaN(at) ? null : at };
}

/** Runs `work` with a signal that is aborted after the timeout or with the caller's signal. */
async function withDeadline<T>(
  { milliseconds, signal }: { readonly milliseconds: number; readonly signal: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new ClamdError(`did not answer within ${Math.round(milliseconds / 1000)} s`)),
    milliseconds,
  );
  const onAbort = (): void => deadline.abort(new ContentError('the scan was cancelled'));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The reason for an expected failure; other errors are rethrown. */
function reasonOf(error: unknown): string {
  if (error instanceof ClamdError) return `the scanner ${error.message}`;
  if (error instanceof ContentError) return error.message;
  throw error;
}
