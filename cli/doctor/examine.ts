import { nodeFault } from '../../data-plane-agent/base/node-version.js';
import { isProduction } from '../../server/config.js';
import { check, type Check } from './check.js';
import { agentLinksCheck } from './agent-links.js';
import { clockCheck } from './clock.js';
import { configurationCheck } from './configuration.js';
import { databaseChecks } from './databases.js';
import { dataDirCheck, diskCheck } from '../../data-plane-agent/base/command-line/disk.js';
import { environmentCheck } from './environment.js';
import { keysCheck } from './keys.js';
import { mailCheck } from './mail.js';
import { objectStoreChecks } from '../../data-plane-agent/host/doctor/object-store.js';
import { portCheck } from './port.js';
import { publicUrlCheck } from './public-url.js';
import { scannerCheck } from '../../data-plane-agent/host/doctor/scanner.js';
import { ssoCheck } from './sso.js';
import type { Cli } from '../cli.js';
import type { LookedAt } from '../installation.js';

/** All checks, in the order in which they are shown. Changes nothing. */
export async function examine(cli: Cli, looked: LookedAt): Promise<Check[]> {
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
    await clockCheck(looked, cli),
    await keysCheck(looked),
    ...(looked.values.edition === 'enterprise_hybrid'
      ? [check.ok('object_store', 'agents keep the files'), check.ok('scanner', 'agents have the files scanned')]
      : [
          ...(await objectStoreChecks(looked.values, { clock: cli.clock, program: 'server' })),
          await scannerCheck(looked.values, cli),
        ]),
    await agentLinksCheck(looked, cli),
    await ssoCheck(looked, mode),
    await mailCheck(looked),
  ];
}

function nodeCheck(version: string): Check {
  const fault = nodeFault(version);
  return fault === undefined ? check.ok('node', version) : check.fail('node', version, fault);
}
