import { addDays } from '../../../data-plane-agent/base/day.js';
import { isFault, type CalendarEvent, type CalendarProvider, type FoundEvent } from './provider.js';

/**
 * Google Calendar, by its documentation at https://developers.google.com: "Using OAuth 2.0 for Web Server Applications"
 * (identity/protocols/oauth2/web-server), and of the Calendar API v3 (workspace/calendar/api) "Events: insert",
 * "update", "delete" and "list", "Extended properties" and "Handle API errors".
 */
export const google: CalendarProvider = {
  id: 'google',
  authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  apiUrl: 'https://www.googleapis.com/calendar/v3',
  scopes: ['https://www.googleapis.com/auth/calendar.events'],
  // Without the consent page an account that consented before gets no refresh token.
  parameters: { access_type: 'offline', prompt: 'consent', include_granted_scopes: 'false' },
  revokeUrl: (tokenUrl) => new URL('revoke', tokenUrl).href,

  open: (api, tenantId) => ({
    // The title of a primary calendar is the address of its account, unless its owner has renamed it.
    account: async () => {
      const { summary } = await api.request({
        method: 'GET',
        path: EVENTS,
        query: { maxResults: '1', fields: 'summary' },
      });
      return typeof summary === 'string' ? summary : null;
    },

    create: async (event) => {
      const id = eventIdOf(event);
      try {
        await api.request({ method: 'POST', path: EVENTS, body: { id, ...bodyOf(event, tenantId) } });
      } catch (error) {
        // Of an earlier attempt, or deleted: a deleted event keeps its id, and setting its status restores it.
        if (!isFault(error, 'exists')) throw error;
        await api.request({ method: 'PUT', path: `${EVENTS}/${id}`, body: bodyOf(event, tenantId) });
      }
      return id;
    },

    update: async (eventId, event) => {
      await api.request({ method: 'PUT', path: pathOf(eventId), body: bodyOf(event, tenantId) });
    },

    remove: async (eventId) => {
      try {
        await api.request({ method: 'DELETE', path: pathOf(eventId) });
      } catch (error) {
        if (!isFault(error, 'gone')) throw error;
      }
    },

    list: async (page) => {
      const answer = await api.request({
        method: 'GET',
        path: EVENTS,
        query: {
          privateExtendedProperty: `duebookTenant=${tenantId}`,
          showDeleted: 'false',
          maxResults: '250',
          fields: 'nextPageToken,items(id,extendedProperties)',
          ...(page === null ? {} : { pageToken: page }),
        },
      });
      const { items, nextPageToken } = answer;
      return {
        events: Array.isArray(items) ? items.flatMap(foundEvent) : [],
        next: typeof nextPageToken === 'string' ? nextPageToken : null,
      };
    },
  }),
};

const EVENTS = '/calendars/primary/events';

const pathOf = (eventId: string): string => `${EVENTS}/${encodeURIComponent(eventId)}`;

/** Ids chosen by clients are in base32hex: lower-case letters from a to v and digits. */
const eventIdOf = ({ lineId }: CalendarEvent): string => `duebook${lineId.replaceAll('-', '')}`;

/** The end of an all-day event is the day after it. Nobody is notified by the calendar, and nobody appears busy. */
const bodyOf = ({ lineId, day, title, description }: CalendarEvent, tenantId: string) => ({
  summary: title,
  description,
  start: { date: day },
  end: { date: addDays(day, 1) },
  status: 'confirmed',
  transparency: 'transparent',
  reminders: { useDefault: false },
  extendedProperties: { private: { duebookTenant: tenantId, duebookLine: lineId } },
});

function foundEvent(item: unknown): FoundEvent[] {
  const { id, extendedProperties } = item as {
    id?: unknown;
    extendedProperties?: { private?: Readonly<Record<string, unknown>> };
  };
  const lineId = extendedProperties?.private?.['duebookLine'];
  return typeof id === 'string' && typeof lineId === 'string' ? [{ eventId: id, lineId }] : [];
}
