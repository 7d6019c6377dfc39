import type { Clock } from '../data-plane-agent/base/clock.js';
import type { Database } from '../data-plane-agent/base/database/database.js';
import type { Log } from '../data-plane-agent/base/log.js';
import type { HostedPlane } from '../data-plane-agent/host/open-plane.js';
import { createAuditChaining } from './audit/chaining.js';
import { createLogHeads } from './audit/heads.js';
import type { PlatformAudit } from './audit/platform-audit.js';
import type { Refusals } from './audit/refusals.js';
import { createTellRepeats } from './audit/repeats.js';
import type { Config } from './config.js';
import { eachTenant, workedFor, type TenantsOptions } from './data-planes/each-tenant.js';
import { createMailDelivery } from './notifications/delivery.js';
import { createSmtp } from './notifications/smtp.js';
import type { Job } from '../data-plane-agent/base/schedules.js';
import { removeExpired } from './store/expiry.js';

/** What the server does by itself, and what a data plane that it hosts has to have done. */
export function jobsOf(
  config: Config,
  {
    hosted,
    ...parts
  }: TenantsOptions & {
    readonly audit: PlatformAudit;
    readonly refusals: Refusals;
    readonly hosted: HostedPlane | undefined;
  },
): readonly Job[] {
  const { database, clock } = parts;
  const ofPlane = hosted?.jobs({ tenants: workedFor(parts) }) ?? [];
  return joined([
    ...mailJob(config, parts),
    ...auditJobs(parts),
    lookForWork(parts),
    { name: 'expiry', rule: '40 */10 * * * *', run: (signal) => removeExpired(database, { at: clock.now(), signal }) },
    ...ofPlane,
  ]);
}

/** The audit's own upkeep. */
const auditJobs = (parts: TenantsOptions & { audit: PlatformAudit; refusals: Refusals }): Job[] => [
  { name: 'audit-chain', rule: '*/5 * * * * *', run: createAuditChaining(parts) },
  { name: 'audit-refusals', rule: '30 * * * * *', everywhere: true, run: () => parts.refusals.flush() },
  { name: 'audit-repeats', rule: '10 */5 * * * *', run: createTellRepeats(parts) },
  // Asked every hour, so that a day on which no process ran at one hour has its heads at another.
  { name: 'audit-heads', rule: '50 7 * * * *', run: createLogHeads(parts) },
];

/** The one upkeep that asks everybody, once a day: for what no write has told of. */
const lookForWork = (parts: TenantsOptions): Job => ({
  name: 'look-for-work',
  rule: '15 20 3 * * *',
  run: (signal) =>
    eachTenant(parts, {
      job: 'look-for-work',
      signal,
      step: (plane) => plane.lookForWork({}).then(() => ({ more: false })),
    }),
});

/**
 * Jobs of one name are one, by the rule of the first: what is done for the platform and for contract data takes one
 * lease.
 */
function joined(jobs: readonly Job[]): readonly Job[] {
  const byName = new Map<string, Job>();
  for (const job of jobs) {
    const first = byName.get(job.name);
    byName.set(job.name, first ? { ...first, run: (signal) => first.run(signal).then(() => job.run(signal)) } : job);
  }
  return [...byName.values()];
}

/** Only where there is a mail server. */
function mailJob(
  { smtpUrl, mailFrom, keyRing, productName }: Config,
  { database, clock, log }: { database: Database; clock: Clock; log: Log },
): Job[] {
  if (smtpUrl === undefined || mailFrom === undefined) return [];
  const delivery = createMailDelivery({
    database,
    clock,
    keyRing,
    log,
    send: createSmtp({ url: smtpUrl, from: mailFrom }),
    productName,
  });
  return [{ name: 'mail', rule: '*/2 * * * * *', isDue: delivery.isDue, run: (signal) => delivery.deliverDue(signal) }];
}
