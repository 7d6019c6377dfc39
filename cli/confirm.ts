import type { Cli } from './cli.js';
import { CommandError } from './errors.js';

/** The option of every command that deletes or revokes something. */
export const YES_OPTION = ['--yes', 'do not ask'] as const;

/** Asks for confirmation on a terminal. Does not ask when the command runs in a script. */
export async function confirm({ io }: Pick<Cli, 'io'>, question: string, { yes }: { yes: boolean }): Promise<void> {
  if (yes || !io.interactive) return;
  const answer = await io.ask(`${question} (y/N) `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('NOT_CONFIRMED', 'nothing was changed');
}
