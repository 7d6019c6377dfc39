import { expect } from 'chai';
import { randomInt } from 'node:crypto';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import type { Answer, Client, FrameworkError } from '../support/http.js';
import { needsPostgres } from '../support/postgres.js';
import { aContract, aLine } from '../support/samples.js';
import { startServer, type TestServer } from '../support/server.js';
import { memberOf, organisation, type Organisation } from './organisations.js';
import { sampleOf, send, type Sample } from './requests.js';

const readers: readonly Endpoint[] = Object.values(ENDPOINTS).filter(
  ({ route, needs }) => route.startsWith('GET ') && needs !== 'public',
);

/** Where permitted callers see account numbers: the test proves that the search can find them. */
const SHOWING = [
  'GET /auth/me',
  'GET /contracts',
  'GET /contracts/:id',
  'GET /contracts/trash',
  'GET /payments',
  'GET /payments/:paymentId/receipts',
  'GET /tenant-admin/subjects',
];

/** Endpoints that show masked account numbers to all callers, because only those are stored there. */
const NEVER = ['GET /contracts/:id/history', 'GET /audit'];

interface Planted {
  readonly numbers: readonly string[];
  readonly id: string;
  readonly paymentId: string;
  readonly trashedId: string;
}

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`account numbers, on ${kind}`, function () {
    this.timeout(180_000);
    if (kind === 'postgres') needsPostgres();
    let server: TestServer;
    let org: Organisation;
    let planted: Planted;
    /** A member with every permission except that to see account numbers. */
    let blind: Client;
    before(async () => {
      server = await startServer({ database: kind });
      org = await organisation(server);
      planted = await plant(org);
      const sight = await org.client.patch('/tenant-admin/roles/admin/permissions', {
        permissions: { sensitive_data: 'none' },
      });
      expect(sight.status, sight.text).to.equal(200);
      blind = (await memberOf(org, { roleCode: 'admin' })).client;
    });
    after(() => server.stop());

    const seenIn = ({ text }: Answer<unknown>): string[] =>
      planted.numbers.filter((number) => text.includes(number.slice(0, -4)));

    for (const { route } of readers) {
      it(`${route} returns none to a role without sensitive_data`, async () => {
        const sample = await sampleOf(route, org);
        const answers: Answer<unknown>[] = [];
        for (const aimed of aim(route, sample, planted)) answers.push(await send(blind, route, aimed));
        expect(answers.flatMap(seenIn)).to.deep.equal([]);
        if (SHOWING.includes(route)) expect(answers.some(({ text }) => text.includes('****'))).to.equal(true);
      });
    }

    it('are unmasked for callers who may see them', async () => {
      for (const route of [...SHOWING, ...NEVER]) {
        const sample = await sampleOf(route, org);
        const answers: Answer<unknown>[] = [];
        for (const aimed of aim(route, sample, planted)) answers.push(await send(org.client, route, aimed));
        expect(answers.flatMap(seenIn).length > 0, route).to.equal(SHOWING.includes(route));
      }
    });

    it('are not returned by writes either, and sending back the masked form changes nothing', async () => {
      const { id, paymentId, trashedId } = planted;
      const seen = await blind.get<{ payeeAccount: string; payments: { receiptAccount: string }[] }>(
        `/contracts/${id}`,
      );
      const { payeeAccount, payments } = seen.body;
      const subjects = (await blind.get<{ id: string; defaultPayeeAccount: string | null }[]>('/tenant-admin/subjects'))
        .body;
      const subject = subjects.find(({ defaultPayeeAccount }) => defaultPayeeAccount !== null);
      const writes: readonly (readonly [string, () => Promise<Answer<unknown>>])[] = [
        [
          'contract',
          () =>
            blind.patch(`/contracts/${id}`, {
              remark: 'seen',
              payeeAccount,
              payments: (payments as object[]).map((line) =>
                pick(line, ['period', 'dueDate', 'amount', 'receiptAccount', 'method']),
              ),
            }),
        ],
        [
          'line',
          () => blind.patch(`/payments/${paymentId}`, { amount: 1_001, receiptAccount: payments[0]?.receiptAccount }),
        ],
        [
          'receipt',
          () =>
            blind.patch(`/payments/${paymentId}/receipt`, {
              payerName: 'Payer',
              receiptAccount: payments[0]?.receiptAccount,
            }),
        ],
        ['invoice', () => blind.patch(`/payments/${paymentId}/invoice`, { invoiceAmount: 3 })],
        ['restored', () => blind.post(`/contracts/${trashedId}/restore`)],
        [
          'subject',
          () =>
            blind.patch(`/tenant-admin/subjects/${subject?.id ?? ''}`, {
              name: 'Renamed',
              defaultPayeeAccount: subject?.defaultPayeeAccount,
            }),
        ],
        ['export', () => blind.post('/contracts/export', { profile: 'full' })],
      ];
      for (const [what, write] of writes) {
        const answer = await write();
        expect(answer.status, `${what}: ${answer.text}`).to.equal(200);
        expect(seenIn(answer), what).to.deep.equal([]);
      }
      const kept = [await org.client.get(`/contracts/${id}`), await org.client.get('/tenant-admin/subjects')].flatMap(
        seenIn,
      );
      expect(new Set(kept)).to.include.all.keys(...planted.numbers.slice(0, 3));
    });

    it('in masked form that do not match the stored one are refused, field by field', async () => {
      const contract = await blind.post<FrameworkError>(
        '/contracts',
        aContract({
          subjectId: org.subjectId,
          ownerId: org.owner.id,
          payeeAccount: '****1234',
          payments: [aLine(), aLine({ period: 'B', receiptAccount: '****' })],
        }),
      );
      expect([contract.status, contract.body.message]).to.deep.equal([
        400,
        [
          'payeeAccount is masked: send the whole account number, or leave it out',
          'payments[1].receiptAccount is masked: send the whole account number, or leave it out',
        ],
      ]);
      for (const [path, body, field] of [
        [`/contracts/${planted.id}`, { payeeAccount: '****0000' }, 'payeeAccount'],
        [`/payments/${planted.paymentId}/receipt`, { receiptAccount: '****0000' }, 'receiptAccount'],
        [`/tenant-admin/subjects/${org.subjectId}`, { defaultPayeeAccount: '****00' }, 'defaultPayeeAccount'],
      ] as const) {
        const refused = await blind.patch<FrameworkError>(path, body);
        expect([refused.status, String(refused.body.message).split(' ')[0]], refused.text).to.deep.equal([400, field]);
      }
      const added = await blind.post<FrameworkError>('/tenant-admin/subjects', {
        name: 'New',
        defaultPayeeAccount: '****1234',
      });
      expect(added.status, added.text).to.equal(400);
    });
  });
}

