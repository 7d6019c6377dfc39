import { CallEnded } from '../deadline.js';
import { FAILURES, isFailure } from '../failures.js';

/** How work ended that threw, as a span says it: a code or the class of the error, never its text. */
export interface Ending {
  readonly outcome: string;
  /** A refusal is an outcome like others; what the operator has to look at is a failure. */
  readonly isFailed: boolean;
}

export function endingOf(error: unknown): Ending {
  if (isFailure(error)) return endingOfCode(error.code);
  if (error instanceof CallEnded) return { outcome: error.why, isFailed: error.why === 'timeout' };
  return { outcome: typeOf(error), isFailed: true };
}

/** The same for the code with which another program replied. */
export const endingOfCode = (code: string): Ending => ({
  outcome: code,
  isFailed: code === 'fault' || (code in FAILURES && FAILURES[code as keyof typeof FAILURES].status >= 500),
});

const WORD = /^[A-Za-z][A-Za-z0-9_.]{0,59}$/;

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Error';
  const type = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return WORD.test(type) ? type : 'Error';
}
