import { expect } from 'chai';
import { startServer, type TestServer } from '../support/server.js';
import { organisation, type Organisation } from './organisations.js';
import { sampleOf, send } from './requests.js';

/** Unusual but valid input: field of a contract, value sent (as JSON text), and value stored. */
const CONTRACT: readonly (readonly [field: string, sent: string, kept: unknown])[] = [
  ['remark', 'null', null],
  ['remark', '""', null],
  ['remark', '"  \\n\\t "', null],
  ['remark', '"a\\r\\nb\\tc"', 'a\nb\tc'],
  ['remark', '"  عقد إيجار  "', 'عقد إيجار'],
  ['remark', '"契約\\u0020👩‍👩‍👧‍👦"', '契約 👩‍👩‍👧‍👦'],
  ['remark', '"e\\u0301te\\u0301"', 'été'],
  ['remark', '"<script>alert(1)</script>"', '<script>alert(1)</script>'],
  ['remark', '"=1+1"', '=1+1'],
  ['remark', '"%00 \\\\0 $1 ? :name"', '%00 \\0 $1 ? :name'],
  ['remark', JSON.stringify('字'.repeat(10_000)), '字'.repeat(10_000)],
  ['projectName', JSON.stringify('💶'.repeat(500)), '💶'.repeat(500)],
  ['projectName', '"  Pier 4  "', 'Pier 4'],
  ['projectName', '"__proto__"', '__proto__'],
  ['projectName', '"null"', 'null'],
  ['contractNo', '"0007"', '0007'],
  ['signDate', '""', null],
  ['signDate', '"2024-02-29"', '2024-02-29'],
  ['signDate', '"2026-03-01T23:30:00.000-11:00"', '2026-03-01'],
  ['signDate', '" 2026-03-01 "', '2026-03-01'],
  ['currencyCode', '"eur"', 'EUR'],
  ['currencyCode', 'null', 'CNY'],
  ['totalAmount', '-0', 0],
  ['totalAmount', '1e3', 1_000],
  ['totalAmount', '12.50', 12.5],
  ['totalAmount', '9000000000000', 9_000_000_000_000],
  ['totalAmount', '0.1', 0.1],
  ['unitPrice', '0.000001', 0.000001],
  ['quantity', '2.0', 2],
  ['type', 'null', 'sale'],
  ['type', '""', 'sale'],
  ['deposit', 'null', null],
  ['dynamicFields', '{}', {}],
  ['dynamicFields', 'null', {}],
  ['workflowAllowedRoles', 'null', []],
];

describe('unusual but valid input', () => {
  let server: TestServer;
  let org: Organisation;
  before(async () => {
    server = await startServer();
    org = await organisation(server);
  });
  after(() => server.stop());

  for (const [field, sent, kept] of CONTRACT) {
    it(`${field} ${sent.length > 60 ? `${sent.slice(0, 20)}… (${sent.length})` : sent} is kept as ${JSON.stringify(kept).slice(0, 60)}`, async () => {
      const { body = {} } = await sampleOf('POST /contracts', org);
      const json = JSON.stringify({ ...body, [field]: 'HERE' }).replace('"HERE"', () => sent);
      const answer = await org.client.raw<Record<string, unknown>>('/api/v1/contracts', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${org.token}` },
        body: json,
      });
      expect(answer.status, answer.text).to.equal(201);
      expect(answer.body[field]).to.deep.equal(kept);
      expect(Object.is(answer.body[field], -0)).to.equal(false);
      const again = await org.client.get<Record<string, unknown>>(`/contracts/${String(answer.body['id'])}`);
      expect(again.body[field]).to.deep.equal(kept);
    });
  }

  it('a query may have an empty value or a flag that is false, which do not filter', async () => {
    await sampleOf('GET /contracts/:id', org);
    const { total } = (await org.client.get<{ total: number }>('/contracts')).body;
    expect(total).to.be.greaterThan(0);
    for (const query of ['q=', 'type=&status=', 'overdue=false', 'page=1&pageSize=20', 'ownerId='])
      expect((await org.client.get<{ total: number }>('/contracts', { query })).body.total, query).to.equal(total);
  });

  it('q treats wildcards and quotes literally, and finds letters of any script', async () => {
    const fresh = await organisation(server);
    for (const word of ['100%', 'a_b', "O'Neil", '"quoted"', '合同', '👩‍👩‍👧‍👦', '\\', '*', 'ß']) {
      const { body = {} } = await sampleOf('POST /contracts', fresh);
      const made = await send<{ id: string }>(fresh.client, 'POST /contracts', {
        body: { ...body, remark: `before ${word} after` },
      });
      const found = await fresh.client.get<{ items: { id: string }[] }>('/contracts', { query: { q: word } });
      expect(
        found.body.items.map(({ id }) => id),
        word,
      ).to.deep.equal([made.body.id]);
    }
  });
});
