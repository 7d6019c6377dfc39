import type { Clock } from '../data-plane-agent/base/clock.js';
import type { Database } from '../data-plane-agent/base/database/database.js';
import type { Log } from '../data-plane-agent/base/log.js';
import type { OpenedFiles } from '../data-plane-agent/plane/files/open-services.js';
import { createAuditChaining } from './audit/chaining.js';
import { createLogHeads } from './audit/heads.js';
import type { PlatformAudit } from './audit/platform-audit.js';
import type { Refusals } from './audit/refusals.js';
import { createTellRepeats } from './audit/repeats.js';
import type { Config } from './config.js';
import { eachTenant, type TenantsOptions } from './data-planes/each-tenant.js';
import type { DataPlanes } from './data-planes/for-tenant.js';
import { createMailDelivery } from './notifications/delivery.js';
import { createSmtp } from './notifications/smtp.js';
import type { Job } from '../data-plane-agent/base/schedules.js';
import { removeExpired } from './store/expiry.js';

/** What the server does by itself. */
export function jobsOf(config: Config, parts: { database: Database; clock: Clock; log: Log; audit: PlatformAudit; refusals: Refusals; dataPlanes: DataPlanes; files: Pick<OpenedFiles, 'objects'> | undefined }): readonly Job[] {
  const { database, clock } = parts;
  return [...mailJob(config, parts), ...fileJobs(parts, parts.files), ...auditJobs(parts), { name: 'expiry', rule: '40 */10 * * * *', run: (signal) => removeExpired(database, { at: clock.now(), signal }) }];
}

/** The audit's own upkeep. */
function auditJobs(parts: TenantsOptions & { audit: PlatformAudit; refusals: Refusals }): Job[] {
  const chaining = createAuditChaining(parts);
  return [
    { name: 'audit-chain', rule: '*/5 * * * * *', run: (signal) => chaining.run(signal) },
    { name: 'audit-refusals', rule: '30 * * * * *', everywhere: true, run: () => parts.refusals.flush() },
    { name: 'audit-repeats', rule: '10 */5 * * * *', run: createTellRepeats(parts) },
    // Asked every hour, so that a day on which no process ran at one hour has its heads at another.
    { name: 'audit-heads', rule: '50 7 * * * *', run: createLogHeads(parts) },
  ];
}

/** Scans and readings that wait for their turn or were lost with their process, and what nobody will ask for any more. */
const fileJobs = (parts: TenantsOptions, files: Pick<OpenedFiles, 'objects'> | undefined): Job[] => [
  { name: 'file-scans', rule: '*/15 * * * * *', run: (signal) => eachTenant(parts, { job: 'file-scans', signal, step: (plane) => plane.scanFiles({}) }) },
  { name: 'documents', rule: '5,35 * * * * *', run: (signal) => eachTenant(parts, { job: 'documents', signal, step: (plane) => plane.readDocuments({}) }) },
  { name: 'file-sweep', rule: '20 15 * * * *', run: (signal) => eachTenant(parts, { job: 'file-sweep', signal, step: (plane) => plane.sweepFiles({ orphans: false }) }) },
  { name: 'file-orphans', rule: '20 45 2 * * *', run: (signal) => eachTenant(parts, { job: 'file-orphans', signal, step: (plane) => plane.sweepFiles({ orphans: true }) }).then(() => files?.objects.tidy()) },
];

/** Only where there is a mail server. */
function mailJob({ smtpUrl, mailFrom, keyRing, productName }: Config, { database, clock, log }: { database: Database; clock: Clock; log: Log }): Job[] {
  if (smtpUrl === undefined || mailFrom === undefined) return [];
  const delivery = createMailDelivery({ database, clock, keyRing, log, send: createSmtp({ url: smtpUrl, from: mailFrom }), productName });
  return [{ name: 'mail', rule: '*/2 * * * * *', isDue: delivery.isDue, run: (signal) => delivery.deliverDue(signal) }];
}
