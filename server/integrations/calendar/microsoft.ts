import { createHash } from 'node:crypto';
import { addDays } from '../../../data-plane-agent/base/day.js';
import { isFault, type CalendarEvent, type CalendarProvider, type FoundEvent } from './provider.js';

/**
 * Outlook calendars through Microsoft Graph, by its documentation at https://learn.microsoft.com: "Microsoft identity
 * platform and OAuth 2.0 authorization code flow" (entra/identity-platform/v2-oauth2-auth-code-flow), and of Graph
 * (graph/api) "Create event", "Update event", "Delete event", "List events", the "event resource type" (`transactionId`,
 * `isAllDay`), "singleValueLegacyExtendedProperty", "Get immutable identifiers for Outlook resources" and "Microsoft
 * Graph throttling guidance".
 */
export const microsoft: CalendarProvider = {
  id: 'microsoft',
  authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
  tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
  apiUrl: 'https://graph.microsoft.com/v1.0',
  scopes: ['offline_access', 'https://graph.microsoft.com/Calendars.ReadWrite'],
  parameters: { response_mode: 'query', prompt: 'select_account' },
  // Graph can only end all sign-ins of the account (`revokeSignInSessions`), not the consent to one application.
  revokeUrl: () => null,

  open: (api, tenantId) => ({
    account: async () => {
      const { owner } = await api.request({ method: 'GET', path: '/me/calendar', query: { $select: 'owner' } });
      const address = (owner as { address?: unknown } | null | undefined)?.address;
      return typeof address === 'string' ? address : null;
    },

    create: async (event, runId) => {
      const { id } = await api.request({
        method: 'POST',
        path: '/me/events',
        headers: IMMUTABLE_IDS,
        body: {
          ...bodyOf(event),
          transactionId: transactionId(runId, event.lineId),
          singleValueExtendedProperties: [
            { id: TENANT, value: tenantId },
            { id: LINE, value: event.lineId },
          ],
        },
      });
      if (typeof id !== 'string') throw new TypeError('the answer to a created event has no id');
      return id;
    },

    update: async (eventId, event) => {
      await api.request({ method: 'PATCH', path: pathOf(eventId), headers: IMMUTABLE_IDS, body: bodyOf(event) });
    },

    remove: async (eventId) => {
      try {
        await api.request({ method: 'DELETE', path: pathOf(eventId), headers: IMMUTABLE_IDS });
      } catch (error) {
        if (!isFault(error, 'gone')) throw error;
      }
    },

    list: async (page) => {
      const answer = await api.request({
        method: 'GET',
        path: '/me/events',
        headers: IMMUTABLE_IDS,
        query: page === null ? firstPage(tenantId) : Object.fromEntries(new URLSearchParams(page)),
      });
      const { value, '@odata.nextLink': link } = answer;
      return {
        events: Array.isArray(value) ? value.flatMap(foundEvent) : [],
        // Only the query of the link, so that no answer decides to which host the access token is sent.
        next: typeof link === 'string' && URL.canParse(link) ? new URL(link).search : null,
      };
    },
  }),
};

/** Ids that stay the same when an event is moved to another calendar. */
const IMMUTABLE_IDS = { Prefer: 'IdType="ImmutableId"' } as const;

/** Our namespace of extended properties. */
const NAMESPACE = 'String {5d6a0d0e-3f0c-4c55-9a39-3b5c2f0c7d11} Name';
const TENANT = `${NAMESPACE} DuebookTenant`;
const LINE = `${NAMESPACE} DuebookLine`;

const firstPage = (tenantId: string): Readonly<Record<string, string>> => ({
  $filter: `singleValueExtendedProperties/Any(ep: ep/id eq '${TENANT}' and ep/value eq '${tenantId}')`,
  $expand: `singleValueExtendedProperties($filter=id eq '${LINE}')`,
  $select: 'id',
  $top: '100',
});

const pathOf = (eventId: string): string => `/me/events/${encodeURIComponent(eventId)}`;

/**
 * Of an event that was created, Graph ignores another request with its `transactionId`. It has the run in it, so that an
 * event that was removed can be created again.
 */
function transactionId(runId: string, lineId: string): string {
  const hex = createHash('sha256').update(`${runId}/${lineId}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/** An all-day event begins and ends at midnight of one time zone. Nobody is reminded by Outlook, nor appears busy. */
const bodyOf = ({ day, title, description, timeZone }: CalendarEvent) => ({
  subject: title,
  body: { contentType: 'text', content: description },
  isAllDay: true,
  start: { dateTime: `${day}T00:00:00`, timeZone },
  end: { dateTime: `${addDays(day, 1)}T00:00:00`, timeZone },
  showAs: 'free',
  isReminderOn: false,
});

function foundEvent(item: unknown): FoundEvent[] {
  const { id, singleValueExtendedProperties } = item as { id?: unknown; singleValueExtendedProperties?: unknown };
  const properties = Array.isArray(singleValueExtendedProperties)
    ? (singleValueExtendedProperties as readonly { id?: unknown; value?: unknown }[])
    : [];
  const line = properties.find((property) => property.id === LINE)?.value;
  return typeof id === 'string' && typeof line === 'string' ? [{ eventId: id, lineId: line }] : [];
}
