import type { Check } from '../doctor/check.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { CommandError } from '../errors.js';
import { lookAtConfiguration } from '../installation.js';
import { printableLine } from '../../data-plane-agent/base/command-line/printable.js';

export const addDoctor: AddCommand = (program, cli) => {
  program
    .command('doctor')
    .description('Checks everything that the server needs, and says how to fix what is wrong. Changes nothing.')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExits 1 when a check fails, and 0 when there are only warnings.')
    .addHelpText('after', examples('duebook doctor', 'duebook doctor --json'))
    .action(async ({ json }: { readonly json?: true }) => {
      // Loads the checks, which other commands do not need.
      const { examine } = await import('../doctor/examine.js');
      const checks = await examine(cli, lookAtConfiguration(cli));
      const failed = checks.filter(({ status }) => status === 'fail');
      cli.io.data(json ? jsonText({ ok: failed.length === 0, checks }) : checks.map(line).join('\n'));
      if (failed.length > 0)
        throw new CommandError('CHECKS_FAILED', `failed: ${failed.map(({ name }) => name).join(', ')}`);
    });
};

const line = ({ name, status, detail, fix }: Check): string =>
  printableLine(`${status.padEnd(4)}  ${name}: ${detail}${fix === null ? '' : ` -> ${fix}`}`);
