import { printableLine } from '../../data-plane-agent/base/command-line/printable.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { CommandError } from '../errors.js';
import { lookAtConfiguration } from '../installation.js';
import { upgradeState } from '../upgrade-checks.js';

export const addUpgrade: AddCommand = (program, cli) => {
  const upgrade = program
    .command('upgrade')
    .description('Helps to replace a running installation with this version.')
    .helpCommand(false)
    .addHelpText('after', examples('duebook upgrade check'));
  upgrade
    .command('check')
    .description(
      'Says whether this version may be started on the present databases, what it would change, and whether the previous version can run beside it. Changes nothing.',
    )
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExits 1 when this version must not be started, and 0 when there are only warnings. Run it with the new version and the settings of the server.',
    )
    .addHelpText('after', examples('duebook upgrade check', 'duebook upgrade check --json'))
    .action(async ({ json }: { readonly json?: true }) => {
      const { checks, pending } = await upgradeState(lookAtConfiguration(cli), cli);
      const failed = checks.filter(({ status }) => status === 'fail');
      cli.io.data(
        json
          ? jsonText({ ok: failed.length === 0, checks, pending })
          : checks
              .map(({ name, status, detail, fix }) =>
                printableLine(`${status.padEnd(4)}  ${name}: ${detail}${fix === null ? '' : ` -> ${fix}`}`),
              )
              .join('\n'),
      );
      if (failed.length > 0)
        throw new CommandError('UPGRADE_REFUSED', `do not upgrade yet: ${failed.map(({ name }) => name).join(', ')}`);
    });
};
