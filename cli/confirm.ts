import type { Cli } from './cli.js';
import { CommandError } from './errors.js';

/** The option that every command has that takes something away. */
export const YES_OPTION = ['--yes', 'do not ask'] as const;

/** Asks whoever sits at a terminal; a script that calls such a command means it. */
export async function confirm({ io }: Pick<Cli, 'io'>, question: string, { yes }: { yes: boolean }): Promise<void> {
  if (yes || !io.interactive) return;
  const answer = await io.ask(`${question} (y/N) `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('NOT_CONFIRMED', 'nothing was changed');
}
