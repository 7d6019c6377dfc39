import { randomBytes } from 'node:crypto';
import type { Account, ApiAnswer, ApiRequest, StoredEvent } from './calendar-provider.js';

/**
 * The part of the Google Calendar API v3 that events need, by its reference at
 * https://developers.google.com/workspace/calendar/api/v3/reference/events (insert, update, delete, list) and
 * https://developers.google.com/workspace/calendar/api/guides/errors: ids chosen by the client are in base32hex with 5
 * to 1024 characters; a second insert with an id is 409, also of a deleted event, which an update restores; deleting
 * twice is 410; lists have pages and leave out deleted events.
 */
export const googleApi = {
  asksForOfflineAccess: (query: URLSearchParams): boolean =>
    query.get('access_type') === 'offline' && query.get('scope') === 'https://www.googleapis.com/auth/calendar.events',

  answer: ({ method, path, query, body }: ApiRequest, account: Account): ApiAnswer => {
    const [, id] = /^\/calendars\/primary\/events(?:\/([^/]+))?$/.exec(path) ?? [path, 'other'];
    if (!path.startsWith('/calendars/primary/events')) return error(404, 'notFound');
    if (id === undefined) return method === 'POST' ? insert(account, body) : list(account, query);
    const known = account.events.get(id);
    if (!known) return error(404, 'notFound');
    if (method === 'PUT') {
      const event = eventOf(id, body);
      account.events.set(id, event);
      return { status: 200, body: resourceOf(event) };
    }
    if (method !== 'DELETE') return error(405, 'httpMethodNotAllowed');
    if (known.deleted) return error(410, 'deleted');
    account.events.set(id, { ...known, deleted: true });
    return { status: 204 };
  },
};

function insert(account: Account, body: ApiRequest['body']): ApiAnswer {
  const { id } = body;
  if (typeof id !== 'string' || !/^[a-v0-9]{5,1024}$/.test(id)) return error(400, 'invalid');
  if (account.events.has(id)) return error(409, 'duplicate');
  const event = eventOf(id, body);
  account.events.set(id, event);
  return { status: 200, body: resourceOf(event) };
}

/** Pages of two events, so that few are enough for several pages. */
function list(account: Account, query: URLSearchParams): ApiAnswer {
  const [key, value] = (query.get('privateExtendedProperty') ?? '=').split('=');
  const found = [...account.events.values()].filter(
    (event) => !event.deleted && (key === '' || (key === 'duebookTenant' && event.tenantId === value)),
  );
  const from = Number(query.get('pageToken') ?? 0);
  return {
    status: 200,
    body: {
      kind: 'calendar#events',
      summary: account.name,
      items: found.slice(from, from + PAGE).map(resourceOf),
      ...(from + PAGE < found.length ? { nextPageToken: String(from + PAGE) } : {}),
    },
  };
}

const PAGE = 2;

const error = (status: number, reason: string): ApiAnswer => ({
  status,
  body: { error: { errors: [{ domain: 'calendar', reason, message: reason }], code: status, message: reason } },
});

interface Written {
  readonly summary?: string;
  readonly description?: string;
  readonly start?: { readonly date?: string };
  readonly end?: { readonly date?: string };
  readonly transparency?: string;
  readonly reminders?: { readonly useDefault?: boolean };
  readonly extendedProperties?: { readonly private?: Readonly<Record<string, string>> };
}

function eventOf(id: string, body: ApiRequest['body']): StoredEvent {
  const { summary, description, start, end, transparency, reminders, extendedProperties } = body as Written;
  return {
    id,
    title: summary ?? '',
    description: description ?? '',
    from: start?.date ?? '',
    to: end?.date ?? '',
    disturbs: transparency !== 'transparent' || reminders?.useDefault !== false,
    tenantId: extendedProperties?.private?.['duebookTenant'],
    lineId: extendedProperties?.private?.['duebookLine'],
    deleted: false,
    etag: `"${randomBytes(8).toString('hex')}"`,
  };
}

const resourceOf = ({ id, title, tenantId, lineId, etag }: StoredEvent) => ({
  kind: 'calendar#event',
  id,
  etag,
  status: 'confirmed',
  summary: title,
  extendedProperties: { private: { duebookTenant: tenantId, duebookLine: lineId } },
});
