import { expect } from 'chai';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { newId } from '../../data-plane-agent/base/ids.js';
import { ALL_RIGHTS } from '../../data-plane-agent/plane/contract/call.js';
import type { AuditPage } from '../../data-plane-agent/plane/contract/records/audit.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { OPERATOR, makeMember, makeTenant, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { aCall } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer, startServer, type TestServer } from '../support/server.js';
import { rowsOf } from '../support/sheet.js';

const NOT_FOUND: FrameworkError = { statusCode: 404, message: 'Not Found', error: 'Not Found' };
const SUMMARY =
  'archiveCode,contractNo,projectName,type,typeCode,subjectName,partyA,partyB,totalAmount,currencyCode,receivedAmount,outstandingAmount,overdueAmount,paymentStatus,nextDueDate,status,workflowStage,lifecycleStageCode,signDate,startDate,endDate,ownerName';
const FULL =
  'archiveCode,contractNo,projectName,type,typeCode,subjectId,subjectName,partyA,partyB,equipmentName,equipmentModel,quantity,unitPrice,totalAmount,currencyCode,paymentMethod,payeeAccount,payeeBank,deposit,periodicRent,paymentCycle,signDate,startDate,endDate,invoicePoints,' +
  'contractAttachment,status,statusCode,ownerId,ownerEmail,ownerSuperiorId,ownerSuperiorEmail,remark,workflowStage,lifecycleTemplateId,lifecycleTemplateCode,lifecycleStageCode,workflowAllowedRoles,terms,extraNotes,' +
  'line.period,line.dueDate,line.amount,line.currencyCode,line.receivedAmount,line.receivedDate,line.method,line.payerName,line.receiptAccount,line.bankSerialNo,line.reconciliationStatus,line.reconciliationNote,line.invoiceAmount,line.invoiceDate,line.invoiceNo,line.invoiceAttachment,line.proof';

interface Events {
  readonly items: readonly { readonly changes: readonly { readonly field: string; readonly after: unknown }[] }[];
}
const exportsOf = async (client: Client): Promise<Record<string, unknown>[]> => {
  const { body, text, status } = await client.get<AuditPage & Events>('/audit', {
    query: { source: 'data', action: 'recordExport', pageSize: 200 },
  });
  expect(status, text).to.equal(200);
  return body.items.map(({ changes }) => Object.fromEntries(changes.map(({ field, after }) => [field, after])));
};

