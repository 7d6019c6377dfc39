import { ObjectStoreError } from './object-store.js';

/**
 * How long one question to a store may take, in milliseconds: who asks us is to hear within ten seconds that it is out
 * of reach.
 */
export const TIMEOUT_MS = 8_000;

/** For work that touches every byte of an object: as if the disk or line gave 10 MB a second. */
export const timeoutFor = (sizeBytes: number, timeoutMs = TIMEOUT_MS): number => timeoutMs + sizeBytes / 10_000;

/**
 * What `work` gives, unless the time is over first. `work` is told by the signal, and may go on a little where it
 * cannot be interrupted.
 */
export async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ends = new AbortController();
  const late = new ObjectStoreError('unavailable', `the object store did not answer within ${Math.round(ms / 1000)} s`);
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      ends.abort(late);
      reject(late);
    }, ms);
  });
  try {
    return await Promise.race([work(ends.signal), over]);
  } finally {
    clearTimeout(timer);
  }
}
