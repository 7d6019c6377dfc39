import { Counter, Gauge, type Registry } from 'prom-client';
import { TOKEN_REFUSALS, type TokenRefusal } from '../base/link/tokens.js';
import type { AgentLink } from './link.js';

/** What an agent measures besides HTTP, the process and its database. */
export interface AgentMetrics {
  answered(operation: string, outcome: string): void;
  refused(reason: TokenRefusal): void;
}

/** Without a registry nothing is measured. `link` is read at each scrape. */
export function createAgentMetrics(
  registry: Registry | undefined,
  link: () => Pick<AgentLink, 'state' | 'sessions'>,
): AgentMetrics {
  if (!registry) return { answered: () => undefined, refused: () => undefined };
  const registers = [registry];
  const operations = new Counter({
    name: 'duebook_agent_operations_total',
    help: 'Operations that the control plane asked for, by name and outcome: ok, the code of a failure, or fault.',
    labelNames: ['operation', 'outcome'],
    registers,
  });
  const refusals = new Counter({
    name: 'duebook_agent_refusals_total',
    help: 'Requests that were not accepted, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of TOKEN_REFUSALS) refusals.inc({ reason }, 0); // shown before the first event
  new Gauge({
    name: 'duebook_agent_link_sessions',
    help: 'Open sessions with the control plane; 0 for an agent that is called directly.',
    registers,
    collect() {
      this.set(link().sessions);
    },
  });
  new Gauge({
    name: 'duebook_agent_link_connected',
    help: 'Whether the agent is connected to the control plane; 1 for an agent that is called directly.',
    registers,
    collect() {
      this.set(link().state === 'disconnected' ? 0 : 1);
    },
  });
  return {
    answered: (operation, outcome) => operations.inc({ operation, outcome }),
    refused: (reason) => refusals.inc({ reason }),
  };
}
