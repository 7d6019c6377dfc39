import type { Step } from '../data-plane-agent/host/upkeep.js';
import type { HostedPlane } from '../data-plane-agent/host/open-plane.js';
import { createAuditChaining } from './audit/chaining.js';
import { createLogHeads } from './audit/heads.js';
import type { PlatformAudit } from './audit/platform-audit.js';
import type { Refusals } from './audit/refusals.js';
import { createRecordRepeats } from './audit/repeats.js';
import { eachTenant, workedFor, type TenantsOptions } from './data-planes/each-tenant.js';
import type { Links } from './data-planes/link/links.js';
import type { CalendarUpkeep } from './integrations/calendar/upkeep.js';
import type { ReminderSweeps } from './collections/sweeps.js';
import type { Delivering } from './compose/notifications.js';
import { MAIL_LANE } from './notifications/mail-queue.js';
import type { Job } from '../data-plane-agent/base/schedules.js';
import { removeExpired } from './store/expiry.js';

/** The scheduled jobs of the server and of a hosted data plane. */
export function jobsOf({
  hosted,
  ...parts
}: TenantsOptions &
  Delivering & {
    readonly audit: PlatformAudit;
    readonly refusals: Refusals;
    readonly hosted: HostedPlane | undefined;
    readonly calendar: CalendarUpkeep;
    readonly reminderSweeps: ReminderSweeps;
    readonly links: Pick<Links, 'jobs'> | undefined;
  }): readonly Job[] {
  const { database, clock, deliveries } = parts;
  const deliver: Step = (_plane, tenantId) => deliveries.start(tenantId).then(() => ({ more: false }));
  const ofPlane = hosted?.jobs({ tenants: workedFor(parts), deliver }) ?? [];
  return joined([
    ...mailJob(parts),
    ...auditJobs(parts),
    ...calendarJobs(parts.calendar),
    reminderJob(parts.reminderSweeps),
    lookForWork(parts),
    { name: 'expiry', rule: '40 */10 * * * *', run: (signal) => removeExpired(database, { at: clock.now(), signal }) },
    ...ofPlane,
    ...(parts.links?.jobs ?? []),
  ]);
}

/** The jobs of the audit. */
const auditJobs = (parts: TenantsOptions & { audit: PlatformAudit; refusals: Refusals }): Job[] => [
  { name: 'audit-chain', rule: '*/5 * * * * *', run: createAuditChaining(parts) },
  { name: 'audit-refusals', rule: '30 * * * * *', everywhere: true, run: () => parts.refusals.flush() },
  { name: 'audit-repeats', rule: '10 */5 * * * *', run: createRecordRepeats(parts) },
  // Runs every hour and writes the heads once a day, so that a day is covered even if no process runs at a certain
  // hour.
  { name: 'audit-heads', rule: '50 7 * * * *', run: createLogHeads(parts) },
];

/** Pushes once a day for each organisation, and continues what was interrupted. */
const calendarJobs = (calendar: CalendarUpkeep): Job[] => [
  { name: 'calendar', rule: '45 * * * * *', isDue: calendar.isPushDue, run: (signal) => calendar.pushDue(signal) },
  {
    name: 'calendar-revocations',
    rule: '*/15 * * * * *',
    isDue: calendar.isRevocationDue,
    run: (signal) => calendar.revokeDue(signal),
  },
];

const reminderJob = (sweeps: ReminderSweeps): Job => ({
  name: 'reminders',
  rule: '5 * * * * *',
  isDue: sweeps.isDue,
  run: (signal) => sweeps.run(signal),
});

/**
 * The only maintenance that calls every tenant's data plane, once a day: it finds due work that no write has enqueued.
 */
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
 * Merges jobs of the same name under the first one's schedule, so that the platform's and the data plane's part run
 * under one lease.
 */
function joined(jobs: readonly Job[]): readonly Job[] {
  const byName = new Map<string, Job>();
  for (const job of jobs) {
    const first = byName.get(job.name);
    byName.set(job.name, first ? { ...first, run: (signal) => first.run(signal).then(() => job.run(signal)) } : job);
  }
  return [...byName.values()];
}

/** Only if there is a mail server. */
const mailJob = ({ engine, mails }: Delivering): Job[] =>
  mails
    ? [
        {
          name: 'mail',
          rule: '*/2 * * * * *',
          isDue: mails.isDue,
          run: (signal) => engine.work(mails, [MAIL_LANE], signal),
        },
      ]
    : [];
