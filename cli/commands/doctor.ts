import { nodeFault } from '../../data-plane-agent/base/node-version.js';
import { isProduction } from '../../server/config.js';
import { check, type Check } from '../doctor/check.js';
import { databaseChecks } from '../doctor/databases.js';
import { dataDirCheck, diskCheck } from '../doctor/disk.js';
import { environmentCheck } from '../doctor/environment.js';
import { keysCheck } from '../doctor/keys.js';
import { mailCheck } from '../doctor/mail.js';
import { objectStoreCheck } from '../doctor/object-store.js';
import { portCheck } from '../doctor/port.js';
import { publicUrlCheck } from '../doctor/public-url.js';
import { scannerCheck } from '../doctor/scanner.js';
import { ssoCheck } from '../doctor/sso.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { CommandError } from '../errors.js';
import { lookAtConfiguration, type LookedAt } from '../installation.js';
import { printableLine } from '../render/printable.js';

export const addDoctor: AddCommand = (program, cli) => {
  program
    .command('doctor')
    .description('Checks everything that the server needs, and says how to fix what is wrong. Changes nothing.')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExits 1 when a check fails, and 0 when there are only warnings.')
    .addHelpText('after', examples('duebook doctor', 'duebook doctor --json'))
    .action(async ({ json }: { readonly json?: true }) => {
      const checks = await examine(cli, lookAtConfiguration(cli));
      const failed = checks.filter(({ status }) => status === 'fail');
      cli.io.data(json ? jsonText({ ok: failed.length === 0, checks }) : checks.map(line).join('\n'));
      if (failed.length > 0)
        throw new CommandError('CHECKS_FAILED', `failed: ${failed.map(({ name }) => name).join(', ')}`);
    });
};

async function examine(cli: Cli, looked: LookedAt): Promise<Check[]> {
  const mode = { clock: cli.clock, production: isProduction(cli.env()) };
  return [
    nodeCheck(cli.nodeVersion),
    environmentCheck(looked, mode),
    configurationCheck(looked),
    await publicUrlCheck(looked, mode),
    await portCheck(looked),
    dataDirCheck(looked.values),
    diskCheck(looked.values),
    ...(await databaseChecks(looked, cli)),
    await keysCheck(looked),
    await objectStoreCheck(looked, cli),
    await scannerCheck(looked, cli),
    await ssoCheck(looked, mode),
    await mailCheck(looked),
  ];
}

function nodeCheck(version: string): Check {
  const fault = nodeFault(version);
  return fault === undefined ? check.ok('node', version) : check.fail('node', version, fault);
}

function configurationCheck({ warnings }: LookedAt): Check {
  if (warnings.length === 0) return check.ok('configuration', 'valid');
  return check.warn(
    'configuration',
    warnings.map(({ name, problem }) => `${name} ${problem}`).join('; '),
    'see "duebook config"',
  );
}

const line = ({ name, status, detail, fix }: Check): string =>
  printableLine(`${status.padEnd(4)}  ${name}: ${detail}${fix === null ? '' : ` -> ${fix}`}`);
