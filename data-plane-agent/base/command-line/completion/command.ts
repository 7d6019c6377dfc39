import { Argument, type Command } from 'commander';
import { examples, JSON_OPTION, jsonText } from '../help.js';
import type { Io } from '../io.js';
import { completionScript, SHELLS, type Shell } from './scripts.js';
import { wordsOf } from './words.js';

/** Adds the command that prints the completion script of a program, which has all its other commands. */
export function addCompletion(program: Command, { io }: { readonly io: Io }): void {
  const name = program.name();
  program
    .command('completion')
    .description('Prints a script with which a shell completes the commands, options and their values.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        `eval "$(${name} completion bash)"`,
        `${name} completion zsh > ~/.zfunc/_${name}`,
        `${name} completion fish > ~/.config/fish/completions/${name}.fish`,
      ),
    )
    .action((shell: Shell, { json }: { readonly json?: true }) => {
      const script = completionScript(shell, name, wordsOf(program));
      io.data(json ? jsonText({ shell, script }) : script.trimEnd());
    });
}
