import { InvalidArgumentError, Option } from 'commander';
import { examples, JSON_OPTION, type AddCommand } from '../cli.js';
import type { DemoOptions } from '../demo/run.js';

export const addDemo: AddCommand = (program, cli) => {
  program
    .command('demo')
    .description('Creates an organisation with realistic contracts, once, and starts the server. Not for production.')
    .option('--hybrid', 'store the contracts behind a data-plane agent, which is started beside the server')
    .addOption(new Option('--agent-port <port>', 'port of the agent, with --hybrid').default(8_090).argParser(portOf))
    .option('--no-serve', 'create the data, but do not start the server')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nDates are relative to the day of the first run. The next run continues an interrupted one. With --hybrid, DATA_DIR is ./data/hybrid unless it is set, and the agent has its data in DATA_DIR/agent.',
    )
    .addHelpText(
      'after',
      examples('duebook demo', 'DATA_DIR=/tmp/book PORT=9090 duebook demo', 'duebook demo --hybrid'),
    )
    .action(async (options: DemoOptions) => {
      // Loads the demo and its data, which other commands do not need.
      const { runDemo } = await import('../demo/run.js');
      await runDemo(cli, options);
    });
};

function portOf(value: string): number {
  const port = Number(value);
  if (!/^\d{1,5}$/.test(value) || port < 1 || port > 65_535)
    throw new InvalidArgumentError('It must be a port from 1 to 65535.');
  return port;
}
