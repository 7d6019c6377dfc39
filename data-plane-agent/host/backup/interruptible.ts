import { CommandError } from '../../base/command-line/errors.js';
import type { ProcessLike } from '../../base/lifecycle.js';

/** Aborts the work on SIGINT and SIGTERM, so that it removes what it has written. Throws INTERRUPTED. */
export async function interruptible<T>(
  process: Pick<ProcessLike, 'on'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => abort.abort());
  try {
    return await work(abort.signal);
  } catch (error) {
    throw abort.signal.aborted
      ? new CommandError('INTERRUPTED', 'interrupted; nothing was left', { cause: error })
      : error;
  }
}
