/** Exit codes: done, failed, or invalid arguments. */
export const EXIT = { ok: 0, failed: 1, misused: 2 } as const;

/** The error that ends a command. `code` is stable, for scripts; `message` is for people. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: 1 | 2;

  constructor(
    readonly code: string,
    message: string,
    { exitCode = EXIT.failed, cause }: { readonly exitCode?: 1 | 2; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** An error for invalid or conflicting arguments. */
export const misuse = (message: string): CommandError => new CommandError('USAGE', message, { exitCode: EXIT.misused });
