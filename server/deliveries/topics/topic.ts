import type { Database } from '../../../data-plane-agent/base/database/database.js';
import type { BoundPlane } from '../../../data-plane-agent/plane/contract/data-plane.js';
import type { OutboxMessage } from '../../../data-plane-agent/plane/contract/records/outbox.js';
import type { Operations } from '../../../data-plane-agent/plane/operations/index.js';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { MailOutbox } from '../../notifications/mail.js';
import type { Outcome, Settled } from '../../notifications/engine.js';
import type { NoticeSender } from '../../notifications/send.js';

/** How the messages of one topic of the plane's outbox are delivered. */
export interface Topic {
  attempt(message: OutboxMessage, at: TopicPlace): Promise<Outcome>;
  /** Records the outcome together with what the message is about; by default only with the message. */
  settle?(message: OutboxMessage, outcome: Outcome, at: TopicPlace): Promise<Settled>;
}

/** The organisation whose message is delivered. */
export interface TopicPlace {
  readonly tenantId: string;
  readonly plane: BoundPlane<Operations>;
}

/** The names that contract data refers to by id; `null` for an unknown id. */
export interface Names {
  subjectName(id: string): string | null;
  memberName(id: string): string | null;
}

export interface TopicParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly directory: { of(tenantId: string): Promise<Names> };
  readonly sender: NoticeSender;
  readonly mail: MailOutbox;
  /** The setting `CONTRACT_LINK`. */
  readonly contractLink: string | undefined;
}
