import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import { AuditStore } from '../store/audit.js';
import { MailStore, type MailRecord } from '../store/mail.js';
import { MAIL_SYSTEM, sealContext } from './outbox.js';
import { logResetNotSent, RESET_REMEDY } from './reset-not-sent.js';
import { isRefusedRecipient, smtpCodeOf, type SendMail } from './smtp.js';
import { renderMail } from './templates/index.js';

/** Sends mail that is due. Safe to run in several processes at once: each attempt is claimed by one of them. */
export interface MailDelivery {
  /** Whether any mail is due. Called before taking a lease, which needs a write. */
  isDue(): Promise<boolean>;
  /**
   * Makes one attempt for each mail that is due, oldest first, and returns their number. After the signal is aborted no
   * further attempt is started.
   */
  deliverDue(signal?: AbortSignal): Promise<number>;
}

/** The delays after each failed attempt; when all are used, the mail fails. */
const RETRY_MS = [60_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000, 5 * 3_600_000, 8 * 3_600_000, 8 * 3_600_000];
/** An attempt of a crashed process is repeated after this time, which is longer than any attempt. */
const CLAIM_MS = 5 * 60_000;
const BATCH = 50;

export function createMailDelivery({
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
}): MailDelivery {
  const scope = { tenantId: null };

  const deliver = async (mail: MailRecord): Promise<void> => {
    const outcome = await attempt(mail);
    const isFinal = await settle({ ...mail, attempts: mail.attempts + 1 }, outcome);
    if (isFinal && outcome.status === 'failed' && mail.template === 'password_reset')
      logResetNotSent(log, {
        reason: `the mail could not be delivered (${outcome.error ?? 'unknown'})`,
        tenantId: mail.tenantId,
        memberId: mail.aboutId,
      });
  };

  const attempt = async (mail: MailRecord): Promise<Outcome> => {
    if (mail.notAfter !== null && mail.notAfter <= clock.now()) return { status: 'failed', error: 'EXPIRED' };
    if (mail.valuesSealed === null) return { status: 'failed', error: 'NO_VALUES' };
    try {
      const values: unknown = JSON.parse(keyRing.openText(mail.valuesSealed, sealContext(mail)));
      const text = renderMail({ template: mail.template, language: mail.language, values, productName });
      await send({ id: mail.id, to: mail.recipient, date: new Date(clock.now()), ...text });
      return { status: 'sent', error: null };
    } catch (error) {
      const { id, template, attempts } = mail;
      const fix = template === 'password_reset' ? { fix: RESET_REMEDY } : {};
      log.warn({ err: error, mail: id, template, attempt: attempts + 1, ...fix }, 'mail not sent');
      return {
        status: isRefusedRecipient(error) || mail.attempts >= RETRY_MS.length ? 'failed' : 'queued',
        error: smtpCodeOf(error),
      };
    }
  };

  /** Records a final outcome in the audit, in the transaction that updates the row. Returns whether it was final. */
  const settle = (mail: MailRecord, { status, error }: Outcome): Promise<boolean> =>
    database.write(scope, async (tx) => {
      const at = clock.now();
      const nextAt = status === 'queued' ? at + (RETRY_MS[mail.attempts - 1] ?? 0) : at;
      const settled = await new MailStore(tx).settle({
        id: mail.id,
        attempts: mail.attempts,
        status,
        nextAt,
        lastError: error,
        at,
      });
      if (!settled || status === 'queued') return false;
      await new AuditStore(tx).append({
        tenantId: mail.tenantId,
        at,
        actor: MAIL_SYSTEM,
        action: status === 'sent' ? 'mail_sent' : 'mail_failed',
        recordKind: mail.aboutKind ?? 'mail',
        recordId: mail.aboutId ?? mail.id,
        changes: { template: mail.template, attempts: mail.attempts, ...(error === null ? {} : { error }) },
      });
      return true;
    });

  const due = (limit: number) => database.read(scope, (tx) => new MailStore(tx).due({ at: clock.now(), limit }));

  return {
    isDue: async () => (await due(1)).length > 0,
    deliverDue: async (signal) => {
      let tried = 0;
      for (const mail of await due(BATCH)) {
        if (signal?.aborted) break;
        const at = clock.now();
        const claimed = await database.write(scope, (tx) =>
          new MailStore(tx).claim({ id: mail.id, attempts: mail.attempts, nextAt: at + CLAIM_MS, at }),
        );
        if (!claimed) continue;
        tried += 1;
        await deliver(mail);
      }
      return tried;
    },
  };
}

interface Outcome {
  readonly status: 'sent' | 'queued' | 'failed';
  readonly error: string | null;
}
