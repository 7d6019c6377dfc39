import { randomBytes } from 'node:crypto';
import type { Account, ApiAnswer, ApiRequest, StoredEvent } from './calendar-provider.js';

/**
 * The part of Microsoft Graph that events need, by its reference at https://learn.microsoft.com/graph/api: "Create
 * event" (a second request with the `transactionId` of an event creates none), "Update event", "Delete event", "List
 * events" with `@odata.nextLink`, "Get calendar", and "singleValueLegacyExtendedProperty" for the filter. All-day events
 * begin and end at midnight of one time zone; a time zone that Graph does not know is 400.
 */
export const microsoftApi = {
  asksForOfflineAccess: (query: URLSearchParams): boolean =>
    (query.get('scope') ?? '').split(' ').join() === 'offline_access,https://graph.microsoft.com/Calendars.ReadWrite',

  answer: ({ method, path, query, body, headers }: ApiRequest, account: Account): ApiAnswer => {
    if (path === '/me/calendar') return { status: 200, body: { owner: { name: 'Ann', address: account.name } } };
    if (headers['prefer'] !== 'IdType="ImmutableId"') return error(400, 'ids must be immutable');
    const [, id] = /^\/me\/events(?:\/([^/]+))?$/.exec(path) ?? [path, 'other'];
    if (id === undefined) return method === 'POST' ? create(account, body) : list(account, query);
    const known = account.events.get(id);
    if (!known || known.deleted) return error(404, 'ErrorItemNotFound');
    if (method === 'DELETE') {
      account.events.set(id, { ...known, deleted: true });
      return { status: 204 };
    }
    if (method !== 'PATCH') return error(405, 'UnsupportedMethod');
    return withEvent(body, known, (event) => {
      account.events.set(id, event);
      return { status: 200, body: { id } };
    });
  },
};

function create(account: Account, body: ApiRequest['body']): ApiAnswer {
  const { transactionId } = body;
  const same = [...account.events.values()].find((event) => event.transactionId === transactionId);
  if (same) return { status: 201, body: { id: same.id } };
  const blank = { id: `AAMk${randomBytes(12).toString('base64url')}=`, transactionId: String(transactionId) };
  return withEvent(body, blank, (event) => {
    account.events.set(event.id, event);
    return { status: 201, body: { id: event.id, '@odata.etag': event.etag } };
  });
}

/** Pages of two events, so that few are enough for several pages. */
function list(account: Account, query: URLSearchParams): ApiAnswer {
  const [, tenantId] = /ep\/value eq '([^']*)'/.exec(query.get('$filter') ?? '') ?? [];
  const [, expanded] = /\$filter=id eq '([^']*)'/.exec(query.get('$expand') ?? '') ?? [];
  if (tenantId === undefined || expanded === undefined) return error(400, 'BadRequest');
  const found = [...account.events.values()].filter((event) => !event.deleted && event.tenantId === tenantId);
  const from = Number(query.get('$skip') ?? 0);
  const more = new URLSearchParams(query);
  more.set('$skip', String(from + PAGE));
  return {
    status: 200,
    body: {
      value: found.slice(from, from + PAGE).map(({ id, lineId }) => ({
        id,
        singleValueExtendedProperties: [{ id: expanded, value: lineId }],
      })),
      // The host of the link is another one: tokens must not be sent to it.
      ...(from + PAGE < found.length
        ? { '@odata.nextLink': `https://graph.microsoft.example/v1.0/me/events?${more.toString()}` }
        : {}),
    },
  };
}

const PAGE = 2;

const error = (status: number, code: string): ApiAnswer => ({ status, body: { error: { code, message: code } } });

interface Written {
  readonly subject?: string;
  readonly body?: { readonly contentType?: string; readonly content?: string };
  readonly isAllDay?: boolean;
  readonly start?: { readonly dateTime: string; readonly timeZone: string };
  readonly end?: { readonly dateTime: string; readonly timeZone: string };
  readonly showAs?: string;
  readonly isReminderOn?: boolean;
  readonly singleValueExtendedProperties?: readonly { readonly id: string; readonly value: string }[];
}

function withEvent(
  body: ApiRequest['body'],
  known: Pick<StoredEvent, 'id'> & Partial<StoredEvent>,
  then: (event: StoredEvent) => ApiAnswer,
): ApiAnswer {
  const {
    subject,
    body: text,
    isAllDay,
    start,
    end,
    showAs,
    isReminderOn,
    singleValueExtendedProperties,
  } = body as Written;
  const midnight = /^\d{4}-\d\d-\d\dT00:00:00$/;
  if (
    !isAllDay ||
    !start ||
    !end ||
    start.timeZone !== end.timeZone ||
    !midnight.test(start.dateTime) ||
    !midnight.test(end.dateTime)
  )
    return error(400, 'ErrorPropertyValidationFailure');
  if (!/^(UTC|[A-Z][a-z]+\/\w+)$/.test(start.timeZone)) return error(400, 'TimeZoneNotSupportedException');
  const property = (name: string) =>
    singleValueExtendedProperties?.find(({ id }) => id.endsWith(` Name ${name}`))?.value;
  return then({
    ...known,
    title: subject ?? '',
    description: text?.contentType === 'text' ? (text.content ?? '') : '',
    from: start.dateTime.slice(0, 10),
    to: end.dateTime.slice(0, 10),
    disturbs: showAs !== 'free' || isReminderOn !== false,
    tenantId: property('DuebookTenant') ?? known.tenantId,
    lineId: property('DuebookLine') ?? known.lineId,
    deleted: false,
    etag: `W/"${randomBytes(8).toString('hex')}"`,
  });
}
