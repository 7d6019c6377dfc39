import type { Clock } from '../../../base/clock.js';
import type { Log } from '../../../base/log.js';
import { sizeText } from './clamd-settings.js';
import { clamdFix, NO_SCANNER_FIX } from './scanner-fixes.js';
import { UNLIMITED, type Scanner, type SelfTest, type TrustedScanner, type Verdict } from './scanner.js';

/** How long a self-test is valid: passed, passed with limits that are too small, failed. */
const PASSED_MS = 60 * 60_000;
const LIMITED_MS = 10 * 60_000;
const FAILED_MS = 60_000;

const NO_ANSWER = 'the scanner does not answer: files wait until it does';

type Answered = SelfTest & { readonly isAnswered: true };

/**
 * Uses a scanner only while it passes its self-test, and only for files within its limits; otherwise every scan is an
 * `error`. A self-test without an answer says nothing about the scanner: it is repeated at the next use, and does not
 * replace an earlier one.
 */
export function trusted(
  scanner: Scanner,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): TrustedScanner {
  let known: { readonly test: Answered; readonly at: number } | undefined;
  /** The last self-test had no answer, or a scan no connection: the next use tests it again. */
  let isSilent = false;
  /** It did not report its version: it is busy or down. */
  let isQuiet = false;
  let silence: string | undefined;
  let running: Promise<SelfTest> | undefined;
  const closing = new AbortController();

  const test = async (): Promise<SelfTest> => {
    const result = await scanner.selfTest(closing.signal);
    if (closing.signal.aborted) return result;
    isSilent = !result.isAnswered;
    isQuiet &&= isSilent;
    if (result.isAnswered) {
      logAnswered(log, { before: silence === undefined ? known?.test : undefined, now: result });
      silence = undefined;
      known = { test: result, at: clock.now() };
    } else if (silence !== result.reason) {
      if (silence === undefined || !isQuiet) log.warn({ reason: result.reason, fix: NO_SCANNER_FIX }, NO_ANSWER);
      silence = result.reason;
    }
    return result;
  };
  const trust = async (): Promise<SelfTest> => {
    if (known && !isSilent && clock.now() - known.at < validity(known.test)) return known.test;
    return (running ??= test().finally(() => {
      running = undefined;
    }));
  };

  return {
    provider: scanner.provider,
    trust,
    state() {
      if (isSilent || isQuiet || !known) return 'down';
      const { faults, lines } = known.test;
      return faults.length > 0 ? 'untrusted' : lines.length > 0 ? 'limited' : 'up';
    },
    limits: () => known?.test.limits ?? UNLIMITED,
    close: () => closing.abort(),
    async version() {
      const version = await scanner.version();
      // After a break it may have other settings.
      if (version && isQuiet) isSilent = true;
      // Otherwise a break during which nothing is scanned would not be in the log.
      if (!version && !isQuiet && known && silence === undefined) {
        silence = 'the scanner does not report its version';
        log.warn({ reason: silence, fix: NO_SCANNER_FIX }, NO_ANSWER);
      }
      isQuiet = !version;
      return version;
    },
    async scan(content, about) {
      const refusal = refusalOf(await trust(), about.sizeBytes);
      if (refusal) {
        content.destroy();
        return refusal;
      }
      const verdict = await scanner.scan(content, about);
      if (verdict.status === 'error' && verdict.isUnsent === true) isSilent = true;
      return verdict;
    },
  };
}

const validity = ({ faults, lines }: Answered): number =>
  faults.length > 0 ? FAILED_MS : lines.length > 0 ? LIMITED_MS : PASSED_MS;

/** Why a file of this size is not sent. */
function refusalOf(test: SelfTest, sizeBytes: number): Verdict | undefined {
  if (!test.isAnswered) return { status: 'error', reason: test.reason, isUnsent: test.isUnreachable };
  const [fault] = test.faults;
  if (fault !== undefined)
    return { status: 'error', reason: `the scanner failed its self-test: ${fault}`, isUnsent: true };
  if (sizeBytes > test.limits.fileBytes)
    return {
      status: 'error',
      reason: `the file is larger than the scanner accepts, ${sizeText(test.limits.fileBytes)}: its configuration must have ${test.lines.join(', ')}`,
    };
  return undefined;
}

/** Logs a result that differs from the one before, and each one after a silence. */
function logAnswered(
  log: Log,
  { before, now }: { readonly before: Answered | undefined; readonly now: Answered },
): void {
  const { faults, lines, limits } = now;
  if (before && String(before.faults) === String(faults) && String(before.lines) === String(lines)) return;
  const fix = clamdFix(lines);
  if (faults.length > 0) log.error({ faults, lines, fix }, 'the scanner failed its self-test: files are not scanned');
  else if (lines.length > 0)
    log.warn({ lines, ...limits, fix }, 'the limits of the scanner are too small: larger files are not scanned');
  else log.info('the scanner passes its self-test');
}
