import type { Clock } from '../../../base/clock.js';
import type { Log } from '../../../base/log.js';
import type { Scanner } from './scanner.js';

/** A self-test that was passed holds so long, one that was not is made again sooner. */
const HOLDS_MS = 60 * 60_000;
const AGAIN_MS = 60_000;

/**
 * A scanner whose word counts only while it passes its self-test: what it says before that, and when it no longer finds
 * EICAR or calls clean what is beyond its limits, is an `error`. The first test is made by the first scan, unless
 * `selfTest` was called before.
 */
export function trusted(scanner: Scanner, { clock, log }: { readonly clock: Clock; readonly log: Log }): Scanner {
  let last: { readonly faults: readonly string[]; readonly at: number } | undefined;
  let running: Promise<readonly string[]> | undefined;

  const test = async (): Promise<readonly string[]> => {
    const faults = await scanner.selfTest();
    if (faults.length > 0) log.error({ faults }, 'the scanner cannot be relied on: files stay unscanned');
    else if (last === undefined || last.faults.length > 0) log.info('the scanner passes its self-test');
    last = { faults, at: clock.now() };
    return faults;
  };
  const tested = (): Promise<readonly string[]> =>
    (running ??= test().finally(() => {
      running = undefined;
    }));
  const standing = async (): Promise<readonly string[]> => {
    const holds = last !== undefined && clock.now() - last.at < (last.faults.length === 0 ? HOLDS_MS : AGAIN_MS);
    return holds && last ? last.faults : tested();
  };

  return {
    provider: scanner.provider,
    version: () => scanner.version(),
    selfTest: tested,
    async scan(content, about) {
      const [fault] = await standing();
      if (fault === undefined) return scanner.scan(content, about);
      content.destroy();
      return { status: 'error', reason: `the scanner cannot be relied on: ${fault}` };
    },
  };
}
