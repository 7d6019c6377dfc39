/** The result of one check. `fix` says what to do when it is not ok. */
export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix: string | null;
}

export const check = {
  ok: (name: string, detail: string): Check => ({ name, status: 'ok', detail, fix: null }),
  warn: (name: string, detail: string, fix: string): Check => ({ name, status: 'warn', detail, fix }),
  fail: (name: string, detail: string, fix: string): Check => ({ name, status: 'fail', detail, fix }),
};

/** A short reason for an error. Prefers the code, as a driver's message may quote a URL with its password. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error
    ? 'code' in error && typeof error.code === 'string'
      ? error.code
      : error.message
    : String(error);
