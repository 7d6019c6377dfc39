/**
 * Work ended before it was done: its time was over, or whoever asked for it had gone. It is no failure of the
 * catalogue, so that nothing takes it for a refusal by rule: neither a row of an import nor an answer to keep.
 */
export class CallEnded extends Error {
  override readonly name = 'CallEnded';

  constructor(readonly why: 'late' | 'gone') {
    super(why === 'late' ? 'the time for it was over' : 'nobody waits for it any more');
  }
}

/** How long something is waited for. */
export interface Deadline {
  /** Aborted with a `CallEnded`. */
  readonly signal: AbortSignal;
  /** Milliseconds; 0 once `signal` is aborted, without end once it is settled. */
  remaining(): number;
  /** From now on only the time ends it, and not that the caller goes: what it comes to is asked for again. */
  keep(): void;
  /** What was waited for is there, or is not waited for: nothing ends it any more. */
  settle(): void;
}

/** So many milliseconds from now, and no longer than the caller waits. `settle` it in the end. */
export function deadlineIn(ms: number, caller?: AbortSignal): Deadline {
  const ends = new AbortController();
  let endsAt = performance.now() + ms;
  const timer = setTimeout(() => ends.abort(new CallEnded('late')), ms);
  const onGone = (): void => ends.abort(new CallEnded('gone'));
  const keep = (): void => caller?.removeEventListener('abort', onGone);
  caller?.addEventListener('abort', onGone, { once: true });
  if (caller?.aborted) onGone();
  return {
    signal: ends.signal,
    // A timer may fire within the millisecond before its time.
    remaining: () => (ends.signal.aborted ? 0 : Math.max(0, endsAt - performance.now())),
    keep,
    settle: () => {
      keep();
      clearTimeout(timer);
      endsAt = Infinity;
    },
  };
}

/** Whether work ended for its deadline, by itself or by what it waited for. */
export const isEnded = (error: unknown): boolean =>
  error instanceof CallEnded || (error instanceof Error && error.cause instanceof CallEnded);
