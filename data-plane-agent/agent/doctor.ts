import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { text } from 'node:stream/consumers';
import { check, type Check } from '../base/command-line/check.js';
import { dataDirCheck, diskCheck } from '../base/command-line/disk.js';
import { describeConfig } from '../base/config.js';
import { Challenge, LINK_PATHS } from '../base/link/messages.js';
import { SKEW_MS } from '../base/link/tokens.js';
import { nodeFault } from '../base/node-version.js';
import { databaseChecks } from '../host/doctor/database.js';
import { objectStoreChecks } from '../host/doctor/object-store.js';
import { scannerCheck } from '../host/doctor/scanner.js';
import { planeDatabase } from '../host/plane-database.js';
import { ownSecretKeysPath } from '../host/secret-keys.js';
import type { AgentCli, LookedAtAgent } from './agent-cli.js';
import { AGENT_SETTINGS, isProduction } from './config.js';
import { createControlPlaneClient, proxyAgent } from './control-plane.js';
import { databaseFault, DATABASE_SETTING } from './database-check.js';
import { IdentityFault, identityFiles, type IdentityFiles } from './identity-files.js';
import { openIdentity, type AgentIdentity } from './identity.js';
import { proxyFault } from './link/proxy-support.js';
import { policyFileOf, readPolicy } from './policy.js';
import { othersCanRead } from './stored-files.js';

/** Everything that the agent needs, one check each. Changes nothing. */
export async function examineAgent(cli: AgentCli, looked: LookedAtAgent): Promise<Check[]> {
  const { values } = looked;
  const production = isProduction(cli.env());
  const files = identityFiles(values.dataDir);
  const identity = await identityOf(files);
  const joined = 'fault' in identity ? undefined : identity;
  return [
    nodeCheck(cli.nodeVersion),
    environmentCheck(production),
    configurationCheck(looked),
    identityCheck(identity, files),
    policyCheck(looked),
    dataDirCheck(values),
    diskCheck(values),
    ...(await databaseOf(looked, cli)),
    keysCheck(looked),
    ...(await objectStoreChecks({ ...values, keyRing: values.keyRing }, { clock: cli.clock, program: 'agent' })),
    await scannerCheck(values, cli),
    await controlPlaneCheck(joined, { looked, cli }),
    await linkCheck(joined, looked),
  ];
}

function nodeCheck(version: string): Check {
  const fault = nodeFault(version);
  return fault === undefined ? check.ok('node', version) : check.fail('node', version, fault);
}

const environmentCheck = (production: boolean): Check =>
  production
    ? check.ok('environment', 'production: the strict defaults apply (NODE_ENV=production)')
    : check.warn(
        'environment',
        'not a production installation: files are accepted unscanned, and missing keys are generated',
        'before you store real data: set NODE_ENV=production, SECRET_KEYS, and CLAMAV_URL (or FILE_SCAN_MODE=off)',
      );

const configurationCheck = ({ warnings }: LookedAtAgent): Check =>
  warnings.length === 0
    ? check.ok('configuration', 'valid')
    : check.warn(
        'configuration',
        warnings.map(({ name, problem }) => `${name} ${problem}`).join('; '),
        'see "duebook-agent config"',
      );

type Found = AgentIdentity | { readonly fault: IdentityFault };

async function identityOf(files: IdentityFiles): Promise<Found> {
  try {
    return await openIdentity(files);
  } catch (error) {
    if (error instanceof IdentityFault) return { fault: error };
    throw error;
  }
}

function identityCheck(found: Found, { folder }: IdentityFiles): Check {
  if ('fault' in found) {
    const [detail = '', ...fix] = found.fault.message.split(': ');
    return check.fail('identity', detail, fix.join(': '));
  }
  const about = `connection ${found.connectionId} to ${found.controlPlane}, organisation ${found.tenant.slug}; in ${folder}`;
  return found.rotates()
    ? check.warn('identity', `${about}; a rotation of the key was interrupted`, 'run "duebook-agent rotate-key" again')
    : check.ok('identity', about);
}

function policyCheck({ values }: LookedAtAgent): Check {
  const read = readPolicy(policyFileOf(values));
  return read.ok
    ? check.ok('policy', `${values.policyFile}: ${read.policy.summary}`)
    : check.fail(
        'policy',
        read.faults.map(({ name, problem }) => `${name} ${problem}`).join('; '),
        'correct the file, or remove it to refuse nothing',
      );
}

async function databaseOf(looked: LookedAtAgent, { clock }: AgentCli): Promise<Check[]> {
  const fault = await databaseFault(looked.values);
  if (fault) return [check.fail('tenant_database', fault.problem, fault.fix)];
  const shown = describeConfig(AGENT_SETTINGS, looked);
  return databaseChecks({
    managed: planeDatabase(looked.values),
    variable: DATABASE_SETTING,
    address: shown.find(({ name }) => name === DATABASE_SETTING)?.value ?? '',
    poolMax: looked.values.databasePoolMax,
    howToMigrate: 'run "duebook-agent migrate"',
    program: 'agent',
    clock,
  });
}

