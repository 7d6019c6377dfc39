import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import { retryAt } from '../../data-plane-agent/base/retries.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { AuditStore } from '../store/audit.js';
import { MailStore, type MailRecord } from '../store/mail.js';
import type { Outcome, Queue, QueuedMessage } from './engine.js';
import { MAIL_SYSTEM, sealContext } from './outbox.js';
import { logResetNotSent, RESET_REMEDY } from './reset-not-sent.js';
import { isRefusedRecipient, smtpCodeOf, type SendMail } from './smtp.js';
import { renderMail } from './templates/index.js';

/** The mails of the platform database: invitations, password resets, codes. They have one lane, the mail server. */
export interface MailQueue extends Queue<QueuedMail> {
  /** Whether any mail is due. Called before taking a lease, which needs a write. */
  isDue(): Promise<boolean>;
}

interface QueuedMail extends QueuedMessage {
  readonly mail: MailRecord;
}

export const MAIL_LANE = 'mail';

/** An attempt of a crashed process is repeated after this time, which is longer than any attempt. */
const LEASE_MS = 5 * 60_000;
/** Candidates for a lease: other processes may be faster to get the first ones. */
const CANDIDATES = 8;

export function createMailQueue({
  database,
  clock,
  keyRing,
  log,
  send,
  productName,
}: {
  database: Database;
  clock: Clock;
  keyRing: KeyRing;
  log: Log;
  send: SendMail;
  productName: string;
}): MailQueue {
  const scope = { tenantId: null };
  const due = (limit: number) => database.read(scope, (tx) => new MailStore(tx).due({ at: clock.now(), limit }));

  return {
    name: 'mail',
    tenantId: null,
    isDue: async () => (await due(1)).length > 0,
    reserve: () => Promise.resolve(0),
    lease: async () => {
      for (;;) {
        const found = await due(CANDIDATES);
        if (found.length === 0) return undefined;
        for (const mail of found) {
          const { id, attempts, template } = mail;
          const at = clock.now();
          const leased = await database.write(scope, (tx) =>
            new MailStore(tx).claim({ id, attempts, nextAt: at + LEASE_MS, at }),
          );
          if (leased) return { id, topic: template, attempts: attempts + 1, mail };
        }
      }
    },
    attempt: async ({ mail }): Promise<Outcome> => {
      const { id, template, language, recipient: to, notAfter, valuesSealed } = mail;
      if (notAfter !== null && notAfter <= clock.now()) return { delivered: false, error: 'EXPIRED', isFinal: true };
      if (valuesSealed === null) return { delivered: false, error: 'NO_VALUES', isFinal: true };
      try {
        const values: unknown = JSON.parse(keyRing.openText(valuesSealed, sealContext(mail)));
        await send({
          id,
          to,
          date: new Date(clock.now()),
          ...renderMail({ template, language, values, productName }),
        });
        return { delivered: true };
      } catch (error) {
        return {
          delivered: false,
          error: smtpCodeOf(error),
          isFinal: isRefusedRecipient(error),
          cause: error,
          ...(template === 'password_reset' ? { fix: RESET_REMEDY } : {}),
        };
      }
    },
    // The audit records a final outcome, in the transaction that updates the row.
    settle: async ({ id, attempts, mail }, outcome) => {
      const settled = await database.write(scope, async (tx) => {
        const at = clock.now();
        const again =
          outcome.delivered || outcome.isFinal === true
            ? null
            : retryAt({ id, attempts }, { now: at, retryAfterMs: outcome.retryAfterMs ?? null });
        const status = outcome.delivered ? 'sent' : again === null ? 'failed' : 'queued';
        const lastError = outcome.delivered ? null : outcome.error;
        if (!(await new MailStore(tx).settle({ id, attempts, status, nextAt: again ?? at, lastError, at })))
          return 'lost';
        if (status === 'queued') return 'queued';
        await new AuditStore(tx).append({
          tenantId: mail.tenantId,
          at,
          actor: MAIL_SYSTEM,
          action: outcome.delivered ? 'mail_sent' : 'mail_failed',
          recordKind: mail.aboutKind ?? 'mail',
          recordId: mail.aboutId ?? id,
          changes: { template: mail.template, attempts, ...(outcome.delivered ? {} : { error: outcome.error }) },
        });
        return outcome.delivered ? 'delivered' : 'failed';
      });
      if (settled === 'failed' && mail.template === 'password_reset')
        logResetNotSent(log, {
          reason: `the mail could not be delivered (${outcome.delivered ? 'unknown' : outcome.error})`,
          tenantId: mail.tenantId,
          memberId: mail.aboutId,
        });
      return settled;
    },
  };
}
