/**
 * Work stopped early, because it timed out or the caller disconnected. It is not a `Failure`, so that it is never
 * treated as a refusal: neither as a failed row of an import nor as a response to store.
 */
export class CallEnded extends Error {
  override readonly name = 'CallEnded';

  constructor(readonly why: 'timeout' | 'disconnected') {
    super(why === 'timeout' ? 'the deadline has passed' : 'the caller has disconnected');
  }
}

/** A time limit, combined with the caller's abort signal. */
export interface Deadline {
  /** Aborted with a `CallEnded`. */
  readonly signal: AbortSignal;
  /** In milliseconds; 0 once `signal` is aborted, Infinity once settled. */
  remaining(): number;
  /** From now on a disconnect of the caller no longer aborts the work: the client will retry and ask for the result. */
  keep(): void;
  /** The work is complete or no longer needed: the deadline no longer fires. */
  settle(): void;
}

/** A deadline `ms` milliseconds from now, or earlier if `caller` aborts. Call `settle` when the work ends. */
export function deadlineIn(ms: number, caller?: AbortSignal): Deadline {
  const ends = new AbortController();
  let endsAt = performance.now() + ms;
  const timer = setTimeout(() => ends.abort(new CallEnded('timeout')), ms);
  const onDisconnect = (): void => ends.abort(new CallEnded('disconnected'));
  const keep = (): void => caller?.removeEventListener('abort', onDisconnect);
  caller?.addEventListener('abort', onDisconnect, { once: true });
  if (caller?.aborted) onDisconnect();
  return {
    signal: ends.signal,
    // A timer may fire up to a millisecond early.
    remaining: () => (ends.signal.aborted ? 0 : Math.max(0, endsAt - performance.now())),
    keep,
    settle: () => {
      keep();
      clearTimeout(timer);
      endsAt = Infinity;
    },
  };
}

/** Whether the error, or its cause, is a `CallEnded`. */
export const isEnded = (error: unknown): boolean =>
  error instanceof CallEnded || (error instanceof Error && error.cause instanceof CallEnded);
