import { availableParallelism } from 'node:os';
import { integer, setting, type Kind, type Rule, type Setting } from '../data-plane-agent/base/config.js';
import type { Edition } from './access/edition.js';

const MOST = 128;

/** How many processes the service consists of. */
export const WORKERS_SETTING = setting({
  name: 'WORKERS',
  about:
    'How many processes serve, behind the one port: a number, or auto for one per core. Always 1 with EDITION=enterprise_hybrid.',
  kind: workers(),
  default: 1,
});

interface Concerned {
  readonly [name: string]: Setting<unknown, unknown>;
  readonly edition: Setting<Edition, Edition>;
  readonly workers: Setting<number, number>;
}

export const WORKERS_REFUSALS: readonly Rule<Concerned>[] = [
  ({ edition, workers: processes }) =>
    edition === 'enterprise_hybrid' && processes > 1
      ? [
          {
            name: 'WORKERS',
            problem:
              'must be 1 with EDITION=enterprise_hybrid: an agent is connected to one process; to use more cores, run more replicas, each with its PEER_URL',
          },
        ]
      : [],
];

function workers(): Kind<number> {
  const numbers = integer({ min: 1, max: MOST });
  return {
    parse: (given) => {
      if (given.trim() === 'auto') return { ok: true, value: Math.min(availableParallelism(), MOST) };
      const parsed = numbers.parse(given);
      return parsed.ok ? parsed : { ok: false, problem: `must be auto or an integer from 1 to ${MOST}` };
    },
    show: String,
  };
}
