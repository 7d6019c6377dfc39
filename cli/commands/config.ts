import { describeConfig } from '../../data-plane-agent/base/config.js';
import { SETTINGS } from '../../server/config.js';
import { examples, JSON_OPTION, jsonText, type AddCommand } from '../cli.js';
import { lookAtConfiguration } from '../installation.js';
import { tableWithin } from '../render/table.js';

/** The width of the table in columns if standard output is not a terminal. */
const NARROW = 80;

export const addConfig: AddCommand = (program, cli) => {
  program
    .command('config')
    .description(
      'Shows the settings in effect, secrets masked, and where each comes from; long values only with --json. Changes nothing.',
    )
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook config', 'PORT=9090 duebook config --json'))
    .action(({ json }: { readonly json?: true }) => {
      const result = lookAtConfiguration(cli);
      const settings = describeConfig(SETTINGS, result);
      if (json) return cli.io.data(jsonText({ settings, warnings: result.warnings }));
      const { text, shortened } = tableWithin(
        ['NAME', 'VALUE', 'SOURCE'],
        settings.map(({ name, value, source }) => [name, value === null ? '–' : value, source]),
        { columns: cli.io.toTerminal ? cli.io.width : NARROW, column: 1 },
      );
      cli.io.data(text);
      if (shortened) cli.io.message('Long values are shortened (…): "duebook config --json" shows all of them.');
      for (const { name, problem } of result.warnings) cli.io.message(`Warning: ${name} ${problem}`);
    });
};
