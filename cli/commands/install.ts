import { Option } from 'commander';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printableLine } from '../../data-plane-agent/base/command-line/printable.js';
import { readServerConfig } from '../../server/config.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { CommandError, EXIT, misuse } from '../errors.js';
import { collectAnswers } from '../install/answers.js';
import { filesOf } from '../install/files.js';
import { keptIn } from '../install/kept.js';
import { nextCommands } from '../install/next.js';
import { preflight, UNREACHABLE } from '../install/preflight.js';
import { QUESTIONS, type Key, type Target } from '../install/questions.js';
import { settingsOf } from '../install/settings.js';
import { writeFiles } from '../install/write.js';
import type { LookedAt } from '../installation.js';

type Options = Readonly<Partial<Record<Key, string>>> & {
  readonly answers?: string;
  readonly unreachable?: readonly string[];
  readonly force?: true;
  readonly json?: true;
};

export const addInstall: AddCommand = (program, cli) => {
  const command = program
    .command('install')
    .description(
      'Asks how the server is to run, tries everything that it will use, and writes the files to run it: settings with new keys, a systemd unit, or the secrets and values of Docker Compose or Helm.',
    );
  for (const { flag, ask, choices, secret } of QUESTIONS) {
    const option = new Option(
      `${flag} <${valueOf(flag)}>`,
      secret === true ? `${ask}; a password only in --answers` : ask,
    );
    command.addOption(choices ? option.choices(choices) : option);
  }
  command
    .option('--answers <file>', `JSON object with answers: ${QUESTIONS.map(({ key }) => key).join(', ')}`)
    .addOption(
      new Option('--unreachable <what...>', 'what can be reached only from where the server will run').choices(
        UNREACHABLE,
      ),
    )
    .option('--force', 'replace files that differ; secrets are kept, and a copy of each file')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nAsks only on a terminal for what is missing. Writes nothing when a check fails. It can be run again: files that are the same stay as they are.',
    )
    .addHelpText(
      'after',
      examples(
        'duebook install --target local --public-url https://book.example.com --platform-database sqlite --object-store folder --scanner off --mail none --out /srv/duebook',
        'duebook install --answers answers.json --json',
      ),
    )
    .action((options: Options) => install(cli, options));
};

/** The folder of the compiled programs, which this module is part of. */
const PROGRAMS = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

const valueOf = (flag: string): string =>
  ({ '--out': 'folder', '--port': 'port', '--target': 'target', '--edition': 'edition', '--mail-from': 'sender' })[
    flag
  ] ?? 'url';

async function install(cli: Cli, { answers: file, unreachable = [], force, json, ...options }: Options): Promise<void> {
  const answers = await collectAnswers(cli, { options, file });
  const target = answers.target as Target; // the answer is one of the choices
  const folder = resolve(answers.out ?? '');
  const { secrets, added } = keptIn(folder, target);
  const settings = settingsOf(answers, { secrets, dataDir: dataDirOf(target, folder) });
  const looked = lookedAt(settings);
  const files = inEnvFile(() =>
    filesOf({
      answers,
      settings,
      secrets,
      folder,
      node: process.execPath,
      programs: PROGRAMS,
      added,
    }),
  );

  cli.io.progress('Trying what the server will use …');
  const checks = await preflight({ looked, target, unreachable }, cli);
  cli.io.progress('');
  const failed = checks.filter(({ status }) => status === 'fail');
  if (!json)
    cli.io.data(
      checks
        .map(({ name, status, detail, fix }) =>
          printableLine(`${status.padEnd(4)}  ${name}: ${detail}${fix === null ? '' : ` -> ${fix}`}`),
        )
        .join('\n'),
    );
  if (failed.length > 0) {
    if (json) cli.io.data(jsonText({ target, folder, ok: false, checks, files: [], next: [] }));
    throw new CommandError(
      'CHECKS_FAILED',
      `failed: ${failed.map(({ name }) => name).join(', ')}; nothing was written`,
    );
  }
  const written = writeFiles(folder, files, { force: force === true });
  const next = nextCommands(answers, folder);
  if (json) return cli.io.data(jsonText({ target, folder, ok: true, checks, files: written, next }));
  cli.io.data(['', ...written.map(({ path, status }) => `${status.padEnd(9)}  ${path}`)].join('\n'));
  cli.io.data(['', 'Next:', ...next.map((line) => `  ${line}`)].join('\n'));
  cli.io.message('Keep a copy of the secrets elsewhere: what is sealed with SECRET_KEYS cannot be read without them.');
}

/** Where the server will keep its data. */
const dataDirOf = (target: Target, folder: string): string =>
  ({ local: join(folder, 'data'), systemd: '/var/lib/duebook', compose: '/data', helm: '/data' })[target];

/** The settings as the server will read them. Throws ANSWERS_INVALID, with all faults. */
function lookedAt(settings: Readonly<Record<string, string>>): LookedAt {
  const result = readServerConfig(settings);
  if (result.ok) return result;
  const keys = new Map(QUESTIONS.map(({ key, setting }) => [setting, key]));
  throw new CommandError(
    'ANSWERS_INVALID',
    result.faults.map(({ name, problem }) => `${keys.get(name) ?? name} ${problem}`).join('\n'),
    { exitCode: EXIT.misused },
  );
}

function inEnvFile<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) throw misuse(error.message);
    throw error;
  }
}
