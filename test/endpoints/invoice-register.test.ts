import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ContractDetail, ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import type { InvoiceEntry, RegisterRow } from '../../data-plane-agent/plane/contract/records/invoice-register.js';
import type { InvoiceInput, InvoiceResult } from '../../data-plane-agent/plane/contract/records/invoices.js';
import { makeMember, makeTenant, OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import { namedFields, type Client, type DomainError, type FrameworkError } from '../support/http.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';

interface Page {
  readonly items: readonly (RegisterRow & { readonly subjectName: string | null; readonly ownerName: string | null })[];
  readonly total: number;
  readonly pageCount: number;
}
type Query = Readonly<Record<string, string | number>>;

describe('the invoice register over HTTP', () => {
  forEachServer(
    (server) => {
      let made: MadeTenant;
      let owner: Client;
      beforeEach('a tenant with its owner signed in', async () => {
        made = await makeTenant(server().services);
        owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
      });
      const enter = async (changes: Partial<ContractInput> = {}): Promise<ContractDetail> => {
        const { status, body, text } = await owner.post<ContractDetail>(
          '/contracts',
          aContract({ subjectId: made.subjectId, ownerId: made.owner.id, payments: [aLine()], ...changes }),
        );
        expect(status, text).to.equal(201);
        return body;
      };
      const issue = async (
        { id }: { readonly id: string },
        invoice: Partial<InvoiceInput> & { readonly invoiceNo: string },
      ): Promise<InvoiceResult> => {
        const { status, body, text } = await owner.post<InvoiceResult>(`/contracts/${id}/invoices`, {
          invoiceAmount: 100,
          status: 'issued',
          ...invoice,
        });
        expect(status, text).to.equal(201);
        return body;
      };
      const reverse = <T = InvoiceResult>(
        contract: { readonly id: string },
        { id }: { readonly id: string },
        changes: object = {},
      ) => owner.patch<T>(`/contracts/${contract.id}/invoices/${id}`, { status: 'red_letter', ...changes });
      const list = async (query: Query = {}, client = owner): Promise<Page> => {
        const { status, body, text } = await client.get<Page>('/invoices', { query });
        expect(status, text).to.equal(200);
        return body;
      };
      const numbers = async (query: Query = {}, client = owner) =>
        (await list(query, client)).items.map(({ invoiceNo }) => invoiceNo);
      const memberWith = async (member: object): Promise<Client> =>
        (
          await signIn(server().client, {
            tenant: made.tenant,
            member: await makeMember(server().services, made, { roleCode: 'finance', ...member }),
          })
        ).client;
      const anotherSubject = async (): Promise<string> =>
        (await server().services.tenants.subjects.add({ tenantId: made.tenant.id, name: `S ${newId()}` }, OPERATOR)).id;

      it('lists records with their contract, line and names, the latest date first and those without a date last', async () => {
        const contract = await enter({ projectName: '码头吊机', partyA: 'Harbour', partyB: '远东' });
        const lineId = contract.payments[0]?.id ?? '';
        await issue(contract, { invoiceNo: 'A-1', invoiceDate: '2026-01-31', receivablePlanId: lineId, taxRate: 13 });
        await issue(contract, { invoiceNo: 'A-2', status: 'draft' });
        await issue(contract, { invoiceNo: 'A-3', invoiceDate: '2026-02-28' });
        await issue(contract, { invoiceNo: 'A-4', status: 'void', invoiceDate: '2026-02-01' });
        const { items, total } = await list();
        expect(items.map(({ invoiceNo, countedAmount }) => [invoiceNo, countedAmount])).to.deep.equal([
          ['A-3', 100],
          ['A-4', 0],
          ['A-1', 100],
          ['A-2', 0],
        ]);
        expect(total).to.equal(4);
        expect(items[2]).to.deep.include({
          invoiceAmount: 100,
          taxAmount: 11.5,
          netAmount: 88.5,
          receivablePlanId: lineId,
          period: '2026-04',
          contractId: contract.id,
          contractNo: contract.contractNo,
          projectName: '码头吊机',
          partyA: 'Harbour',
          partyB: '远东',
          subjectId: made.subjectId,
          ownerName: 'Olive Owner',
          reverses: null,
          reversedBy: null,
        });
        expect(items[2]?.subjectName).to.be.a('string');
        expect(await list({ page: 2, pageSize: 3 })).to.deep.include({ total: 4, pageCount: 2, items: [items[3]] });
        expect((await list({ page: 9 })).items).to.deep.equal([]);
      });

      it('accepts an issued invoice dated after today with a warning, from every endpoint, but not a draft', async () => {
        const warned = ({ warnings = [] }: { readonly warnings?: InvoiceResult['warnings'] }) =>
          warnings.filter(({ code }) => code === 'DATE_IN_FUTURE').map(({ message, today }) => [message, today]);
        const expected = (no: string) => [
          [`The date of invoice ${no} is in the future: 2026-03-16 is after today, 2026-03-15.`, '2026-03-15'],
        ];
        const coming = (no: string) => ({ invoiceNo: no, invoiceDate: '2026-03-16' });
        const contract = await enter({ payments: [aLine({ ...coming('X-1'), invoiceAmount: 5 })] });
        expect(warned(contract)).to.deep.equal(expected('X-1'));
        expect(warned(await issue(contract, coming('X-2')))).to.deep.equal(expected('X-2'));
        const draft = await issue(contract, { ...coming('X-3'), status: 'draft' });
        expect(warned(draft)).to.deep.equal([]);
        const issued = await owner.patch<InvoiceResult>(`/contracts/${contract.id}/invoices/${draft.id}`, {
          status: 'issued',
        });
        expect(warned(issued.body)).to.deep.equal(expected('X-3'));
        const other = await enter();
        const line = await owner.patch<InvoiceResult>(`/payments/${other.payments[0]?.id}/invoice`, {
          ...coming('X-4'),
          invoiceAmount: 5,
        });
        expect(warned(line.body)).to.deep.equal(expected('X-4'));
        expect(warned(await issue(contract, { invoiceNo: 'X-5', invoiceDate: '2026-03-15' }))).to.deep.equal([]);
      });

      it('filters by status, subject company, dates and text, together', async () => {
        const subjectId = await anotherSubject();
        const [one, other] = [await enter({ projectName: 'Straße 7' }), await enter({ subjectId })];
        await issue(one, { invoiceNo: 'Feb-1', invoiceDate: '2026-02-01' });
        await issue(one, { invoiceNo: 'Feb-28', invoiceDate: '2026-02-28' });
        await issue(one, { invoiceNo: 'Mar-1', invoiceDate: '2026-03-01' });
        await issue(one, { invoiceNo: 'Draft-%', status: 'draft' });
        await issue(other, { invoiceNo: 'Other', invoiceDate: '2026-02-10' });
        const february = { from: '2026-02-01', to: '2026-02-28' };
        expect(await numbers(february)).to.deep.equal(['Feb-28', 'Other', 'Feb-1']);
        expect(await numbers({ ...february, subjectId })).to.deep.equal(['Other']);
        expect(await numbers({ status: 'draft' })).to.deep.equal(['Draft-%']);
        expect(await numbers({ q: 'feB-' })).to.deep.equal(['Feb-28', 'Feb-1']);
        expect(await numbers({ q: '%' })).to.deep.equal(['Draft-%']);
        expect(await numbers({ q: 'STRASSE', from: '2026-03-01' })).to.deep.equal(['Mar-1']);
        expect(await numbers({ q: other.contractNo, subjectId: made.subjectId })).to.deep.equal([]);
        for (const [query, field] of [
          [{ from: '2026-03-01', to: '2026-02-28' }, 'to'],
          [{ status: 'open' }, 'status'],
          [{ from: '2026-02-30' }, 'from'],
          [{ pageSize: 201 }, 'pageSize'],
          [{ sort: 'invoiceNo' }, 'sort'],
        ] as const)
          expect(namedFields(await owner.get<FrameworkError>('/invoices', { query })), field).to.deep.equal([
            400,
            [field],
          ]);
        expect((await owner.get('/invoices', { query: { subjectId: newId() } })).status).to.equal(404);
      });

      it('lists what the caller may see: their companies, their contracts, and nothing in the trash', async () => {
        const subjectId = await anotherSubject();
        const contract = await enter({ subjectId });
        await issue(contract, { invoiceNo: 'Hidden' });
        await issue(await enter(), { invoiceNo: 'Seen' });
        const scoped = await memberWith({ subjectScope: [made.subjectId] });
        expect(await numbers({}, scoped)).to.deep.equal(['Seen']);
        expect((await scoped.get('/invoices', { query: { subjectId } })).status).to.equal(404);
        expect((await scoped.get(`/contracts/${contract.id}/invoices`)).status).to.equal(404);
        await server().services.tenants.updateSettings(
          { tenantId: made.tenant.id, settings: { ownerScopeEnabled: true } },
          OPERATOR,
        );
        const sales = await makeMember(server().services, made, { roleCode: 'sales' });
        const { client } = await signIn(server().client, { tenant: made.tenant, member: sales });
        await issue(await enter({ ownerId: sales.id }), { invoiceNo: 'Own' });
        expect(await numbers({}, client)).to.deep.equal(['Own']);
        expect((await owner.delete(`/contracts/${contract.id}`)).status).to.equal(200);
        expect((await numbers()).toSorted()).to.deep.equal(['Own', 'Seen']);
        expect((await owner.get(`/contracts/${contract.id}/invoices`)).status).to.equal(404);
      });

      describe('a red letter', () => {
        it('has the number that is given, and both records refer to the other with number, id and date', async () => {
          const contract = await enter();
          const blue = await issue(contract, { invoiceNo: 'B-1', invoiceDate: '2026-02-28' });
          const { status, body } = await reverse(contract, blue, { redLetterNo: ' 红-77 ' });
          expect([status, body.status]).to.deep.equal([200, 'issued']);
          const redId = body.reversedByInvoiceId ?? '';
          const records = (await owner.get<InvoiceEntry[]>(`/contracts/${contract.id}/invoices`)).body;
          const about = ({ invoiceNo, countedAmount, reverses, reversedBy }: InvoiceEntry) => [
            invoiceNo,
            countedAmount,
            reverses,
            reversedBy,
          ];
          const expected = [
            ['B-1', 100, null, { id: redId, invoiceNo: '红-77', invoiceDate: '2026-03-15' }],
            ['红-77', -100, { id: blue.id, invoiceNo: 'B-1', invoiceDate: '2026-02-28' }, null],
          ];
          expect(records.map(about)).to.deep.equal(expected);
          expect((await list()).items.map(about)).to.deep.equal(expected.toReversed());
        });

        it('has the number of the record with -R when none is given', async () => {
          const contract = await enter();
          for (const [no, changes] of [
            ['C-1', {}],
            ['C-2', { redLetterNo: '' }],
            ['C-3', { redLetterNo: null }],
          ] as const)
            expect((await reverse(contract, await issue(contract, { invoiceNo: no }), changes)).status).to.equal(200);
          expect(await numbers({ status: 'red_letter' })).to.have.members(['C-1-R', 'C-2-R', 'C-3-R']);
        });

        it('is refused if its number is taken, also by the reversed record, and nothing is reversed', async () => {
          const contract = await enter();
          const blue = await issue(contract, { invoiceNo: 'D-1' });
          await issue(contract, { invoiceNo: 'D-2' });
          for (const redLetterNo of ['D-1', 'd-2']) {
            const { status, body } = await owner.patch<DomainError>(`/contracts/${contract.id}/invoices/${blue.id}`, {
              status: 'red_letter',
              redLetterNo,
            });
            expect([status, body.error.code, body.error.details]).to.deep.equal([
              409,
              'DUPLICATE_CODE',
              { field: 'redLetterNo', value: redLetterNo },
            ]);
          }
          expect(await numbers({ status: 'red_letter' })).to.deep.equal([]);
        });

        it('keeps its number: the same number again changes nothing, and another one is refused', async () => {
          const contract = await enter();
          const blue = await issue(contract, { invoiceNo: 'E-1' });
          const first = await reverse(contract, blue, { redLetterNo: 'E-9' });
          const again = await reverse(contract, blue, { redLetterNo: 'E-9' });
          expect([again.status, again.body.contractVersion]).to.deep.equal([200, first.body.contractVersion]);
          const other = await owner.patch<DomainError>(`/contracts/${contract.id}/invoices/${blue.id}`, {
            status: 'red_letter',
            redLetterNo: 'E-10',
          });
          expect([other.status, other.body.error.code, other.body.error.details]).to.deep.equal([
            409,
            'INVOICE_FIXED',
            { fields: ['redLetterNo'], status: 'issued' },
          ]);
          expect(other.body.error.message).to.contain('`redLetterNo` is set when the record is reversed');
        });

        const redOf = async ({ id }: { readonly id: string }): Promise<RegisterRow | undefined> =>
          (await list({ status: 'red_letter' })).items.find(({ reverses }) => reverses?.id === id);
        const codes = ({ warnings }: Pick<InvoiceResult, 'warnings'>) => warnings.map(({ code }) => code);

        it('has the date that is given, in the register, the list of the contract and the export', async () => {
          const contract = await enter();
          const blue = await issue(contract, { invoiceNo: 'H-1', invoiceDate: '2026-02-10' });
          const given = { redLetterNo: 'H-9', redLetterDate: '2026-02-28' };
          const { status, body } = await reverse(contract, blue, given);
          expect([status, body.invoiceDate, codes(body)]).to.deep.equal([200, '2026-02-10', []]);
          expect(await numbers({ from: '2026-02-28', to: '2026-02-28' })).to.deep.equal(['H-9']);
          const records = (await owner.get<InvoiceEntry[]>(`/contracts/${contract.id}/invoices`)).body;
          expect(records.map(({ reversedBy }) => reversedBy?.invoiceDate)).to.deep.equal(['2026-02-28', undefined]);
          expect((await owner.get('/invoices/export')).text).to.contain('H-9,2026-02-28,red_letter');
          const again = await reverse(contract, blue, given);
          expect([again.status, again.body.contractVersion]).to.deep.equal([200, body.contractVersion]);
        });

        it('is never dated before the invoice that it reverses', async () => {
          const contract = await enter();
          const blue = await issue(contract, { invoiceNo: 'I-1', invoiceDate: '2026-02-10' });
          const early = await owner.patch<FrameworkError>(`/contracts/${contract.id}/invoices/${blue.id}`, {
            status: 'red_letter',
            redLetterDate: '2026-02-09',
          });
          expect(namedFields(early)).to.deep.equal([400, ['redLetterDate']]);
          expect(await redOf(blue)).to.equal(undefined);
          const coming = await issue(contract, { invoiceNo: 'I-2', invoiceDate: '2026-04-01' });
          expect(codes((await reverse(contract, coming, { redLetterNo: 'I-9' })).body)).to.deep.equal([
            'DATE_IN_FUTURE',
          ]);
          expect((await redOf(coming))?.invoiceDate).to.equal('2026-04-01');
        });

        it('does not take its date from invoiceDate: another one is refused, and the same one gets a warning', async () => {
          const contract = await enter();
          const blue = await issue(contract, { invoiceNo: 'J-1', invoiceDate: '2026-02-10' });
          const other = await owner.patch<DomainError>(`/contracts/${contract.id}/invoices/${blue.id}`, {
            status: 'red_letter',
            invoiceDate: '2026-02-28',
          });
          expect([other.status, other.body.error.details]).to.deep.equal([
            409,
            { fields: ['invoiceDate'], status: 'issued' },
          ]);
          const same = { redLetterNo: 'J-9', invoiceDate: '2026-02-10' };
          const { status, body } = await reverse(contract, blue, same);
          expect([status, codes(body)]).to.deep.equal([200, ['RED_LETTER_DATE_DEFAULT']]);
          expect(body.warnings[0]?.message).to.contain('dated 2026-03-15').and.contain('redLetterDate');
          await reverse(contract, blue, { redLetterDate: '2026-02-28' });
          expect((await redOf(blue))?.invoiceDate).to.equal('2026-02-28');
          const late = await owner.patch<DomainError>(`/contracts/${contract.id}/invoices/${blue.id}`, {
            status: 'red_letter',
            redLetterDate: '2026-02-20',
          });
          expect([late.status, late.body.error.details]).to.deep.equal([
            409,
            { fields: ['redLetterDate'], status: 'issued' },
          ]);
        });

        it('can be given its own number and date as long as it has the provisional number', async () => {
          const contract = await enter();
          const blue = await issue(contract, { invoiceNo: 'K-1', invoiceDate: '2026-02-10' });
          await issue(contract, { invoiceNo: 'K-2' });
          const { body } = await reverse(contract, blue, { redLetterDate: '2026-02-20' });
          expect(codes(body)).to.deep.equal(['RED_LETTER_NO_PROVISIONAL']);
          expect(body.warnings[0]?.message).to.contain('K-1-R');
          const redId = body.reversedByInvoiceId ?? '';
          const taken = await reverse<DomainError>(contract, blue, { redLetterNo: 'k-2' });
          expect([taken.status, taken.body.error.details]).to.deep.equal([409, { field: 'redLetterNo', value: 'k-2' }]);
          const named = await reverse(contract, blue, { redLetterNo: 'K-9', redLetterDate: '2026-02-28' });
          expect([named.status, named.body.id, named.body.warnings]).to.deep.equal([200, blue.id, []]);
          expect(named.body.contractVersion).to.be.above(body.contractVersion);
          const red = await redOf(blue);
          expect([red?.id, red?.invoiceNo, red?.invoiceDate]).to.deep.equal([redId, 'K-9', '2026-02-28']);
          const other = await reverse<DomainError>(contract, { id: redId }, { redLetterNo: 'K-10' });
          expect([other.status, other.body.error.details]).to.deep.equal([
            409,
            { fields: ['redLetterNo'], status: 'red_letter' },
          ]);
          const direct = await issue(contract, { invoiceNo: 'K-2-R', status: 'red_letter' });
          expect((await reverse(contract, direct, { redLetterNo: 'K-11' })).status).to.equal(409);
        });

        it('can be given its number in a request about itself', async () => {
          const contract = await enter();
          const { body } = await reverse(contract, await issue(contract, { invoiceNo: 'L-1' }));
          const red = { id: body.reversedByInvoiceId ?? '' };
          const named = await reverse(contract, red, { redLetterNo: 'L-9', note: 'by post' });
          expect([named.status, named.body.invoiceNo, named.body.note]).to.deep.equal([200, 'L-9', 'by post']);
          expect(await numbers({ status: 'red_letter' })).to.deep.equal(['L-9']);
        });

        it('is what the refusal to void an invoice with matched money points to', async () => {
          const contract = await enter();
          const receivablePlanId = contract.payments[0]?.id ?? '';
          const { id } = await issue(contract, { invoiceNo: 'V-1', receivablePlanId });
          const matched = { receivedAmount: 100, reconciliationStatus: 'matched' };
          expect((await owner.patch(`/payments/${receivablePlanId}/receipt`, matched)).status).to.equal(200);
          const { body } = await owner.patch<DomainError>(`/contracts/${contract.id}/invoices/${id}`, {
            status: 'void',
          });
          expect(body.error.code).to.equal('LINE_HAS_MONEY');
          expect(body.error.message).to.contain('set the invoice to `red_letter` instead');
        });

        it('is the only change that accepts redLetterNo and redLetterDate', async () => {
          const contract = await enter();
          const blue = await issue(contract, { invoiceNo: 'F-1' });
          for (const status of [{}, { status: 'void' }])
            expect(
              namedFields(
                await owner.patch<FrameworkError>(`/contracts/${contract.id}/invoices/${blue.id}`, {
                  ...status,
                  redLetterNo: 'F-2',
                  redLetterDate: '2026-03-15',
                }),
              ),
            ).to.deep.equal([400, ['redLetterNo', 'redLetterDate']]);
          expect(
            namedFields(
              await owner.post<FrameworkError>(`/contracts/${contract.id}/invoices`, {
                invoiceNo: 'F-3',
                invoiceAmount: 1,
                redLetterNo: 'F-4',
              }),
            ),
          ).to.deep.equal([400, ['redLetterNo']]);
        });
      });

      describe('as CSV', () => {
        const get = (query: Query = {}, client = owner) => client.get('/invoices/export', { query });
        const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true, bom: true });

        it('has every matching record in order, guarded against formulas, as a file with a byte order mark', async () => {
          const contract = await enter({ partyA: '=cmd()', projectName: 'A "quoted", name' });
          const blue = await issue(contract, { invoiceNo: '-1', invoiceDate: '2026-02-28', invoiceAmount: 1_130.5 });
          await reverse(contract, blue, { redLetterNo: 'R-1' });
          await issue(contract, { invoiceNo: 'Jan', invoiceDate: '2026-01-01' });
          const { status, headers, text } = await get({ from: '2026-02-01', page: 1, pageSize: 1 });
          expect(status, text).to.equal(200);
          expect(headers.get('content-type')).to.equal('text/csv; charset=utf-8');
          expect(headers.get('content-disposition')).to.include('invoices-2026-03-15.csv');
          expect(text.startsWith('invoiceNo,invoiceDate,status,'), text).to.equal(true);
          const { result } = await signIn(server().client, { tenant: made.tenant, member: made.owner });
          const bytes = await fetch(`${owner.base}/invoices/export`, {
            headers: { Authorization: `Bearer ${result.accessToken}` },
          });
          expect([...new Uint8Array(await bytes.arrayBuffer()).slice(0, 3)]).to.deep.equal([0xef, 0xbb, 0xbf]);
          expect(text.replaceAll('\r\n', '')).to.not.match(/[\r\n]/);
          const [red, issued, ...more] = rowsOf(text);
          expect(more).to.deep.equal([]);
          expect(red).to.include({
            invoiceNo: 'R-1',
            invoiceDate: '2026-03-15',
            status: 'red_letter',
            invoiceAmount: '1130.5',
            countedAmount: '-1130.5',
            reversesInvoiceNo: "'-1",
            reversesInvoiceDate: '2026-02-28',
            partyA: "'=cmd()",
            projectName: 'A "quoted", name',
            ownerName: 'Olive Owner',
          });
          expect(issued).to.include({ invoiceNo: "'-1", reversedByInvoiceNo: 'R-1', countedAmount: '1130.5' });
        });

        it('has all records when there are several chunks, and only those in scope', async () => {
          const contract = await enter();
          await enter({ subjectId: await anotherSubject() });
          for (let n = 0; n < 205; n++) await issue(contract, { invoiceNo: `N-${n}` });
          const scoped = await memberWith({ subjectScope: [made.subjectId] });
          const rows = rowsOf((await get({}, scoped)).text);
          expect(new Set(rows.map(({ invoiceNo }) => invoiceNo)).size).to.equal(205);
          expect(rowsOf((await get({ q: 'no such number' })).text)).to.deep.equal([]);
        });

        it('is recorded in the audit with its filter, needs export, and is refused if the list is', async () => {
          await issue(await enter(), { invoiceNo: 'G-1' });
          await get({ status: 'issued' });
          const { items } = (
            await owner.get<{ items: { changes: { field: string; after: unknown }[] }[] }>('/audit', {
              query: { source: 'data', action: 'recordInvoiceExport' },
            })
          ).body;
          expect(items).to.have.length(1);
          expect(Object.fromEntries(items[0]?.changes.map(({ field, after }) => [field, after]) ?? [])).to.deep.equal({
            profile: 'invoices',
            filter: { status: 'issued' },
            invoices: 1,
            complete: true,
          });
          const viewer = await memberWith({ roleCode: 'viewer' });
          expect((await get({}, viewer)).status).to.equal(403);
          expect((await get({ subjectId: newId() })).status).to.equal(404);
          expect((await get({ from: '2026-03-02', to: '2026-03-01' })).status).to.equal(400);
        });
      });
    },
    { clock: fakeClock('2026-03-15T08:00:00.000Z') },
  );
});
