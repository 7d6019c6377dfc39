import { OPERATOR } from '../support/accounts.js';
import { beginCalendar, connectCalendar } from '../support/calendar.js';
import { sharedCalendar } from '../support/calendar-provider.js';
import { aContract, aLine } from '../support/samples.js';
import { memberOf, type Organisation } from './organisations.js';
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

/** Pushes to the calendar of an administrator who sees one contract, so that the answer does not depend on the others. */
export async function pushOfOneContract(org: Organisation): Promise<Sample> {
  const subject = await org.server.services.tenants.subjects.add(
    { tenantId: org.tenant.id, name: 'Quayside Leasing' },
    OPERATOR,
  );
  const payments = ['2026-04-30', '2026-05-31', '2026-06-30'].map((dueDate) => aLine({ dueDate }));
  await org.client.post('/contracts', aContract({ subjectId: subject.id, ownerId: org.owner.id, payments }));
  const { client } = await memberOf(org, { roleCode: 'admin', subjectScope: [subject.id] });
  await connectCalendar(client, await sharedCalendar());
  return {};
}
