/**
 * Resolves like `work`, or rejects with the signal's reason as soon as it aborts; `work` itself continues, since it
 * cannot be interrupted.
 */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const stop = (): void => reject(signal.reason as Error);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  return promise;
}
