import type { Clock } from '../../data-plane-agent/base/clock.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { PROTOCOLS } from '../../data-plane-agent/base/link/limits.js';
import { SKEW_MS } from '../../data-plane-agent/base/link/tokens.js';
import { isoOrNull } from '../../data-plane-agent/base/instants.js';
import { versionOf } from '../../data-plane-agent/base/package-version.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { isProduction } from '../../server/config.js';
import { knownAgents, type KnownAgent } from '../../server/data-planes/known-agents.js';
import { createLinks } from '../../server/data-planes/link/links.js';
import { systemCall } from '../../server/data-planes/system-call.js';
import { databasesOf } from '../../server/databases.js';
import type { Cli } from '../cli.js';
import { cliActor, stateOf, withDatabase, type LookedAt } from '../installation.js';
import { check, reasonOf, type Check } from './check.js';

/** Agents that are asked; more would take minutes if many were away. */
const MOST_AGENTS = 500;
const AT_ONCE = 8;
const TIMEOUT_MS = 5_000;
const SLOW_MS = 1_000;
/** How many agents are named in one line. */
const MOST_NAMED = 5;

/**
 * Each agent answers a request over its link, and its version and clock are those of the service. Agents that connect
 * outbound are asked through the replica that holds their session.
 */
export async function agentLinksCheck({ values }: Pick<LookedAt, 'values'>, cli: Cli): Promise<Check> {
  if (values.edition !== 'enterprise_hybrid')
    return check.ok('agent_links', 'none: the service stores contract data itself (EDITION)');
  const notExamined = (why: string, fix: string): Check => check.warn('agent_links', `not examined: ${why}`, fix);
  const { keyRing } = values;
  if (!keyRing) return notExamined('there are no keys to sign requests with', 'start the server, or set SECRET_KEYS');
  const { platform } = databasesOf(values);
  try {
    if ((await stateOf(platform, values)).pending.length > 0)
      return notExamined('the platform database is not up to date', 'run "duebook migrate"');
    return await withDatabase(platform, values, async (database) => {
      const { agents, served } = await knownAgents(database, { at: cli.clock.now(), limit: MOST_AGENTS + 1 });
      if (agents.length === 0) return check.ok('agent_links', 'no agent was invited yet');
      const asked = await ask(agents, {
        database,
        served,
        clock: cli.clock,
        config: { ...values, keyRing, production: isProduction(cli.env()) },
      });
      return summary(asked);
    });
  } catch (error) {
    return notExamined(`the platform database cannot be read (${reasonOf(error)})`, 'see platform_database');
  }
}

/** What was found out about one agent. Without `fix` it is well. */
export interface AskedAgent {
  readonly slug: string;
  readonly status: Check['status'];
  readonly detail: string;
  readonly fix?: string;
}

interface Asking {
  readonly database: Database;
  readonly clock: Clock;
  /** Whether a server of this installation runs, through which agents are reached. */
  readonly served: boolean;
  readonly config: Parameters<typeof createLinks>[0];
}

async function ask(agents: readonly KnownAgent[], { database, clock, served, config }: Asking): Promise<AskedAgent[]> {
  const signedAt = new Map<string, number>();
  const links = createLinks(config, {
    database,
    clock,
    log: createLog({ level: 'silent', name: 'duebook' }),
    onReply: (tenantId, at) => void signedAt.set(tenantId, at),
  });
  const one = async (agent: KnownAgent): Promise<AskedAgent> => {
    const { slug, tenantId, status, statusReason } = agent;
    if (status === 'pending')
      return { slug, status: 'warn', detail: 'invited, has not joined', fix: 'let it join, or revoke the invitation' };
    if (status !== 'connected')
      return { slug, status: 'fail', detail: `${status}: ${statusReason ?? ''}`, fix: 'invite it again, and rejoin' };
    if (!served && agent.accessMode !== 'direct')
      return {
        slug,
        status: 'warn',
        detail: 'not asked: no server of this installation runs',
        fix: 'start the server',
      };
    const began = clock.now();
    try {
      const call = { ...systemCall({ tenantId, actor: cliActor(), at: began }), timeoutMs: TIMEOUT_MS };
      await links.dataPlanes.forTenant(tenantId).invoke('getAuditHead', { call }, {});
    } catch (error) {
      return {
        slug,
        status: 'fail',
        detail: `does not answer (${causeOf(error)}); last seen ${isoOrNull(agent.lastSeenAt) ?? 'never'}`,
        fix:
          agent.accessMode === 'direct'
            ? 'run "duebook-agent doctor" where it is installed; the log of this server says why it did not reach the endpoint (in a private network, OUTBOUND_ALLOW_PRIVATE must cover it)'
            : 'run "duebook-agent doctor" where it is installed: it names the cause',
      };
    }
    return answered(agent, { began, ended: clock.now(), signedAt: signedAt.get(tenantId) });
  };
  try {
    const found: AskedAgent[] = [];
    const waiting = agents.slice(0, MOST_AGENTS);
    for (let next = 0; next < waiting.length; next += AT_ONCE)
      found.push(...(await Promise.all(waiting.slice(next, next + AT_ONCE).map(one))));
    if (agents.length > MOST_AGENTS)
      found.push({
        slug: 'others',
        status: 'warn',
        detail: `not asked: only the first ${MOST_AGENTS} are`,
        fix: '"duebook agents list --tenant …" shows each',
      });
    return found;
  } finally {
    links.close();
  }
}

