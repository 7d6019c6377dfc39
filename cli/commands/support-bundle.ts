import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { misuse } from '../errors.js';
import { lookAtConfiguration } from '../installation.js';

const DEFAULT_LINES = 1_000;
const MOST_LINES = 100_000;

interface Options {
  readonly log?: string;
  readonly logLines?: string;
  readonly json?: true;
}

export const addSupportBundle: AddCommand = (program, cli) => {
  program
    .command('support-bundle <file>')
    .description(
      'Writes a zip for those who help: version, form of the settings, checklist, migrations, numbers of rows, links to agents, metrics. It has no secrets, no contract data, no names and no addresses.',
    )
    .option('--log <file>', 'adds the last lines of this log of the server, without messages of errors')
    .option('--log-lines <count>', `how many lines, at most ${MOST_LINES}; default ${DEFAULT_LINES}`)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nChanges nothing but the file, which must not exist. Look at what is in it before you send it.',
    )
    .addHelpText(
      'after',
      examples('duebook support-bundle support.zip', 'duebook support-bundle support.zip --log /var/log/duebook.log'),
    )
    .action(async (path: string, { log, logLines, json }: Options) => {
      const lines = countOf(logLines);
      const looked = lookAtConfiguration(cli);
      const file = created(path);
      try {
        cli.io.progress('Looking at the installation …');
        const { bundleFiles } = await import('../support/bundle.js');
        const { strToU8, zipSync } = await import('fflate');
        const files = await bundleFiles(looked, cli, { log, logLines: lines });
        cli.io.progress('');
        writeFileSync(
          file,
          zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))),
        );
        closeSync(file);
        const names = Object.keys(files);
        cli.io.data(json ? jsonText({ file: path, files: names }) : `Wrote ${path}: ${names.join(', ')}.`);
      } catch (error) {
        closeSync(file);
        unlinkSync(path);
        throw error;
      }
    });
};

function countOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LINES;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (!(count >= 1 && count <= MOST_LINES)) throw misuse(`--log-lines must be a number from 1 to ${MOST_LINES}`);
  return count;
}

/** Readable only by the user who runs the command. */
function created(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw misuse(code === 'EEXIST' ? `${path} already exists` : `${path} cannot be written (${code})`);
  }
}
