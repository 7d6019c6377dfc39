import { isId } from '../data-plane-agent/base/ids.js';
import { isoOrNull } from '../data-plane-agent/base/instants.js';
import { bind } from '../data-plane-agent/plane/contract/data-plane.js';
import { MOST_MESSAGES, type ListedMessage } from '../data-plane-agent/plane/contract/records/outbox.js';
import type { MessageState } from '../data-plane-agent/plane/contract/vocabulary.js';
import type { Plane } from '../server/data-planes/plane.js';
import { systemCall } from '../server/data-planes/system-call.js';
import { createTendedMails, type ListedMail } from '../server/notifications/tended-mails.js';
import { createTenantLookup } from '../server/tenants/lookup.js';
import type { Cli } from './cli.js';
import { CommandError } from './errors.js';
import { cliActor, type Planes } from './installation.js';

/** A message of one of the queues, as `duebook outbox list` shows it. */
export interface OutboxEntry {
  readonly id: string;
  readonly queue: 'mail' | 'outbox';
  /** The slug of the organisation. */
  readonly tenant: string | null;
  readonly topic: string;
  /** The id of the channel; `null` for mails and for messages that go to the default channel. */
  readonly channel: string | null;
  readonly status: MessageState;
  readonly attempts: number;
  readonly createdAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly lastError: string | null;
}

/** `unknown`, `sending`, `ended` and `content_deleted` say why nothing was done. */
export interface OutboxResult {
  readonly id: string;
  readonly result: 'done' | 'unknown' | 'sending' | 'ended' | 'content_deleted';
}

/** The messages of both queues: the mails of the platform, and the outboxes of the data planes that it hosts. */
export interface CliOutbox {
  list(filter: { readonly statuses: readonly MessageState[]; readonly limit: number }): Promise<OutboxEntry[]>;
  tend(does: 'retry' | 'discard', ids: readonly string[]): Promise<OutboxResult[]>;
  /** Retries all messages of data planes that failed or expired. Failed mails cannot be retried. */
  retryFailed(): Promise<OutboxResult[]>;
}

/** Throws NOT_FOUND for an unknown organisation. */
export async function cliOutbox(
  { platform, tenant: hosted, dataPlanes }: Planes,
  { clock }: Cli,
  slug: string | undefined,
): Promise<CliOutbox> {
  const lookup = createTenantLookup({ database: platform });
  const only = slug === undefined ? undefined : await lookup.bySlug(slug);
  if (slug !== undefined && !only) throw new CommandError('NOT_FOUND', `there is no organisation ${slug}`);
  const tenants = only ? [only] : await lookup.all();
  const slugs = new Map(tenants.map((tenant) => [tenant.id, tenant.slug]));
  const mails = createTendedMails({ database: platform, clock });
  const actor = cliActor();
  const { OPERATIONS } = await import('./plane-parts.js');
  // Of agents, only that of an organisation that is named: one that is away would fail the command for all.
  const planes = (hosted || only ? tenants : []).map(({ id, slug: name, settings }) => ({
    tenant: name,
    plane: bind(dataPlanes.forTenant(id), systemCall({ tenantId: id, settings, actor, at: clock.now() }), {
      operations: OPERATIONS,
    }),
  }));

  const list: CliOutbox['list'] = async ({ statuses, limit }) => {
    const ofMails = statuses.filter((status) => status === 'queued' || status === 'failed');
    const found = (await mails.list({ tenantId: only?.id, statuses: ofMails, limit })).map((mail) =>
      mailEntry(mail, mail.tenantId === null ? null : (slugs.get(mail.tenantId) ?? null)),
    );
    for (const { tenant, plane } of planes) {
      if (found.length >= limit) break;
      const { messages } = await plane.listMessages({ states: [...statuses], limit: limit - found.length });
      found.push(...messages.map((message) => messageEntry(message, tenant)));
    }
    return found;
  };

  return {
    list,
    tend: async (does, ids) => {
      const results = new Map<string, OutboxResult['result']>();
      for (const id of ids) results.set(id, await mails[does]({ id, tenantId: only?.id }, actor));
      for (const { plane } of planes) {
        const left = ids.filter((id) => results.get(id) === 'unknown');
        for (const result of await inPlane(plane, does, left)) results.set(result.id, result.result);
      }
      return [...results].map(([id, result]) => ({ id, result }));
    },
    retryFailed: async () => {
      const results: OutboxResult[] = [];
      for (const { plane } of planes) {
        for (;;) {
          const { messages } = await plane.listMessages({ states: ['failed', 'expired'], limit: MOST_MESSAGES });
          if (messages.length === 0) break;
          results.push(
            ...(await inPlane(
              plane,
              'retry',
              messages.map(({ id }) => id),
            )),
          );
        }
      }
      return results;
    },
  };
}

async function inPlane(plane: Plane, does: 'retry' | 'discard', ids: readonly string[]): Promise<OutboxResult[]> {
  const results: OutboxResult[] = [];
  for (let start = 0; start < ids.length; start += MOST_MESSAGES) {
    const some = ids.slice(start, start + MOST_MESSAGES);
    const answer =
      does === 'retry' ? await plane.retryMessages({ ids: some }) : await plane.discardMessages({ ids: some });
    results.push(...answer.results);
  }
  return results;
}

const mailEntry = (mail: ListedMail, tenant: string | null): OutboxEntry => ({
  id: mail.id,
  queue: 'mail',
  tenant,
  topic: mail.template,
  channel: null,
  status: mail.status,
  attempts: mail.attempts,
  createdAt: isoOrNull(mail.createdAt),
  nextAttemptAt: mail.status === 'queued' ? isoOrNull(mail.nextAt) : null,
  lastError: mail.lastError,
});

const messageEntry = (message: ListedMessage, tenant: string): OutboxEntry => ({
  id: message.id,
  queue: 'outbox',
  tenant,
  topic: message.topic,
  channel: isId(message.lane) ? message.lane : null,
  status: message.state,
  attempts: message.attempts,
  createdAt: isoOrNull(message.createdAt),
  nextAttemptAt: message.state === 'queued' ? isoOrNull(message.dueAt) : null,
  lastError: message.error,
});
