import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { ImportReport } from '../../data-plane-agent/plane/contract/records/imports.js';
import { makeMember, makeTenant, OPERATOR, signIn, type MadeTenant } from '../support/accounts.js';
import { fakeClock } from '../support/clock.js';
import type { Client, DomainError, FrameworkError } from '../support/http.js';
import { cellsOf, faultsOf } from '../support/import-samples.js';
import { aContract, aLine } from '../support/samples.js';
import { forEachServer } from '../support/server.js';
import { altered, aWorkbook } from '../support/workbook.js';
import type { ContractPage } from '../../server/endpoints/named.js';

type Cells = Readonly<Record<string, string | number | boolean | Date | null>>;

describe('importing contracts over HTTP', () => {
  forEachServer(
    (server) => {
      let made: MadeTenant;
      let owner: Client;
      let subject = '';
      before('a tenant with its owner signed in', async () => {
        made = await makeTenant(server().services);
        owner = (await signIn(server().client, { tenant: made.tenant, member: made.owner })).client;
        subject = (await server().services.directory.of(made.tenant.id)).subjectName(made.subjectId) ?? '';
      });

      const memberOf = async (roleCode: string, subjectScope: readonly string[] | null = null): Promise<Client> => {
        const member = await makeMember(server().services, made, { roleCode, subjectScope });
        return (await signIn(server().client, { tenant: made.tenant, member })).client;
      };
      const row = (changes: Cells = {}): Cells => ({
        ...cellsOf(),
        subjectName: subject,
        ownerEmail: made.owner.email,
        ...changes,
      });
      const tableOf = (rows: readonly Cells[]) => {
        const header = [...new Set(rows.flatMap((cells) => Object.keys(cells)))];
        return [header, ...rows.map((cells) => header.map((name) => cells[name] ?? null))];
      };
      const csvOf = (rows: readonly Cells[], delimiter = ',') =>
        tableOf(rows)
          .map((cells) => cells.map((cell) => `"${String(cell ?? '').replaceAll('"', '""')}"`).join(delimiter))
          .join('\r\n');
      const send = (body: unknown, client = owner, headers: Record<string, string> = {}) =>
        client.post<ImportReport>('/contracts/import', body, { headers });

      it('accepts a list, a CSV and a workbook alike', async () => {
        const line = { 'line.period': '2026-04', 'line.dueDate': '2026-04-30', 'line.amount': 1000.5 };
        const rows = await send({
          rows: [aContract({ subjectId: made.subjectId, ownerId: made.owner.id, payments: [aLine()] })],
        });
        expect(rows.status, rows.text).to.equal(200);
        expect(rows.body).to.include({ total: 1, created: 1, failed: 0, skipped: 0, contracts: 1 });
        const csv = await send({ csv: `\uFEFF${csvOf([row({ ...line, 'line.amount': '1000,50' })], ';')}` });
        const xlsx = await send({
          xlsxBase64: Buffer.from(
            await aWorkbook(
              tableOf([row({ ...line, startDate: new Date(Date.UTC(2026, 0, 1)) }), row({ quantity: 0 })]),
            ),
          ).toString('base64'),
          sheetName: 'Sheet1',
        });
        expect(
          [csv.status, csv.body.created, xlsx.status, xlsx.body.created, xlsx.body.failed],
          `${csv.text}${xlsx.text}`,
        ).to.deep.equal([200, 1, 200, 1, 1]);
        for (const { body } of [csv, xlsx]) {
          const contract = await owner.get<{ startDate: string; payments: { amount: number }[]; ownerName: string }>(
            `/contracts/${body.rows[0]?.contractId}`,
          );
          expect(contract.body).to.include({ startDate: '2026-01-01', ownerName: 'Olive Owner' });
          expect(contract.body.payments.map(({ amount }) => amount)).to.deep.equal([1000.5]);
        }
      });

      it('accepts Chinese labels as headers', async () => {
        const labels = {
          archiveCode: '档案编号',
          contractNo: '合同编号',
          projectName: '项目名称',
          subjectName: '签约主体',
          partyA: '甲方',
          partyB: '乙方',
          equipmentName: '设备名称',
          equipmentModel: '设备型号',
          quantity: '数量',
          unitPrice: '单价',
          paymentMethod: '付款方式',
          startDate: '开始日期',
          endDate: '结束日期',
          ownerEmail: '负责人邮箱',
        };
        const template = await owner.get('/contracts/import/template.csv', { query: { language: 'zh' } });
        const [header = []] = parse(template.text, { bom: true }) as string[][];
        expect(header.map((text) => text.replace(/ \*$/, ''))).to.include.members(Object.values(labels));
        expect((await owner.get('/contracts/import/template.csv', { query: { language: 'zh-CN' } })).text).to.equal(
          template.text,
        );
        const cells = row({ startDate: '2026年1月1日' });
        const { body } = await send({
          csv: csvOf([Object.fromEntries(Object.entries(labels).map(([name, label]) => [label, cells[name] ?? '']))]),
        });
        expect(body, JSON.stringify(body.rows)).to.include({ created: 1 });
        expect(template.headers.get('content-type')).to.equal('text/csv; charset=utf-8');
        expect(template.headers.get('content-disposition')).to.equal(
          'attachment; filename="import-template-2026-03-15.csv"',
        );
        expect((await send({ csv: template.text })).body, 'an unmodified template contains only an example row')
          .to.include({ total: 1, created: 0, failed: 0, skipped: 1 })
          .and.to.deep.include({ rows: [{ row: 2, status: 'skipped' }], unknownColumns: [], missingColumns: [] });
      });

      it('accepts other words for columns and values, and a template with rows below its example', async () => {
        const template = await owner.get('/contracts/import/template.csv', { query: { language: 'en' } });
        const [header = [], example = []] = parse(template.text, { bom: true }) as string[][];
        const own = (changes: Cells) =>
          header.map((title, i) => {
            const name = title.replace(/ \*$/, '');
            return String(changes[name] ?? example[i] ?? '');
          });
        const filled = csvOf(
          [
            own({
              'Contract number': 'TPL-1',
              'Archive code': 'TPL-1',
              'Subject company': subject,
              'Owner e-mail': made.owner.email,
            }),
          ].map((cells) => Object.fromEntries(cells.map((cell, i) => [header[i] ?? '', cell]))),
        );
        const [head = '', ...rows] = filled.split('\r\n');
        const sheet = [head, example.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','), ...rows].join('\r\n');
        const { body } = await send({ csv: sheet });
        expect(body, JSON.stringify(body)).to.include({ total: 2, created: 1, skipped: 1 });

        const cells = row({ currencyCode: null });
        const words: Cells = {
          'Contract No.': cells['contractNo'] ?? '',
          档案号: cells['archiveCode'] ?? '',
          'Project name': cells['projectName'] ?? '',
          主体: subject,
          甲方名称: 'A',
          乙方名称: 'B',
          设备: 'Crane',
          型号: 'Q',
          Qty: '2',
          'Price per unit': '100',
          合同总价: '200',
          合同类型: '租赁',
          状态: '已完成',
          币种: 'RMB',
          结算方式: '转账',
          'Start date': '2026-01-01',
          'End date': '31/12/2026',
          负责人邮件: made.owner.email,
          Colour: 'red',
          'Sign dat': '2026-01-01',
        };
        const named = await send({ csv: csvOf([words]) });
        expect(named.body, named.text).to.include({ created: 1 });
        expect(named.body.unknownColumns).to.deep.equal(['Colour', 'Sign dat']);
        expect(named.body.suggestions).to.deep.equal([{ column: 'Sign dat', suggestion: 'signDate' }]);
        const contract = await owner.get(`/contracts/${named.body.rows[0]?.contractId}`);
        expect(contract.body).to.include({ type: 'lease', status: 'completed', currencyCode: 'CNY', totalAmount: 200 });
      });

      it('reports a missing required column once, and for the rows only their other errors', async () => {
        const { partyB: _b, ownerEmail: _o, ...some } = row();
        const { partyB: _b2, ownerEmail: _o2, ...other } = row({ quantity: 'none' });
        const { body } = await send({ csv: csvOf([some, other]) });
        expect(body.missingColumns).to.deep.equal(['partyB', 'ownerEmail']);
        expect(body).to.include({ created: 0, failed: 2 });
        expect(body.rows[0]?.errors).to.deep.equal([]);
        expect(faultsOf(body)).to.deep.equal(['3 quantity INVALID_INPUT']);
        const file = await owner.get(`/contracts/import/batches/${body.batchId}/errors.csv`);
        const [first] = parse(file.text, { bom: true, columns: true }) as Record<string, string>[];
        expect(first?.['error']).to.equal('columns are missing: partyB, ownerEmail');
      });

      it('reads numbers and dates in the style of the whole file, and reports this style', async () => {
        const { body } = await send({
          csv: csvOf(
            [
              row({ totalAmount: '45.000', signDate: '05/03/2025' }),
              row({ totalAmount: '45.000,00', signDate: '31/12/2025' }),
            ],
            ';',
          ),
        });
        expect(body, JSON.stringify(body.rows)).to.include({ created: 2 });
        expect(body.reading).to.deep.equal({
          delimiter: ';',
          encoding: null,
          decimalMark: ',',
          groupMark: '.',
          dayOrder: 'DMY',
        });
        for (const { contractId } of body.rows)
          expect((await owner.get(`/contracts/${contractId}`)).body).to.include({ totalAmount: 45000 });
        const open = await send({ csv: csvOf([row({ totalAmount: '45.000' })], ';') });
        expect(open.body.rows[0]?.errors?.[0]?.message).to.match(
          /may be 45 \(with decimals\) or 45000 \(with thousands\)/,
        );
      });

      it('refuses anything but exactly one source, an excessive length, and invalid base64', async () => {
        const messages = async (body: unknown) => {
          const answer = await owner.post<FrameworkError>('/contracts/import', body);
          expect(answer.status, answer.text).to.equal(400);
          return answer.body.message;
        };
        expect(await messages({})).to.deep.equal(['rows is required, or xlsxBase64, or csv']);
        expect(await messages({ csv: '', rows: null })).to.deep.equal(['rows is required, or xlsxBase64, or csv']);
        expect(await messages({ csv: 'a', rows: [], xlsxBase64: 'AAAA' })).to.deep.equal([
          'xlsxBase64 must not be given together with rows',
          'csv must not be given together with rows',
        ]);
        expect(await messages({ csv: 'a', sheetName: 'x' })).to.deep.equal([
          'sheetName must be given with xlsxBase64 only',
        ]);
        expect(await messages({ rows: Array.from({ length: 5_001 }, () => ({})) })).to.deep.equal([
          'rows must have at most 5000 items',
        ]);
        expect(await messages({ csv: `contractNo\n${'x\n'.repeat(5_001)}` })).to.deep.equal([
          'csv must have at most 5000 rows',
        ]);
        expect(await messages({ xlsxBase64: 'not base64!' })).to.deep.equal([
          'xlsxBase64 must be base64, padded and in one piece',
        ]);
        expect(await messages({ xlsxBase64: 'UEsDBA' })).to.deep.equal([
          'xlsxBase64 must be base64, padded and in one piece',
        ]);
        expect(await messages({ rows: [{ foo: 1 }, [], { payments: [{ bar: 1 }] }] })).to.have.members([
          'rows[0].foo is not a known field',
          'rows[1] must be an object',
          'rows[2].payments[0].bar is not a known field',
        ]);
        expect(await messages({ files: [] })).to.include('files is not a known field');
      });

      it('refuses an unreadable file, with the reason', async () => {
        const reason = async (body: unknown, path = '/contracts/import') => {
          const answer = await owner.post<DomainError>(path, body);
          expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([422, 'IMPORT_FILE_INVALID']);
          return String((answer.body.error.details as { reason: string }).reason);
        };
        const workbook = await aWorkbook(tableOf([row()]));
        const xlsx = (bytes: Uint8Array, sheetName?: string) => ({
          xlsxBase64: Buffer.from(bytes).toString('base64'),
          ...(sheetName ? { sheetName } : {}),
        });
        expect(await reason(xlsx(workbook, 'Nowhere'))).to.match(/no sheet of that name; its sheets are: Sheet1/);
        expect(
          await reason(xlsx(altered(workbook, () => ({ 'xl/media/bomb.xml': ' '.repeat(100 * 1024 * 1024) })))),
        ).to.equal('it unpacks to more than 100 MB');
        expect(
          await reason({ xlsxBase64: Buffer.from('no workbook').toString('base64') }, '/contracts/import/preview'),
        ).to.equal('it is not an .xlsx workbook');
        expect(await reason({ csv: 'contractNo,partyA\n"x' })).to.match(/a quote is opened and never closed/);
        expect(await reason({ csv: 'contractNo,合同编号\n1,2' })).to.equal(
          'two columns are for the field contractNo: "contractNo" and "合同编号"; remove or rename one of them',
        );
        expect(await reason({ csv: 'x,y\n1,2' }, '/contracts/import/preview')).to.equal(
          'no column has a known header; the first row must be the header, without a title above it',
        );
      });

      it('runs once under one key, and a preview creates nothing', async () => {
        const body = { csv: csvOf([row(), row({ quantity: 0 })]) };
        const before = (await owner.get<ContractPage>('/contracts')).body.total;
        const preview = await owner.post<ImportReport>('/contracts/import/preview', body);
        expect(preview.body).to.include({ batchId: null, created: 1, failed: 1 });
        expect((await owner.get<ContractPage>('/contracts')).body.total).to.equal(before);
        const headers = { 'Idempotency-Key': `import-${newId()}` };
        const [first, second] = [await send(body, owner, headers), await send(body, owner, headers)];
        expect(second.headers.get('idempotency-replayed')).to.equal('true');
        expect(second.body).to.deep.equal(first.body);
        expect((await owner.get<ContractPage>('/contracts')).body.total).to.equal(before + 1);
        const other = await owner.post<DomainError>('/contracts/import', { csv: csvOf([row()]) }, { headers });
        expect(other.body.error.code).to.equal('IDEMPOTENCY_KEY_REUSED');
        const looked = await owner.post<ImportReport>(
          '/contracts/import/preview',
          { csv: csvOf([row()]) },
          { headers },
        );
        expect([looked.status, looked.body.created], 'a preview changes nothing, and ignores the key').to.deep.equal([
          200, 1,
        ]);
        expect(
          (await owner.post('/contracts/import/preview', { csv: csvOf([row(), row()]) }, { headers })).status,
        ).to.equal(200);
      });

      it('stores the report and the refused rows', async () => {
        const { body } = await send({ csv: csvOf([row({ remark: '=1+1', endDate: 'never' })]) });
        const path = `/contracts/import/batches/${body.batchId}`;
        expect((await owner.get<ImportReport>(path)).body).to.deep.equal(body);
        const file = await owner.get(`${path}/errors.csv`);
        expect(file.headers.get('content-type')).to.equal('text/csv; charset=utf-8');
        expect(file.headers.get('content-disposition')).to.equal('attachment; filename="import-errors.csv"');
        const [cells] = parse(file.text, { bom: true, columns: true }) as Record<string, string>[];
        expect([cells?.['remark'], cells?.['endDate'], cells?.['error']]).to.deep.equal([
          "'=1+1",
          'never',
          'endDate must be a calendar date like 2026-03-31, 2026/3/31 or 2026年3月31日',
        ]);
        const manager = await memberOf('manager');
        for (const end of ['', '/errors.csv'])
          expect((await manager.get<FrameworkError>(`${path}${end}`)).body).to.deep.equal({
            statusCode: 404,
            message: 'Not Found',
            error: 'Not Found',
          });
        expect((await (await memberOf('admin')).get<ImportReport>(path)).status).to.equal(200);
      });

      it("creates nothing for a subject company outside the caller's scope, or members of another organisation", async () => {
        const otherTenant = await makeTenant(server().services);
        const second = await server().services.tenants.subjects.add(
          { tenantId: made.tenant.id, name: 'Second Leasing' },
          OPERATOR,
        );
        const scoped = await memberOf('manager', [second.id]);
        const { body } = await send(
          {
            csv: csvOf([
              row({ subjectName: 'second LEASING' }),
              row(),
              row({ subjectName: null, subjectId: made.subjectId }),
              row({ subjectName: 'Second Leasing', ownerEmail: otherTenant.owner.email }),
              row({ subjectName: null, subjectId: otherTenant.subjectId }),
            ]),
          },
          scoped,
        );
        expect(faultsOf(body)).to.deep.equal([
          '3 subjectName REFERENCE_INVALID',
          '4 subjectId REFERENCE_INVALID',
          '5 ownerEmail REFERENCE_INVALID',
          '6 subjectId REFERENCE_INVALID',
        ]);
        expect(body.created).to.equal(1);
      });

      it('creates nothing for unknown roles', async () => {
        const sheet = {
          csv: csvOf([row({ workflowAllowedRoles: '["sales","pirate"]' }), row({ workflowAllowedRoles: '["sales"]' })]),
        };
        for (const path of ['/contracts/import/preview', '/contracts/import']) {
          const { body } = await owner.post<ImportReport>(path, sheet);
          expect([faultsOf(body), body.created]).to.deep.equal([['2 workflowAllowedRoles[1] REFERENCE_INVALID'], 1]);
        }
      });

      it('requires the right to write contracts, and for each row those to money and later stages', async () => {
        const viewer = await memberOf('viewer');
        for (const path of ['/contracts/import', '/contracts/import/preview'])
          expect((await viewer.post<FrameworkError>(path, { csv: 'x' })).body).to.deep.equal({
            statusCode: 403,
            message: 'contract_edit (edit) is required; your role "viewer" has contract_edit (none)',
            error: 'Forbidden',
          });
        expect((await viewer.get('/contracts/import/template.csv')).status).to.equal(403);
        const legal = await memberOf('legal');
        const line = { 'line.period': '1', 'line.dueDate': '2026-02-01', 'line.amount': 10 };
        const { body } = await send(
          {
            csv: csvOf([
              row({ ...line }),
              row({ ...line, 'line.receivedAmount': 1, 'line.invoiceNo': 'F-1' }),
              row({ workflowStage: 'active' }),
            ]),
          },
          legal,
        );
        expect(faultsOf(body)).to.deep.equal([
          '3 line.receivedAmount FORBIDDEN',
          '3 line.invoiceNo FORBIDDEN',
          '4 workflowStage WORKFLOW_CONTROL_REQUIRED',
        ]);
      });
    },
    { clock: fakeClock() },
  );
});
