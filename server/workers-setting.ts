import { totalmem } from 'node:os';
import {
  integer,
  setting,
  type DefaultContext,
  type Kind,
  type Rule,
  type Setting,
} from '../data-plane-agent/base/config.js';
import type { Edition } from './access/edition.js';

const MOST = 128;
type Workers = number | 'auto';
/** Bytes of memory for each process: some 300 MB are in use after loads, and more while documents are read. */
const MEMORY_OF_EACH = 512 * 1024 * 1024;

/** How many processes a machine, or a container with limits, is good for. */
export const workersFor = ({ cores, memory }: { readonly cores: number; readonly memory: number }): number =>
  Math.max(1, Math.min(cores, MOST, Math.floor(memory / MEMORY_OF_EACH)));

/** Bytes of memory of the machine, or fewer if a container has a limit. */
export const memoryOf = ({ constrainedMemory }: Pick<NodeJS.Process, 'constrainedMemory'>): number =>
  Math.min(totalmem(), constrainedMemory() || Number.POSITIVE_INFINITY);

/** How many processes the service consists of. */
export const WORKERS_SETTING = setting({
  name: 'WORKERS',
  about:
    'How many processes serve, behind the one port: a number, or auto for one per core, if there are 512 MiB of memory for each. Always 1 with EDITION=enterprise_hybrid.',
  kind: workers(),
  default: ({ production, textOf }: DefaultContext) =>
    production && textOf('EDITION') !== 'enterprise_hybrid' ? 'auto' : 1,
});

interface Concerned {
  readonly [name: string]: Setting<unknown, unknown>;
  readonly edition: Setting<Edition, Edition>;
  readonly workers: Setting<Workers, Workers>;
}

export const WORKERS_REFUSALS: readonly Rule<Concerned>[] = [
  ({ edition, workers: processes }) =>
    edition === 'enterprise_hybrid' && processes !== 1
      ? [
          {
            name: 'WORKERS',
            problem:
              'must be 1 with EDITION=enterprise_hybrid: an agent is connected to one process; to use more cores, run more replicas, each with its PEER_URL',
          },
        ]
      : [],
];

function workers(): Kind<Workers> {
  const numbers = integer({ min: 1, max: MOST });
  return {
    parse: (given) => {
      if (given.trim() === 'auto') return { ok: true, value: 'auto' };
      const parsed = numbers.parse(given);
      return parsed.ok ? parsed : { ok: false, problem: `must be auto or an integer from 1 to ${MOST}` };
    },
    show: String,
  };
}
