import type { Clock } from '../../../base/clock.js';
import type { Log } from '../../../base/log.js';
import type { Scanner } from './scanner.js';

/** How long a passed self-test is valid; a failed one is repeated sooner. */
const PASSED_MS = 60 * 60_000;
const FAILED_MS = 60_000;

/**
 * Uses a scanner only while it passes its self-test; otherwise every scan is an `error`. The first scan runs the first
 * test, unless `selfTest` was called before.
 */
export function trusted(scanner: Scanner, { clock, log }: { readonly clock: Clock; readonly log: Log }): Scanner {
  let last: { readonly faults: readonly string[]; readonly at: number } | undefined;
  let running: Promise<readonly string[]> | undefined;

  const test = async (): Promise<readonly string[]> => {
    const faults = await scanner.selfTest();
    if (faults.length > 0) log.error({ faults }, 'the scanner failed its self-test: files are not scanned');
    else if (last === undefined || last.faults.length > 0) log.info('the scanner passes its self-test');
    last = { faults, at: clock.now() };
    return faults;
  };
  const tested = (): Promise<readonly string[]> =>
    (running ??= test().finally(() => {
      running = undefined;
    }));
  const currentFaults = async (): Promise<readonly string[]> => {
    const isValid = last !== undefined && clock.now() - last.at < (last.faults.length === 0 ? PASSED_MS : FAILED_MS);
    return isValid && last ? last.faults : tested();
  };

  return {
    provider: scanner.provider,
    version: () => scanner.version(),
    selfTest: tested,
    async scan(content, about) {
      const [fault] = await currentFaults();
      if (fault === undefined) return scanner.scan(content, about);
      content.destroy();
      return { status: 'error', reason: `the scanner failed its self-test: ${fault}` };
    },
  };
}
