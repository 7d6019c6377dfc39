import { isoOrNull } from '../../data-plane-agent/base/instants.js';
import { asksForJson } from '../../data-plane-agent/base/http/request.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { actorOf } from '../access/actor.js';
import { edit } from '../access/permissions.js';
import { browserOf, FLOW_MS } from '../auth/oauth-flow.js';
import { endpoint } from '../http/endpoint.js';
import { redirect, reply } from '../http/reply.js';
import { CalendarConsent, CalendarStatusAnswer, CalendarSync } from '../integrations/calendar/calendar.schemas.js';

/** Providers send visible ASCII characters in URLs. */
const parameter = (max: number) => s.verbatim({ max, pattern: '^[\\x20-\\x7E]+$' });

export const calendarEndpoints = {
  getCalendarStatus: endpoint('GET /calendar-sync/status', {
    summary: 'Get the state of the calendar connection',
    description:
      'Whether the installation has a calendar provider, whether the organisation has connected a calendar, and how the last push ended. `connected` is false, and `lastError` says why, if the account has withdrawn its consent.',
    needs: edit('admin'),
    returns: CalendarStatusAnswer,
    fails: [],
    run: async ({ principal, services }) => {
      const { lastSyncAt, provider, ...status } = await services.calendar.status(principal.tenant.id);
      return { ...status, provider: provider as 'google' | 'microsoft' | null, lastSyncAt: isoOrNull(lastSyncAt) };
    },
  }),

  startCalendarSync: endpoint('GET /calendar-sync/start', {
    summary: "Connect the caller's calendar",
    description:
      "Redirects (302) to the provider's consent page, whose end is the callback. A client that prefers JSON (`Accept: application/json`) gets the address as `url` instead: a page that calls this with its token must do so, because the target of a redirect cannot be read by scripts, and then opens `url` with `location.assign`. " +
      'The answer also sets a cookie, which the callback requires: the page must send cookies (`credentials: "include"`) and be of the same site as the service, and the consent page must be opened in the same browser, within ten minutes. ' +
      'The callback redirects to `next` with `calendar=connected`, or with an `error`: `access_denied` (the user refused), `calendar_unreachable` or `calendar_failed`.\n\n' +
      'The calendar shows the open payment lines of the subject companies that the caller may see. Connecting again replaces the connection. A connection ends when the member who made it is disabled or no longer has `admin (edit)`.',
    needs: edit('admin'),
    query: s.object({
      next: s.optional(
        s.verbatim({
          max: 2_000,
          about:
            "A path that begins with a single `/`, or a URL of the service's own origin or one of `CORS_ORIGINS`. Defaults to `/`.",
        }),
      ),
    }),
    returns: CalendarConsent,
    sendsOn: true,
    fails: ['CALENDAR_NOT_CONFIGURED'],
    run: async ({ query, principal, request, services }) => {
      const { location, browser } = await services.calendar.start(principal, query.next ?? null);
      const cookie = { ...services.calendar.cookie, sameSite: 'Lax', value: browser, maxAgeMs: FLOW_MS } as const;
      return asksForJson(request)
        ? reply({ url: location }, { cookie })
        : reply({ url: location }, { status: 302, headers: { Location: location }, cookie });
    },
  }),

  finishCalendarSync: endpoint('GET /calendar-sync/callback', {
    summary: 'Finish connecting a calendar',
    description:
      'The provider redirects the browser here. A state can be used once, in the browser that started it, within ten minutes, and only while the session in which it was started is active.',
    needs: 'public',
    query: s.object({
      state: parameter(500),
      code: s.optional(parameter(8_000)),
      error: s.optional(parameter(200)),
    }),
    openQuery: true,
    returns: s.object({}),
    status: 302,
    fails: ['TOKEN_INVALID'],
    run: async ({ query: { state, code, error }, request, services }) => {
      const { calendar } = services;
      const location = await calendar.callback(
        {
          browser: browserOf(request, calendar.cookie),
          parameters: { state, ...(code && { code }), ...(error && { error }) },
        },
        request,
      );
      return redirect(location, { cookie: { ...calendar.cookie, sameSite: 'Lax', value: '', maxAgeMs: 0 } });
    },
  }),

  runCalendarSync: endpoint('POST /calendar-sync/sync-open-payments', {
    summary: 'Push open payment lines to the calendar',
    description:
      'Makes the connected calendar show one all-day event for each payment line with an outstanding amount, overdue ones included, on its due date: events are created and changed, and those of lines that are paid or deleted, or whose contract is deleted, are removed. Repeating it changes nothing. ' +
      'An event that was deleted in the calendar is created again only when its line changes.\n\n' +
      'Too many requests and problems of the provider are retried for up to 20 seconds. If that is not enough, the answer counts what was done so far and `complete` is false; a schedule continues within minutes, or within an hour if the provider had a problem. The same schedule pushes once a day, after the `reminderHour` of the organisation. ' +
      'A request that finds another run waits for it, for up to 20 seconds.',
    needs: edit('admin'),
    returns: CalendarSync,
    fails: ['CALENDAR_NOT_CONFIGURED', 'CALENDAR_NOT_CONNECTED', 'CALENDAR_SYNC_RUNNING'],
    run: async ({ principal, request, services }) => {
      const { errors, ...counts } = await services.calendar.sync(principal.tenant.id, actorOf(principal.user, request));
      return { ...counts, errors: [...errors] };
    },
  }),
};
