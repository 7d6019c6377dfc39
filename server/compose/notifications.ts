import type { Clock } from '../../data-plane-agent/base/clock.js';
import type { Log } from '../../data-plane-agent/base/log.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import type { Outbound } from '../../data-plane-agent/base/outbound.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Edition } from '../access/edition.js';
import type { MailAddress } from '../notifications/address.js';
import { createNoticeSender, type NoticeSender } from '../notifications/send.js';
import { createDeliveries, type Deliveries } from '../deliveries/deliveries.js';
import { createDeliveryEngine, type DeliveryEngine, type SettledAttempt } from '../notifications/engine.js';
import { createMailQueue, type MailQueue } from '../notifications/mail-queue.js';
import type { TopicParts } from '../deliveries/topics/topic.js';
import { createSmtp } from '../notifications/smtp.js';
import { systemPlanes } from '../data-planes/system-plane.js';
import type { DataPlanes } from '../data-planes/for-tenant.js';

/** The settings for notification channels. */
export interface SenderOptions {
  readonly edition?: Edition;
  readonly keyRing: KeyRing;
  readonly productName: string;
  readonly smtpUrl: string | undefined;
  readonly mailFrom: MailAddress | undefined;
}

export const composeSender = (
  { edition, keyRing, productName, smtpUrl, mailFrom }: SenderOptions,
  parts: { readonly clock: Clock; readonly log: Log; readonly outbound: Pick<Outbound, 'request'> },
): NoticeSender =>
  createNoticeSender({
    ...parts,
    keyRing,
    productName,
    // Contract data, which messages have, is not stored by the control plane of this edition.
    quotesReceivers: edition !== 'enterprise_hybrid',
    mail: smtpUrl !== undefined && mailFrom !== undefined ? createSmtp({ url: smtpUrl, from: mailFrom }) : undefined,
  });

/** Everything that is delivered: mails, and the messages of data planes. */
export interface Delivering {
  readonly engine: DeliveryEngine;
  readonly deliveries: Deliveries;
  /** Undefined without a mail server. */
  readonly mails: MailQueue | undefined;
}

export function composeDelivering(
  { keyRing, productName, smtpUrl, mailFrom, contractLink }: SenderOptions & Pick<TopicParts, 'contractLink'>,
  parts: Omit<TopicParts, 'contractLink'> & {
    readonly database: Database;
    readonly clock: Clock;
    readonly log: Log;
    readonly dataPlanes: DataPlanes;
    readonly onSettled: (attempt: SettledAttempt) => void;
  },
): Delivering {
  const { database, clock, log, onSettled } = parts;
  const engine = createDeliveryEngine({ log, onSettled });
  return {
    engine,
    deliveries: createDeliveries({ ...parts, contractLink, engine, planeOf: systemPlanes(parts, 'notifications') }),
    mails:
      smtpUrl !== undefined && mailFrom !== undefined
        ? createMailQueue({
            database,
            clock,
            keyRing,
            log,
            send: createSmtp({ url: smtpUrl, from: mailFrom }),
            productName,
          })
        : undefined,
  };
}
