import type { Clock } from '../data-plane-agent/base/clock.js';
import type { Database } from '../data-plane-agent/base/database/database.js';
import type { Log } from '../data-plane-agent/base/log.js';
import { createAuditChaining } from './audit/chaining.js';
import type { PlatformAudit } from './audit/platform-audit.js';
import type { Config } from './config.js';
import type { DataPlanes } from './data-planes/for-tenant.js';
import { createMailDelivery } from './notifications/delivery.js';
import { createSmtp } from './notifications/smtp.js';
import type { Job } from './schedules.js';
import { removeExpired } from './store/expiry.js';

/** What the server does by itself. */
export function jobsOf(config: Config, parts: { database: Database; clock: Clock; log: Log; audit: PlatformAudit; dataPlanes: DataPlanes }): readonly Job[] {
  const { database, clock } = parts;
  const chaining = createAuditChaining(parts);
  return [...mailJob(config, parts), { name: 'audit-chain', rule: '*/5 * * * * *', run: (signal) => chaining.run(signal) }, { name: 'expiry', rule: '40 */10 * * * *', run: (signal) => removeExpired(database, { at: clock.now(), signal }) }];
}

/** Only where there is a mail server. */
function mailJob({ smtpUrl, mailFrom, keyRing, productName }: Config, { database, clock, log }: { database: Database; clock: Clock; log: Log }): Job[] {
  if (smtpUrl === undefined || mailFrom === undefined) return [];
  const delivery = createMailDelivery({ database, clock, keyRing, log, send: createSmtp({ url: smtpUrl, from: mailFrom }), productName });
  return [{ name: 'mail', rule: '*/2 * * * * *', isDue: delivery.isDue, run: (signal) => delivery.deliverDue(signal) }];
}