describe('exports over HTTP', () => {
  forEachServer(
    (server) => {
      let made: MadeTenant;
      let owner: Client;
      before('a tenant with its owner signed in', async () => {
        made = await makeTenant(server().services);
        owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
      });
      const enter = async (
        changes: Partial<ContractInput> = {},
        client = owner,
        of = made,
      ): Promise<ContractDetail> => {
        const { status, body, text } = await client.post<ContractDetail>(
          '/contracts',
          aContract({ subjectId: of.subjectId, ownerId: of.owner.id, ...changes }),
        );
        expect(status, text).to.equal(201);
        return body;
      };
      const signedIn = async (roleCode: string, subjectScope: readonly string[] | null = null): Promise<Client> =>
        (
          await signIn(server().client, {
            tenant: made.tenant,
            member: await makeMember(server().services, made, { roleCode, subjectScope }),
          })
        ).client;

      it('have a fixed byte content', async () => {
        const one = await makeTenant(server().services, { slug: `golden-${newId().slice(-12)}` });
        const client = (await signIn(server().client, { tenant: one.tenant, member: one.owner })).client;
        const first = await enter(
          {
            archiveCode: 'AR-A',
            contractNo: '-5',
            projectName: '=HYPERLINK("http://x")',
            partyA: 'Kai, Pier & Söhne',
            partyB: '上海"远东"',
            remark: 'two\nlines',
            unitPrice: 1_234.5,
            deposit: 0.1,
            payeeAccount: '6222 0000',
            signDate: '2026-01-02',
            invoicePoints: 13,
            workflowAllowedRoles: ['manager', 'legal'],
            terms: [
              { kind: 'deposit', title: '定金', date: '2026-02-01', note: 'a "quote"' },
              { kind: 'other', title: 'T', note: '=x' },
            ],
            extraNotes: [{ label: '＝gate', value: '4' }],
            payments: [
              aLine({
                period: '@one',
                dueDate: '2020-01-31',
                amount: 0.3,
                receivedAmount: 0.1,
                receivedDate: '2026-01-05',
                payerName: '＋payer',
                bankSerialNo: "'-77",
              }),
              aLine({ period: 'two', amount: 2_468.7 }),
            ],
          },
          client,
          one,
        );
        const second = await enter(
          {
            archiveCode: 'AR-B',
            contractNo: 'C-B',
            projectName: 'P',
            currencyCode: 'JPY',
            quantity: 1,
            unitPrice: 700,
          },
          client,
          one,
        );
        const query = { sort: 'archiveCode' };
        const subject = `Org ${one.tenant.slug}`;
        const summary = await client.get('/contracts/export', { query });
        expect([
          summary.status,
          summary.headers.get('content-type'),
          summary.headers.get('content-disposition'),
        ]).to.deep.equal([200, 'text/csv; charset=utf-8', 'attachment; filename="contracts-summary-2026-03-15.csv"']);
        const bytes = Buffer.from(
          await (
            await fetch(`${client.base}/contracts/export?sort=archiveCode`, {
              headers: {
                Authorization: `Bearer ${(await signIn(server().client, { tenant: one.tenant, member: one.owner })).result.accessToken}`,
              },
            })
          ).arrayBuffer(),
        );
        expect(bytes.toString('utf8')).to.equal(
          `\uFEFF${SUMMARY}\r\n` +
            `AR-A,'-5,"'=HYPERLINK(""http://x"")",sale,,${subject},"Kai, Pier & Söhne","上海""远东""",2469,CNY,0.1,2468.9,0.2,partial,2020-01-31,in_progress,draft,draft,2026-01-02,2026-01-01,2026-12-31,Olive Owner\r\n` +
            `AR-B,C-B,P,sale,,${subject},Harbour Logistics Ltd,上海远东机械有限公司,700,JPY,0,0,0,unpaid,,in_progress,draft,draft,,2026-01-01,2026-12-31,Olive Owner\r\n`,
        );
        const full = await client.get('/contracts/export', { query: { ...query, profile: 'full' } });
        expect(full.headers.get('content-disposition')).to.equal(
          'attachment; filename="contracts-full-2026-03-15.csv"',
        );
        const ids = [one.subjectId, subject] as const;
        const people = `${one.owner.id},owner@${one.tenant.slug}.test,,`;
        const contractA =
          `AR-A,'-5,"'=HYPERLINK(""http://x"")",sale,,${ids.join(',')},"Kai, Pier & Söhne","上海""远东""",Crawler crane,QUY-80,2,1234.5,2469,CNY,bank transfer,6222 0000,,0.1,,,2026-01-02,2026-01-01,2026-12-31,13,,in_progress,,${people},"two\nlines",draft,${first.lifecycleTemplateId},standard,draft,` +
          `"[""manager"",""legal""]","[{""kind"":""deposit"",""title"":""定金"",""date"":""2026-02-01"",""note"":""a \\""quote\\""""},{""kind"":""other"",""title"":""T"",""note"":""=x""}]","[{""label"":""＝gate"",""value"":""4""}]",`;
        expect(full.text).to.equal(
          `${FULL}\r\n` +
            `${contractA}'@one,2020-01-31,0.3,CNY,0.1,2026-01-05,,'＋payer,,''-77,pending,,,,,,\r\n` +
            `${contractA}two,2026-04-30,2468.7,CNY,0,,,,,,pending,,,,,,\r\n` +
            `AR-B,C-B,P,sale,,${ids.join(',')},Harbour Logistics Ltd,上海远东机械有限公司,Crawler crane,QUY-80,1,700,700,JPY,bank transfer,,,,,,,2026-01-01,2026-12-31,,,in_progress,,${people},,draft,${second.lifecycleTemplateId},standard,draft,,,,,,,,,,,,,,,,,,,,\r\n`,
        );
      });

      it('answer the same by GET and by POST', async () => {
        const [a, b] = [
          await enter({ projectName: 'Same' }),
          await enter({ projectName: 'Same', payments: [aLine({ dueDate: '2020-01-01' })] }),
        ];
        const ids = [a.id, b.id, newId()];
        for (const filter of [
          { profile: 'full', q: 'same', sort: 'contractNo', order: 'desc' },
          { ids, overdue: true },
          { page: 7, pageSize: 1, ids },
          {},
        ] as Record<string, string>[]) {
          const [byAddress, byBody] = [
            await owner.get('/contracts/export', { query: filter }),
            await owner.post('/contracts/export', filter),
          ];
          expect([byAddress.status, byBody.status]).to.deep.equal([200, 200]);
          expect(byBody.text).to.equal(byAddress.text);
          expect(byBody.headers.get('content-disposition')).to.equal(byAddress.headers.get('content-disposition'));
        }
        const repeated = await owner.get('/contracts/export', { query: `ids=${a.id}&ids=${b.id}` });
        expect(repeated.text.split('\r\n')).to.have.length(4);
        expect((await owner.post('/contracts/export')).text).to.equal((await owner.get('/contracts/export')).text);
      });

      it('refuse malformed requests, and unknown columns and ids', async () => {
        const other = await makeTenant(server().services);
        for (const [query, message] of [
          ['profile=everything', 'profile must be one of summary, full'],
          ['surprise=1', 'surprise is not a known parameter'],
          ['sort=colour', /^sort must be one of /],
          ['order=up', 'order must be one of asc, desc'],
          ['pageSize=201', 'pageSize must be <= 200'],
          [`ids=${Array.from({ length: 10_001 }, () => 'x').join(',')}`, /^ids must have at most 10000/],
        ] as const) {
          const { status, body } = await owner.get<FrameworkError>('/contracts/export', { query });
          expect([status, body.message]).to.satisfy(
            ([code, [said]]: [number, string[]]) =>
              code === 400 && (typeof message === 'string' ? said === message : message.test(said ?? '')),
            JSON.stringify(body),
          );
        }
        for (const query of [
          { ids: 'no-id' },
          { subjectId: other.subjectId },
          { subjectId: newId() },
          { ownerId: 'x' },
        ])
          expect(await owner.get('/contracts/export', { query })).to.deep.include({ status: 404, body: NOT_FOUND });
        for (const [body, field] of [
          [{ subjectId: other.subjectId }, 'subjectId'],
          [{ subjectId: 'x' }, 'subjectId'],
          [{ ownerId: 'x' }, 'ownerId'],
          [{ ownerId: other.owner.id }, 'ownerId'],
        ] as const) {
          const refused = await owner.post<DomainError>('/contracts/export', body);
          expect([refused.status, refused.body.error.code, refused.body.error.details['field']]).to.deep.equal([
            422,
            'REFERENCE_INVALID',
            field,
          ]);
          expect(refused.headers.get('content-disposition')).to.equal(null);
        }
        expect(await owner.post('/contracts/export', { ids: [newId(), 'no-id'] })).to.deep.include({
          status: 200,
          text: `${SUMMARY}\r\n`,
        });
        const bad = await owner.post<FrameworkError>('/contracts/export', { page: '2', ids: 'x', profile: null });
        expect([bad.status, bad.body.message]).to.deep.equal([
          400,
          ['page must be a whole number', 'ids must be a list'],
        ]);
      });

      it('contain the rows and account numbers that the caller may see', async () => {
        const south = (
          await server().services.tenants.subjects.add({ tenantId: made.tenant.id, name: 'South' }, OPERATOR)
        ).id;
        const contract = await enter({ subjectId: south, payeeAccount: '6222000011112222' });
        await enter({ subjectId: south, payments: [aLine()] });
        const finance = await signedIn('finance', [south]);
        const rows = rowsOf(`\uFEFF${(await finance.get('/contracts/export', { query: { profile: 'full' } })).text}`);
        expect(rows).to.have.length(2);
        expect(rows.find(({ contractNo }) => contractNo === contract.contractNo)).to.include({
          payeeAccount: '6222000011112222',
          subjectName: 'South',
        });
        const outOfScope = await owner.patch('/tenant-admin/roles/manager/permissions', {
          permissions: { sensitive_data: 'none' },
        });
        expect(outOfScope.status, outOfScope.text).to.equal(200);
        const manager = await signedIn('manager', [south]);
        expect(
          rowsOf(
            `\uFEFF${(await manager.get('/contracts/export', { query: { profile: 'full', ids: contract.id } })).text}`,
          )[0],
        ).to.include({ payeeAccount: '****2222' });
        expect((await manager.get('/contracts/export', { query: { subjectId: made.subjectId } })).body).to.deep.equal(
          NOT_FOUND,
        );
        const refused = await (await signedIn('viewer')).get<FrameworkError>('/contracts/export');
        expect([refused.status, refused.body.message]).to.deep.equal([
          403,
          'export (edit) is required; your role "viewer" has export (none)',
        ]);
        const nothing = await makeTenant(server().services);
        const otherTenant = (await signIn(server().client, { tenant: nothing.tenant, member: nothing.owner })).client;
        expect(
          (await otherTenant.get('/contracts/export', { query: { ids: contract.id, profile: 'full' } })).text,
        ).to.equal(`${FULL}\r\n`);
      });

      it('are audited each, also under one key', async () => {
        const one = await makeTenant(server().services);
        const client = (await signIn(server().client, { tenant: one.tenant, member: one.owner })).client;
        const contract = await enter({ payments: [aLine(), aLine({ period: '2' })] }, client, one);
        const headers = { 'Idempotency-Key': 'the-same-key' };
        const twice = [
          await client.post('/contracts/export', { profile: 'full', ids: [contract.id] }, { headers }),
          await client.post('/contracts/export', { q: 'other' }, { headers }),
        ];
        expect(
          twice.map(({ status, headers: got, text }) => [
            status,
            got.get('idempotency-replayed'),
            text.split('\r\n').length,
          ]),
        ).to.deep.equal([
          [200, null, 4],
          [200, null, 2],
        ]);
        await client.get('/contracts/export', { query: { subjectId: newId() } });
        expect(await exportsOf(client)).to.deep.equal([
          { profile: 'summary', contracts: 0, rows: 0, complete: true, filter: { q: 'other' } },
          { profile: 'full', contracts: 1, rows: 2, complete: true, filter: {}, ids: [contract.id], idCount: 1 },
        ]);
      });
    },
    { clock: fakeClock() },
  );

  describe('of three thousand contracts', () => {
    let server: TestServer;
    let client: Client;
    let token: string;
    before('a book that fits into no buffer', async function () {
      this.timeout(180_000);
      server = await startServer();
      const made = await makeTenant(server.services);
      const session = await signIn(server.client, { tenant: made.tenant, member: made.owner });
      ({ client } = session);
      token = session.result.accessToken;
      const call = { ...aCall(), tenantId: made.tenant.id, rights: ALL_RIGHTS };
      const plane = server.foundation.dataPlanes.forTenant(made.tenant.id);
      for (let i = 0; i < 3_000; i += 100) {
        await Promise.all(
          Array.from({ length: 100 }, () =>
            plane.invoke(
              'createContract',
              { call },
              aContract({
                subjectId: made.subjectId,
                ownerId: made.owner.id,
                remark: '远'.repeat(5_000),
                payments: [aLine()],
              }),
            ),
          ),
        );
      }
    });
    after(() => server.stop());

    it('are streamed while other requests are served and memory stays low', async () => {
      const answer = await read(`${client.base}/contracts/export?profile=full`, token);
      let bytes = 0;
      const held = process.memoryUsage().rss;
      let most = held;
      let served = 0;
      const others = (async () => {
        while (!answer.readableEnded) {
          expect((await client.get('/contracts', { query: { pageSize: 1 } })).status).to.equal(200);
          served += 1;
        }
      })();
      for await (const piece of answer) {
        bytes += (piece as Buffer).length;
        most = Math.max(most, process.memoryUsage().rss);
      }
      await others;
      expect(bytes).to.be.greaterThan(45_000_000);
      expect(served).to.be.greaterThan(3);
      expect((most - held) / 1024 / 1024).to.be.lessThan(200);
      expect((await exportsOf(client))[0]).to.include({ contracts: 3_000, rows: 3_000, complete: true });
    });

    it('stop when the client disconnects, and their progress is audited', async () => {
      const answer = await read(`${client.base}/contracts/export?profile=full`, token);
      await once(answer, 'data');
      answer.destroy();
      let events = await exportsOf(client);
      while (events.length < 2) events = await exportsOf(client);
      expect(events[0]).to.include({ complete: false });
      expect(events[0]?.['contracts']).to.be.a('number').lessThan(3_000);
    });
  });
});

const read = (url: string, token: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) =>
    get(url, { headers: { Authorization: `Bearer ${token}` } }, resolve).on('error', reject),
  );
