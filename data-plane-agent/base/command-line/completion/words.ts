import type { Command, Option } from 'commander';

/** What can follow on the command line at one command, for the completion of shells. */
export interface CompletedCommand {
  /** The names of the commands up to this one, without the program: `codes issue`, or empty for the program. */
  readonly at: string;
  readonly commands: readonly Described[];
  readonly options: readonly CompletedOption[];
  /** The values of arguments, if they are listed. */
  readonly choices: readonly string[];
  /** Whether an argument is a file. */
  readonly takesFile: boolean;
}

export interface Described {
  readonly name: string;
  /** One sentence. */
  readonly about: string;
}

export interface CompletedOption extends Described {
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly takesFile: boolean;
}

/** The words of a program, by command; the program itself is the first. */
export function wordsOf(program: Command): CompletedCommand[] {
  return [completed(program, ''), ...program.commands.flatMap((command) => below(command, command.name()))];
}

const below = (command: Command, at: string): CompletedCommand[] => [
  completed(command, at),
  ...command.commands.flatMap((one) => below(one, `${at} ${one.name()}`)),
];

const completed = (command: Command, at: string): CompletedCommand => ({
  at,
  commands: command.commands.map((one) => ({ name: one.name(), about: sentence(one.description()) })),
  options: [
    ...command.options.map(optionOf),
    { name: '--help', about: 'Shows how the command is used.', takesValue: false, choices: [], takesFile: false },
  ],
  choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  takesFile: command.registeredArguments.some((argument) => FILE.test(argument.name())),
});

const optionOf = (option: Option): CompletedOption => ({
  name: option.long ?? option.short ?? '',
  about: sentence(option.description),
  takesValue: option.required || option.optional,
  choices: option.argChoices ?? [],
  takesFile: FILE.test(option.flags),
});

/** The placeholders of arguments and options that name files. */
const FILE = /\b(?:file|folder)\b>?$/;

/** The first sentence of a description, on one line. */
const sentence = (text: string): string =>
  (/^.*?[.:;](?=\s|$)/s.exec(text)?.[0] ?? text).replaceAll(/\s+/g, ' ').replace(/[:;]$/, '.');
