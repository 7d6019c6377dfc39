import { randomInt } from 'node:crypto';
import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Transaction } from '../../data-plane-agent/base/database/database.js';
import { derivedId, newId } from '../../data-plane-agent/base/ids.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Actor } from '../access/actor.js';
import { AuditStore } from '../store/audit.js';
import { MailStore, type MailRecord } from '../store/mail.js';
import type { MailOutbox } from './mail.js';

/**
 * Stores mail as rows that commit or roll back with the change that they report. `configured`: a mail server is set.
 */
export function createMailOutbox({
  clock,
  keyRing,
  configured,
}: {
  clock: Clock;
  keyRing: KeyRing;
  configured: boolean;
}): MailOutbox {
  const put = async (
    tx: Transaction,
    mail: Pick<
      MailRecord,
      'tenantId' | 'template' | 'language' | 'recipient' | 'aboutKind' | 'aboutId' | 'status' | 'notAfter'
    > & { readonly id?: string },
    values: object,
  ): Promise<void> => {
    const { id = newId() } = mail;
    const at = clock.now();
    // Sealed even if it is not stored, so that both cases take the same time.
    const sealed = keyRing.seal(JSON.stringify(values), sealContext({ tenantId: mail.tenantId, id }));
    const inserted = await new MailStore(tx).insert({
      ...mail,
      id,
      valuesSealed: mail.status === 'queued' ? sealed : null,
      attempts: 0,
      nextAt: at,
      lastError: null,
      createdAt: at,
    });
    if (configured || !inserted) return;
    await new AuditStore(tx).append({
      tenantId: mail.tenantId,
      at,
      actor: MAIL_SYSTEM,
      action: 'mail_not_sent',
      recordKind: mail.aboutKind ?? 'mail',
      recordId: mail.aboutId ?? id,
      changes: { template: mail.template, reason: 'no mail server is configured' },
    });
  };

  return {
    configured,
    enqueue: (tx, { tenantId, to, template, values, language, about, notAfter, id }) =>
      put(
        tx,
        {
          tenantId,
          template,
          language,
          recipient: to,
          aboutKind: about?.kind ?? null,
          aboutId: about?.id ?? null,
          status: configured ? 'queued' : 'not_sent',
          notAfter: notAfter ?? null,
          ...(id === undefined ? {} : { id }),
        },
        values,
      ),
    enqueuePlaceholder: (tx, { template, values, notAfter }) =>
      put(
        tx,
        {
          id: derivedId(NOBODY, String(randomInt(PLACES))),
          tenantId: null,
          template,
          language: '',
          recipient: '',
          aboutKind: null,
          aboutId: null,
          status: 'void',
          notAfter: notAfter ?? null,
        },
        values,
      ),
    withdraw: async (tx, { tenantId, template, about }) =>
      void (await new MailStore(tx).withdraw({ tenantId, template, aboutKind: about.kind, aboutId: about.id })),
  };
}

/**
 * Placeholder mail overwrites earlier placeholders: requests for accounts that do not exist create at most this many
 * rows.
 */
const NOBODY = '00000000-0000-0000-0000-000000000000';
const PLACES = 4_096;

/** The context that a mail's values are sealed with. */
export const sealContext = ({ tenantId, id }: Pick<MailRecord, 'tenantId' | 'id'>): string =>
  `mail_outbox.values_sealed.${tenantId ?? ''}.${id}`;

/** The actor of mail delivery in the audit. */
export const MAIL_SYSTEM: Actor = { kind: 'system', id: null, name: 'mail', ip: null, requestId: 'mail-delivery' };
