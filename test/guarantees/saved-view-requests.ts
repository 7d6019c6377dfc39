import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Views that are visible only to the member who created them. */
export const OWN_VIEWS = ['PATCH /saved-views/:id', 'DELETE /saved-views/:id'] as const;

export const SAVED_VIEW_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'GET /saved-views/contracts': () => ({}),
  'POST /saved-views/contracts': (org) => ({ body: viewBody(org) }),
  'PATCH /saved-views/:id': async (org) => ({ params: { id: await savedView(org) }, body: { mode: 'board' } }),
  'DELETE /saved-views/:id': async (org) => ({ params: { id: await savedView(org) } }),
};

let made = 0;

const viewBody = ({ marker }: Organisation) => ({
  name: `${marker} ${++made}`,
  mode: 'table',
  groupBy: 'none',
  filters: { overdue: true, q: marker },
  sortKey: 'contractNo',
  visibleFields: ['contractNo', 'partyB'],
  cardFields: ['projectName'],
});

async function savedView(org: Organisation): Promise<string> {
  const { status, body, text } = await org.client.post<{ id: string }>('/saved-views/contracts', viewBody(org));
  if (status !== 201) throw new Error(`saving a view answered ${status}: ${text}`);
  return body.id;
}
