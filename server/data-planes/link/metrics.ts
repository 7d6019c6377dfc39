import type { Metrics } from '../../../data-plane-agent/base/http/metrics.js';
import type { TokenRefusal } from '../../../data-plane-agent/base/link/tokens.js';

/**
 * How an operation over the link ended: `answered`; `refused`, by the agent's rules for data; `unavailable`, nothing
 * ran; `unknown`, it may have run; `failed`, by an internal error.
 */
export type Outcome = 'answered' | 'refused' | 'unavailable' | 'unknown' | 'failed';

export interface LinkMetrics {
  answered(operation: { readonly effect: 'read' | 'write'; readonly outcome: Outcome; readonly seconds: number }): void;
  /** A message of the link was refused: by the agent, or here. */
  refused(by: 'agent' | 'control_plane', reason: TokenRefusal): void;
  /** A request for a session was refused. */
  notAdmitted(reason: string): void;
}

/** Links by state, at all replicas. */
export type LinkStates = () => Promise<Readonly<Record<string, number>>>;

export function linkMetrics(
  metrics: Pick<Metrics, 'tally' | 'durations' | 'readings'>,
  links: LinkStates,
): LinkMetrics {
  const requests = metrics.tally({
    name: 'duebook_link_requests_total',
    help: 'Operations sent to agents, by effect (read, write) and outcome.',
    labels: ['effect', 'outcome'],
  });
  const durations = metrics.durations({
    name: 'duebook_link_request_duration_seconds',
    help: 'Time of operations sent to agents, including a repetition.',
    label: 'effect',
  });
  const refusals = metrics.tally({
    name: 'duebook_link_refusals_total',
    help: 'Signed messages of the link that were refused, by who refused them and the reason.',
    labels: ['by', 'reason'],
  });
  metrics.readings({
    name: 'duebook_links',
    help: 'Agents by state of their link: connected, disconnected, pending, suspended.',
    label: 'state',
    read: links,
  });
  return {
    answered: ({ effect, outcome, seconds }) => {
      requests({ effect, outcome });
      durations(effect, seconds);
    },
    refused: (by, reason) => refusals({ by, reason }),
    notAdmitted: (reason) => refusals({ by: 'control_plane', reason }),
  };
}
