import { CommandError } from '../../base/command-line/errors.js';
import { examples, JSON_OPTION, jsonText } from '../../base/command-line/help.js';
import { printableLine } from '../../base/command-line/printable.js';
import { lookAtAgentConfiguration, type AddAgentCommand } from '../agent-cli.js';

export const addDoctor: AddAgentCommand = (program, cli) => {
  program
    .command('doctor')
    .description('Checks everything that the agent needs, and says how to fix what is wrong. Changes nothing.')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExits 1 when a check fails, and 0 when there are only warnings.')
    .addHelpText('after', examples('duebook-agent doctor', 'duebook-agent doctor --json'))
    .action(async ({ json }: { readonly json?: true }) => {
      const { examineAgent } = await import('../doctor.js');
      const checks = await examineAgent(cli, lookAtAgentConfiguration(cli));
      const failed = checks.filter(({ status }) => status === 'fail');
      cli.io.data(
        json
          ? jsonText({ ok: failed.length === 0, checks })
          : checks
              .map(({ name, status, detail, fix }) =>
                printableLine(`${status.padEnd(4)}  ${name}: ${detail}${fix === null ? '' : ` -> ${fix}`}`),
              )
              .join('\n'),
      );
      if (failed.length > 0)
        throw new CommandError('CHECKS_FAILED', `failed: ${failed.map(({ name }) => name).join(', ')}`);
    });
};
