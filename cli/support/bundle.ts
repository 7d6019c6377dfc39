import { arch, cpus, freemem, homedir, hostname, platform, release, totalmem, userInfo } from 'node:os';
import { isoOrNull } from '../../data-plane-agent/base/instants.js';
import { tableRows } from '../../data-plane-agent/base/database/table-rows.js';
import { versionOf } from '../../data-plane-agent/base/package-version.js';
import { isProduction } from '../../server/config.js';
import { knownAgents } from '../../server/data-planes/known-agents.js';
import { databasesOf } from '../../server/databases.js';
import type { Cli } from '../cli.js';
import { reasonOf } from '../doctor/check.js';
import { examine } from '../doctor/examine.js';
import { stateOf, withDatabase, type LookedAt } from '../installation.js';
import { SHOWN, supportedSettings } from './configuration.js';
import { logLines } from './log.js';
import { redactor } from './redact.js';

export interface BundleOptions {
  readonly log?: string | undefined;
  readonly logLines: number;
}

/** The files of a support bundle, by name: no secrets, no contract data, no names and no addresses. */
export async function bundleFiles(
  looked: LookedAt,
  cli: Cli,
  { log, logLines: lines }: BundleOptions,
): Promise<Readonly<Record<string, string>>> {
  const { values } = looked;
  const kept = new Set(
    supportedSettings(looked).flatMap(({ name, value }) => (SHOWN.has(name) ? String(value).split(',') : [])),
  );
  const redact = redactor([values, hostname(), homedir(), userName()], { kept });
  const asJson = (value: unknown): string => `${redact(JSON.stringify(value, null, 2))}\n`;
  const files: Record<string, string> = {
    'about.json': `${JSON.stringify(about(cli), null, 2)}\n`,
    'configuration.json': `${JSON.stringify({ settings: supportedSettings(looked), warnings: looked.warnings.map(({ name }) => name) }, null, 2)}\n`,
    'doctor.json': asJson({
      // Those of agents name organisations: links.json has what is known of them.
      checks: (await examine(cli, looked)).map((one) =>
        one.name === 'agent_links' ? { ...one, detail: 'see links.json' } : one,
      ),
    }),
    'databases.json': asJson(await databases(values)),
    'links.json': asJson(await links(looked, cli)),
  };
  const metrics = await metricsOf(values);
  files['metrics.txt'] = redact(metrics);
  if (log !== undefined) {
    const read = logLines(log, { lines, redact });
    files['log.jsonl'] = read.text;
    files['log.json'] = `${JSON.stringify({ kept: read.kept, leftOut: read.leftOut })}\n`;
  }
  return files;
}

/** A user of a container may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

const about = ({ clock, nodeVersion, env }: Cli): object => ({
  version: versionOf(import.meta.url),
  madeAt: isoOrNull(clock.now()),
  production: isProduction(env()),
  node: nodeVersion,
  system: { platform: platform(), release: release(), arch: arch() },
  processors: cpus().length,
  memoryBytes: { total: totalmem(), free: freemem() },
});

async function databases(values: LookedAt['values']): Promise<object[]> {
  const found: object[] = [];
  for (const managed of Object.values(databasesOf(values))) {
    try {
      const { applied, pending } = await stateOf(managed, values);
      const tables = applied.length === 0 ? [] : await withDatabase(managed, values, tableRows);
      found.push({ name: managed.name, applied, pending, tables });
    } catch (error) {
      found.push({ name: managed.name, error: reasonOf(error) });
    }
  }
  return found;
}

const MOST_LINKS = 1_000;

/** By their ids: neither organisations nor addresses. */
async function links({ values }: LookedAt, { clock }: Cli): Promise<object> {
  if (values.edition !== 'enterprise_hybrid') return { agents: [] };
  try {
    const { agents, served } = await withDatabase(databasesOf(values).platform, values, (database) =>
      knownAgents(database, { at: clock.now(), limit: MOST_LINKS }),
    );
    return {
      served,
      agents: agents.map((agent) => ({
        id: agent.id,
        status: agent.status,
        accessMode: agent.accessMode,
        version: agent.agentVersion,
        protocol: agent.protocolVersion,
        schema: agent.schemaVersion,
        lastSeenAt: isoOrNull(agent.lastSeenAt),
        connectedSince: isoOrNull(agent.connectedSince),
        latencyMs: agent.latencyMs,
        components: (agent.components ?? []).map(({ kind, provider, state }) => ({ kind, provider, state })),
      })),
    };
  } catch (error) {
    return { error: reasonOf(error) };
  }
}

const METRICS_TIMEOUT_MS = 5_000;

/** Of the server that runs here, or why there are none. */
async function metricsOf({ host, port, metricsToken }: LookedAt['values']): Promise<string> {
  if (metricsToken === undefined) return '# METRICS_TOKEN is not set\n';
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${reached}:${port}/metrics`, {
      headers: { Authorization: `Bearer ${metricsToken}` },
      signal: AbortSignal.timeout(METRICS_TIMEOUT_MS),
    });
    return answer.ok ? await answer.text() : `# the server answered ${answer.status}\n`;
  } catch (error) {
    return `# no server answers (${error instanceof Error && error.cause instanceof Error ? reasonOf(error.cause) : reasonOf(error)})\n`;
  }
}
