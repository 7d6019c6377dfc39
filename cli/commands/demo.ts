import { createLifecycle, type Lifecycle } from '../../data-plane-agent/base/lifecycle.js';
import { createLog, type Log } from '../../data-plane-agent/base/log.js';
import { compose, type Composed } from '../../server/compose.js';
import type { Config } from '../../server/config.js';
import { serve } from '../../server/serve.js';
import { listenFaultOf } from '../../server/listen-fault.js';
import { openAddress } from '../../server/open-address.js';
import { examples, JSON_OPTION, jsonText, type AddCommand, type Cli } from '../cli.js';
import { DEMO_OWNER, DEMO_TENANT } from '../demo/cast.js';
import { enterBook } from '../demo/enter.js';
import { enterFiles } from '../demo/files.js';
import { completeDemo, demoPeople, demoTenant, type DemoTenant } from '../demo/tenant.js';
import { firstRequests, type Request } from '../demo/try-it.js';
import { CommandError } from '../errors.js';
import { cliActor, configuration, lookAtConfiguration } from '../installation.js';
import { curlLine } from '../render/curl.js';

interface Options {
  /** False with `--no-serve`. */
  readonly serve: boolean;
  readonly json?: true;
}

export const addDemo: AddCommand = (program, cli) => {
  program
    .command('demo')
    .description('Creates an organisation with realistic contracts, once, and starts the server. Not for production.')
    .option('--no-serve', 'create the data, but do not start the server')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nDates are relative to the day of the first run. The next run continues an interrupted one.',
    )
    .addHelpText('after', examples('duebook demo', 'DATA_DIR=/tmp/book PORT=9090 duebook demo'))
    .action((options: Options) => demo(cli, options));
};

async function demo(cli: Cli, options: Options): Promise<void> {
  const config = await configuration(cli, { quiet: options.json === true });
  if (config.production)
    throw new CommandError(
      'DEMO_IN_PRODUCTION',
      'the demo is not for production (NODE_ENV=production): use "duebook bootstrap" to create an organisation',
    );
  // The access log would scroll the printed requests away: unless LOG_LEVEL is set, only warnings and errors are
  // logged.
  const asked = lookAtConfiguration(cli).sources['LOG_LEVEL'] !== 'default';
  const log = createLog({
    level: asked ? config.logLevel : 'warn',
    name: 'duebook-demo',
    destination: { write: (line) => cli.io.message(line.trimEnd()) },
  });
  const lifecycle = createLifecycle({ log });
  lifecycle.listen(cli.process);
  try {
    const made = await createDemo(cli, { config, log, lifecycle });
    if (options.serve) await serveDemo(cli, { ...made, config, log, lifecycle, json: options.json === true });
    else print(cli, { ...made, json: options.json === true });
  } catch (error) {
    // A stop by signal closes the databases during the work. The resulting error is not a failure.
    if (lifecycle.state === 'draining' || lifecycle.state === 'stopped') return;
    await lifecycle.stop('failed');
    throw error;
  }
}

interface DemoResult {
  readonly tenant: DemoTenant;
  /** False when it already existed. */
  readonly created: boolean;
}

/** The data is created before the server listens, so that no client sees incomplete data. */
async function createDemo(
  cli: Cli,
  { config, log, lifecycle }: { config: Config; log: Log; lifecycle: Lifecycle },
): Promise<DemoResult> {
  const actor = cliActor();
  const composed = await compose(config, { clock: cli.clock, log });
  const close = once(composed.close);
  // A stop during the work closes the databases after the current write.
  lifecycle.onStop('book', 'databases', close);
  try {
    const tenant = await demoTenant(composed, { dataDir: config.dataDir, actor });
    if (!tenant.complete) {
      const ids = await demoPeople(composed, { tenant, actor });
      await enterBook({
        dataPlanes: composed.foundation.dataPlanes,
        tenant,
        ids,
        progress: (done, all) =>
          cli.io.progress(done === all ? '' : `Entering the demo's contracts: ${done} of ${all}`),
      });
      await enterFiles({
        dataPlanes: composed.foundation.dataPlanes,
        tenant,
        ids,
        objects: composed.foundation.hosted?.files.objects,
      });
      await completeDemo(composed, actor);
    }
    return { tenant, created: !tenant.complete };
  } finally {
    await close();
  }
}

function once(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => (closing ??= close());
}

async function serveDemo(
  cli: Cli,
  {
    tenant,
    created,
    config,
    log,
    lifecycle,
    json,
  }: DemoResult & { config: Config; log: Log; lifecycle: Lifecycle; json: boolean },
): Promise<void> {
  let serving: Composed & { readonly port: number };
  try {
    serving = await serve(config, {
      clock: cli.clock,
      log,
      lifecycle,
      residentBytes: () => process.memoryUsage.rss(),
      signInAs: { tenantSlug: DEMO_TENANT.slug, email: DEMO_OWNER.email },
    });
  } catch (error) {
    const fault = listenFaultOf(error, config);
    throw fault ? new CommandError(fault.code, `${fault.problem}; ${fault.fix}`, { cause: error }) : error;
  }
  const address = openAddress({ ...config, port: serving.port });
  const requests = await firstRequests(serving, { tenant, address, clock: cli.clock });
  print(cli, { tenant, created, json, served: { address, requests, accessTtl: config.accessTtl.text } });
}

interface Output extends DemoResult {
  readonly json: boolean;
  readonly served?: { readonly address: string; readonly requests: readonly Request[]; readonly accessTtl: string };
}

function print({ io }: Cli, { tenant, created, json, served }: Output): void {
  const signIn = { tenantSlug: DEMO_TENANT.slug, email: DEMO_OWNER.email, password: tenant.password };
  if (json) {
    return io.data(
      jsonText({
        tenant: { id: tenant.id, slug: DEMO_TENANT.slug },
        created,
        signIn,
        ...(served ? { url: served.address, tryIt: served.requests.map(curlLine) } : {}),
      }),
    );
  }
  const lines = [
    created
      ? 'The demo was created: 3 companies, 12 members, 300 contracts, 3 000 payment lines.'
      : 'The demo already exists.',
    ...(served ? ['', `  Service   ${served.address}/api/v1   (reference: ${served.address}/docs)`] : ['']),
    `  Sign in   organisation ${signIn.tenantSlug}, email ${signIn.email}, password ${signIn.password}`,
    '            (all twelve members have this password)',
    ...(served ? tryIt(served) : []),
  ];
  io.data(lines.join('\n'));
}

const tryIt = ({ requests, accessTtl }: NonNullable<Output['served']>): string[] => [
  '',
  `Try these requests; their tokens are valid for ${accessTtl}, and the first request returns new ones:`,
  ...requests.flatMap((request) => ['', `  # ${request.about}`, `  ${curlLine(request)}`]),
  '',
  'Press Ctrl-C to stop.',
];