/** What an agent that answered is warned about. Times in epoch milliseconds. */
export function answered(
  { slug, agentVersion, protocolVersion }: Pick<KnownAgent, 'slug' | 'agentVersion' | 'protocolVersion'>,
  {
    began,
    ended,
    signedAt,
    version = versionOf(import.meta.url),
  }: {
    readonly began: number;
    readonly ended: number;
    /** When the agent signed its answer by its own clock, rounded down to a second. */
    readonly signedAt: number | undefined;
    readonly version?: string;
  },
): AskedAgent {
  const said = `connected, ${ended - began} ms, version ${agentVersion ?? 'unknown'}`;
  const warned = (what: string, fix: string): AskedAgent => ({ slug, status: 'warn', detail: `${said}; ${what}`, fix });
  const skewMs = signedAt === undefined ? 0 : skewOf(signedAt, { began, ended });
  if (Math.abs(skewMs) > SKEW_MS / 4)
    return warned(
      `its clock is ${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs > 0 ? 'ahead' : 'behind'}`,
      'synchronise the clocks of both machines (NTP): 60 s are tolerated',
    );
  if (agentVersion !== version)
    return warned(`the service has version ${version}`, 'upgrade the older of the two programs');
  if (protocolVersion !== null && protocolVersion < PROTOCOLS.max)
    return warned(
      `it speaks protocol ${protocolVersion}, the service ${PROTOCOLS.max}`,
      'upgrade the older of the two programs',
    );
  if (ended - began > SLOW_MS)
    return warned('which is slow', 'check the network between them, and the load of both machines');
  return { slug, status: 'ok', detail: said };
}

/** 0 while the agent's clock may agree with ours, which its answer lies between. */
function skewOf(signedAt: number, { began, ended }: { readonly began: number; readonly ended: number }): number {
  if (signedAt > ended) return signedAt - ended;
  const latest = signedAt + 999;
  return latest < began ? latest - began : 0;
}

function summary(asked: readonly AskedAgent[]): Check {
  const worst = (['fail', 'warn'] as const).find((status) => asked.some((one) => one.status === status));
  const chosen = asked.filter(({ status }) => worst === undefined || status === worst);
  const named = chosen.slice(0, MOST_NAMED).map(({ slug, detail }) => `${slug}: ${detail}`);
  const more = chosen.length - named.length;
  const counted =
    worst === undefined ? '' : `${chosen.length} of ${asked.length} agent${asked.length === 1 ? '' : 's'}: `;
  const detail = `${counted}${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
  if (worst === undefined) return check.ok('agent_links', detail);
  const fix = [...new Set(chosen.map((one) => one.fix ?? ''))].join('; ');
  return check[worst]('agent_links', detail, fix);
}

/** The innermost reason, such as that of a signature that was refused because of the clock. */
function causeOf(error: unknown): string {
  let at = error;
  for (let depth = 0; depth < 5 && at instanceof Error && at.cause instanceof Error; depth += 1) at = at.cause;
  return at instanceof Error ? at.message : String(at);
}
