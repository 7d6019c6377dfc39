import type { Clock } from '../base/clock.js';
import { TOPICS } from '../base/link/messages.js';
import type { Job } from '../base/schedules.js';
import type { HostedPlane } from '../host/open-plane.js';
import type { AgentIdentity } from './identity.js';
import type { AgentLink } from './link.js';
import type { OperationLog } from './operation-log.js';
import type { Reporting } from './reporting.js';
import { linkedTenant, planeOfJob } from './tenant-calls.js';

/** How often the control plane is told of due messages where it asks by itself. */
const ASKED_EVERY_MS = 10_000;

/**
 * The schedules of the data, which run whether or not the control plane can be reached. All run in this process alone,
 * which holds the lock of the data directory.
 */
export function agentJobs({
  hosted,
  identity,
  link,
  reporting,
  operationLog,
  clock,
}: {
  readonly hosted: HostedPlane;
  readonly identity: AgentIdentity;
  readonly link: Pick<AgentLink, 'state' | 'notice'>;
  readonly reporting: Pick<Reporting, 'refresh'>;
  readonly operationLog: Pick<OperationLog, 'removeOld'>;
  readonly clock: Clock;
}): readonly Job[] {
  let lookedAt = -Infinity;
  // The control plane sends the messages: it takes them through operations.
  const ofPlane = hosted.jobs({
    tenants: linkedTenant(identity),
    deliver: () => {
      link.notice(TOPICS.outbox, {});
      return Promise.resolve({ more: false });
    },
  });
  const outbox = (job: Job): Job => ({
    ...job,
    isDue: () => {
      if (link.state === 'direct') {
        if (clock.now() < lookedAt + ASKED_EVERY_MS) return Promise.resolve(false);
        lookedAt = clock.now();
        return Promise.resolve(true);
      }
      return Promise.resolve(link.state === 'connected');
    },
  });
  return [
    ...ofPlane.map((job) => (job.name === 'outbox' ? outbox(job) : job)),
    {
      name: 'look-for-work',
      rule: '15 20 3 * * *',
      everywhere: true,
      run: (signal) =>
        planeOfJob(hosted.plane, { identity, job: 'look-for-work', at: clock.now(), signal }).lookForWork({}),
    },
    { name: 'report', rule: '*/10 * * * * *', everywhere: true, run: () => reporting.refresh() },
    {
      name: 'operation-log',
      rule: '5 10 0 * * *',
      everywhere: true,
      run: () => Promise.resolve(operationLog.removeOld()),
    },
  ];
}