function keysCheck({ values, sources }: LookedAtAgent): Check {
  const path = ownSecretKeysPath(values.dataDir);
  if (!values.keyRing) return check.ok('keys', `not generated yet; the first start writes them to ${path}`);
  if (sources['SECRET_KEYS'] !== 'generated')
    return check.ok('keys', `${values.keyRing.keyIds.length} from SECRET_KEYS`);
  return othersCanRead(path)
    ? check.warn('keys', `others can read ${path}`, `chmod 600 ${path}`)
    : check.ok('keys', `in ${path}; keep a copy elsewhere`);
}

const TIMEOUT_MS = 5_000;
/** A hash that no join token has: only the time of the answer is used. */
const NO_TOKEN = '0'.repeat(64);

/** The control plane answers, and its clock agrees: signed messages are valid for a minute. */
async function controlPlaneCheck(
  identity: AgentIdentity | undefined,
  { looked, cli }: { readonly looked: LookedAtAgent; readonly cli: AgentCli },
): Promise<Check> {
  if (!identity) return check.warn('control_plane', 'not examined: this agent has not joined', 'join first');
  const { controlPlane } = identity;
  const withoutProxy = looked.values.httpsProxy === undefined ? undefined : proxyFault(cli.nodeVersion);
  if (withoutProxy !== undefined)
    return check.fail('control_plane', withoutProxy, 'start the agent with the Node.js that "npm ci" installs');
  try {
    const client = createControlPlaneClient(controlPlane, {
      httpAgent: proxyAgent(looked.values),
      timeoutMs: TIMEOUT_MS,
    });
    const before = cli.clock.now();
    const { serverTime } = await client.post(LINK_PATHS.challenge, { tokenHash: NO_TOKEN }, { answer: Challenge });
    const after = cli.clock.now();
    const skewMs = (before + after) / 2 - serverTime;
    const seconds = Math.round(Math.abs(skewMs) / 1_000);
    const detail = `${controlPlane} answers; its clock differs by ${seconds} s`;
    if (Math.abs(skewMs) <= SKEW_MS / 4) return check.ok('control_plane', detail);
    return Math.abs(skewMs) <= SKEW_MS
      ? check.warn('control_plane', detail, 'synchronise the clocks of both machines (NTP): 60 s are tolerated')
      : check.fail('control_plane', detail, 'synchronise the clocks of both machines (NTP)');
  } catch (error) {
    return check.fail(
      'control_plane',
      error instanceof Error ? error.message : String(error),
      'correct what the cause names; the agent needs an outgoing https connection to the control plane (HTTPS_PROXY)',
    );
  }
}

/** What the running agent says about its link. */
async function linkCheck(
  identity: AgentIdentity | undefined,
  { values: { host, port, tlsCert } }: LookedAtAgent,
): Promise<Check> {
  if (!identity) return check.warn('link', 'there is none: this agent has not joined', 'join first');
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  const { link, connection } = await stateAt(
    new URL(`${tlsCert === undefined ? 'http' : 'https'}://${reached}:${port}/healthz`),
  );
  switch (link) {
    case 'connected':
      return check.ok('link', 'connected');
    case 'direct':
      return check.ok('link', 'the control plane calls this agent; whether it does is shown there');
    case 'disconnected':
      return check.fail(
        'link',
        `the agent runs, but is not connected (${connection ?? ''})`,
        FIXES[connection ?? ''] ?? 'see the checks above and the log of the agent',
      );
    default:
      return check.warn('link', `no agent answers at ${reached}:${port}`, 'start it: "duebook-agent run"');
  }
}

const REJOIN = 'create a new join token in the control plane and run "duebook-agent rejoin" with it';
const FIXES: Readonly<Record<string, string>> = {
  revoked: `the connection was revoked; if this agent is to serve again, ${REJOIN}`,
  suspended: `the data directory was copied: make sure that only one agent runs with it, then ${REJOIN}`,
  incompatible: 'upgrade the older of the two programs',
  refused: `compare the clocks of both machines; if they agree, ${REJOIN}`,
};

interface RunningState {
  readonly link?: string;
  readonly connection?: string;
}

/** Of the agent that listens there; empty if there is none. */
async function stateAt(url: URL): Promise<RunningState> {
  try {
    const body: unknown = JSON.parse(await textAt(url));
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {}; // nothing there, or another program
  }
}

/** On this machine, whose certificate is for the host name of users. */
function textAt(url: URL): Promise<string> {
  const get = url.protocol === 'https:' ? httpsGet : httpGet;
  return new Promise((resolve, reject) => {
    get(url, { signal: AbortSignal.timeout(TIMEOUT_MS), agent: false, rejectUnauthorized: false }, (response) => {
      text(response).then(resolve, reject);
    }).on('error', reject);
  });
}
