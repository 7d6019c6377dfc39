import { CommandError } from '../../base/command-line/errors.js';
import type { Io } from '../../base/command-line/io.js';
import { refuseShort } from './passphrase.js';

/**
 * The passphrase of a backup: the setting, else standard input, else asked on a terminal, twice for a new backup.
 * Throws USAGE if there is none, or if it is too short.
 */
export async function askPassphrase(
  io: Pick<Io, 'input' | 'interactive' | 'ask'>,
  { setting, isNew }: { readonly setting: string | undefined; readonly isNew: boolean },
): Promise<string> {
  const given = setting ?? ((await io.input()) || (io.interactive ? await asked(io, isNew) : ''));
  refuseShort(given);
  return given;
}

async function asked({ ask }: Pick<Io, 'ask'>, isNew: boolean): Promise<string> {
  const first = await ask('Passphrase of the backup: ', { hidden: true });
  if (isNew && first !== '' && (await ask('Once more: ', { hidden: true })) !== first)
    throw new CommandError('PASSPHRASES_DIFFER', 'the two passphrases differ; nothing was written');
  return first;
}
