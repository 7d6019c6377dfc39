import { describeConfig } from '../../data-plane-agent/base/config.js';
import { SETTINGS } from '../../server/config.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { lookAtConfiguration } from '../installation.js';
import { table } from '../render/table.js';

export const addConfig: AddCommand = (program, cli) => {
  program
    .command('config')
    .description('Shows the settings in effect, secrets masked, and where each comes from. Changes nothing.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook config', 'PORT=9090 duebook config --json'))
    .action(({ json }: { readonly json?: true }) => {
      const result = lookAtConfiguration(cli);
      const settings = describeConfig(SETTINGS, result);
      if (json) return cli.io.data(jsonText({ settings, warnings: result.warnings }));
      cli.io.data(
        table(
          ['NAME', 'VALUE', 'SOURCE'],
          settings.map(({ name, value, source }) => [name, value === null ? '–' : value, source]),
        ),
      );
      for (const { name, problem } of result.warnings) cli.io.message(`Warning: ${name} ${problem}`);
    });
};
