import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { MailStore, type MailRecord } from '../store/mail.js';

/** A mail as operators see it: without its recipient and its content. */
export type ListedMail = Pick<
  MailRecord,
  'id' | 'tenantId' | 'template' | 'attempts' | 'nextAt' | 'createdAt' | 'lastError'
> & { readonly status: 'queued' | 'failed' };

/**
 * `content_deleted`: the mail failed, and its content, which may contain a secret, was deleted with that. `ended`: it was
 * sent, or is not sent at all.
 */
export type TendedMail = 'done' | 'unknown' | 'ended' | 'content_deleted';

/** A mail; with an organisation, only if it is one of it. */
interface MailPlace {
  readonly id: string;
  readonly tenantId?: string | undefined;
}

/** The waiting and failed mails of the platform, for operators. */
export interface TendedMails {
  list(filter: {
    readonly tenantId?: string | undefined;
    readonly statuses: readonly ListedMail['status'][];
    readonly limit: number;
  }): Promise<ListedMail[]>;
  /** Makes a waiting mail due at once. */
  retry(mail: MailPlace, actor: Actor): Promise<TendedMail>;
  /** Ends a waiting mail without sending it, and deletes its content. */
  discard(mail: MailPlace, actor: Actor): Promise<TendedMail>;
}

/** Recorded as the error of a mail that an operator discarded. */
const DISCARDED = 'DISCARDED';

export function createTendedMails({ database, clock }: { database: Database; clock: Clock }): TendedMails {
  const tend = ({ id, tenantId }: MailPlace, actor: Actor, does: 'retry' | 'discard'): Promise<TendedMail> =>
    database.write({ tenantId: null }, async (tx) => {
      const store = new MailStore(tx);
      const mail = await store.byId(id);
      if (!mail || mail.status === 'void' || (tenantId ?? mail.tenantId) !== mail.tenantId) return 'unknown';
      if (mail.status === 'failed') return does === 'retry' ? 'content_deleted' : 'ended';
      const at = clock.now();
      const changed =
        does === 'retry'
          ? await store.bringForward({ id, at })
          : await store.settle({
              id,
              attempts: mail.attempts,
              status: 'failed',
              nextAt: at,
              lastError: DISCARDED,
              at,
            });
      if (!changed) return 'ended';
      await new AuditStore(tx).append({
        tenantId: mail.tenantId,
        at,
        actor,
        action: does === 'retry' ? 'mail_retried' : 'mail_discarded',
        recordKind: mail.aboutKind ?? 'mail',
        recordId: mail.aboutId ?? id,
        changes: { template: mail.template },
      });
      return 'done';
    });
  return {
    list: (filter) => database.read({ tenantId: null }, (tx) => new MailStore(tx).listed(filter)),
    retry: (mail, actor) => tend(mail, actor, 'retry'),
    discard: (mail, actor) => tend(mail, actor, 'discard'),
  };
}
