import { beginCalendar, connectCalendar } from '../support/calendar.js';
import { sharedCalendar } from '../support/calendar-provider.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** The owner connects a calendar of the provider that every server of a run has. */
export const CALENDAR_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'GET /calendar-sync/status': () => ({}),
  'GET /calendar-sync/start': () => ({ query: { next: '/settings' }, headers: { Accept: 'application/json' } }),
  'GET /calendar-sync/callback': async ({ client }) => {
    const { back, cookie } = await beginCalendar(client, { provider: await sharedCalendar() });
    return { query: Object.fromEntries(back.searchParams), headers: { Cookie: cookie } };
  },
  'POST /calendar-sync/sync-open-payments': async ({ client }) => {
    const provider = await sharedCalendar();
    await connectCalendar(client, provider, provider.account ?? undefined);
    return {};
  },
};
