import type { Fault } from '../data-plane-agent/base/config.js';

/** How a command ends: done, failed, or called in a way that cannot be understood. */
export const EXIT = { ok: 0, failed: 1, misused: 2 } as const;

/** Why a command ends. The code is for scripts and never changes, the message for people. */
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

/** The arguments cannot be understood, or do not go together. */
export const misuse = (message: string): CommandError => new CommandError('USAGE', message, { exitCode: EXIT.misused });

/** All faults of the configuration at once. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(readonly faults: readonly Fault[]) {
    super('the configuration has faults');
  }
}
