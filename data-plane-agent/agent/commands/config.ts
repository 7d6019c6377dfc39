import { examples, JSON_OPTION, jsonText } from '../../base/command-line/help.js';
import { tableWithin } from '../../base/command-line/table.js';
import { describeConfig } from '../../base/config.js';
import { lookAtAgentConfiguration, type AddAgentCommand } from '../agent-cli.js';
import { AGENT_SETTINGS } from '../config.js';

/** The width of the table in columns if standard output is not a terminal. */
const NARROW = 80;

export const addConfig: AddAgentCommand = (program, cli) => {
  program
    .command('config')
    .description(
      'Shows the settings in effect, secrets masked, and where each comes from; long values only with --json. Changes nothing.',
    )
    .option(...JSON_OPTION)
    .addHelpText('after', examples('duebook-agent config', 'PORT=9090 duebook-agent config --json'))
    .action(({ json }: { readonly json?: true }) => {
      const looked = lookAtAgentConfiguration(cli);
      const settings = describeConfig(AGENT_SETTINGS, looked);
      if (json) return cli.io.data(jsonText({ settings, warnings: looked.warnings }));
      const { text, shortened } = tableWithin(
        ['NAME', 'VALUE', 'SOURCE'],
        settings.map(({ name, value, source }) => [name, value === null || value === '' ? '–' : value, source]),
        { columns: cli.io.toTerminal ? cli.io.width : NARROW, column: 1 },
      );
      cli.io.data(text);
      if (shortened) cli.io.message('Long values are shortened (…): "duebook-agent config --json" shows all of them.');
      for (const { name, problem } of looked.warnings) cli.io.message(`Warning: ${name} ${problem}`);
    });
};
