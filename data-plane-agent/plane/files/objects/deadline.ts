import { ObjectStoreError } from './object-store.js';

/**
 * The timeout of one request to a store, in milliseconds. Clients of the API learn within ten seconds that it is
 * unavailable.
 */
export const TIMEOUT_MS = 8_000;

/** The timeout of operations on the whole content of an object, assuming a throughput of 10 MB/s. */
export const timeoutFor = (sizeBytes: number, timeoutMs = TIMEOUT_MS): number => timeoutMs + sizeBytes / 10_000;

/**
 * The result of `work`, or a rejection after `ms` milliseconds. The signal then aborts `work`, which may run on a
 * little where it cannot be interrupted.
 */
export async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timeout = new ObjectStoreError(
    'unavailable',
    `the object store did not answer within ${Math.round(ms / 1000)} s`,
  );
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      controller.abort(timeout);
      reject(timeout);
    }, ms);
  });
  try {
    return await Promise.race([work(controller.signal), timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