/** The request without its filters, directed at the records that have an account number. */
function aim(route: string, sample: Sample, { id, paymentId }: Planted): Sample[] {
  const params = {
    ...sample.params,
    ...(route.startsWith('GET /contracts/:id') ? { id } : {}),
    ...(sample.params?.['paymentId'] === undefined ? {} : { paymentId }),
  };
  const everything = EVERYTHING[route];
  return [
    { ...sample, params },
    { params, ...(everything ? { query: everything } : {}) },
  ];
}

/** Queries that exclude no records. */
const EVERYTHING: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'GET /contracts': { pageSize: '200' },
  'GET /contracts/trash': { pageSize: '200' },
  'GET /payments': { tab: 'all', includeDeleted: 'true', pageSize: '200' },
  'GET /contracts/export': { profile: 'full' },
  'GET /audit': { source: 'data', pageSize: '200' },
};

/**
 * Creates account numbers wherever one can be stored: on a subject company, a contract, a line and its receipts, before
 * and after a change.
 */
async function plant(org: Organisation): Promise<Planted> {
  const numbers = Array.from({ length: 7 }, () => `6222${Array.from({ length: 15 }, () => randomInt(10)).join('')}`);
  const [
    ofSubject = '',
    payee = '',
    receipt = '',
    formerPayee = '',
    formerReceipt = '',
    trashedPayee = '',
    trashedReceipt = '',
  ] = numbers;
  const ok = <T>({ status, body, text }: Answer<T>): T => {
    if (status > 201) throw new Error(text);
    return body;
  };
  ok(await org.client.patch(`/tenant-admin/subjects/${org.subjectId}`, { defaultPayeeAccount: ofSubject }));
  const enter = async (payeeAccount: string, receiptAccount: string) =>
    ok(
      await org.client.post<{ id: string; payments: { id: string }[] }>(
        '/contracts',
        aContract({
          subjectId: org.subjectId,
          ownerId: org.owner.id,
          payeeAccount,
          payments: [aLine({ receivedAmount: 10, receiptAccount })],
        }),
      ),
    );
  const made = await enter(formerPayee, formerReceipt);
  const paymentId = made.payments[0]?.id ?? '';
  ok(await org.client.patch(`/contracts/${made.id}`, { payeeAccount: payee }));
  ok(await org.client.patch(`/payments/${paymentId}/receipt`, { receivedAmount: 20, receiptAccount: receipt }));
  const trashed = await enter(trashedPayee, trashedReceipt);
  ok(await org.client.delete(`/contracts/${trashed.id}`));
  return { numbers, id: made.id, paymentId, trashedId: trashed.id };
}

const pick = (record: object, fields: readonly string[]) =>
  Object.fromEntries(Object.entries(record).filter(([field]) => fields.includes(field)));
