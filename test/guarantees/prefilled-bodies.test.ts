import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { openapi } from '../../server/http/openapi.js';
import { startServer } from '../support/server.js';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}
interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> } }>
      >
    >
  >;
}

/** The fields whose values are amounts of money. */
const MONEY = /^(?:amount|unitPrice|deposit|periodicRent)$|Amount$/;
const SUGGESTING = ['default', 'example', 'examples', 'const'];

const document = openapi(ENDPOINTS, { productName: 'Duebook', version: '0.1.0' }) as unknown as Document; // with the fields that the test uses
const bodies = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody }]) =>
    Object.values(requestBody?.content ?? {}).map(({ schema }) => ({ name: `${method} ${path}`, schema })),
  ),
);

/** The fields with money in a schema, at any depth, by path. */
function moneyIn(schema: Schema, path = '', seen: readonly string[] = []): [string, Schema][] {
  if (schema.$ref) {
    const title = schema.$ref.split('/').at(-1) ?? '';
    const target = document.components.schemas[title];
    return target && !seen.includes(title) ? moneyIn(target, path, [...seen, title]) : [];
  }
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]): [string, Schema][] => [
      ...(MONEY.test(name) ? [[`${path}${name}`, property] as [string, Schema]] : []),
      ...moneyIn(property, `${path}${name}.`, seen),
    ]),
    ...(schema.items ? moneyIn(schema.items, path, seen) : []),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => moneyIn(one, path, seen)),
  ];
}

describe('the request bodies that the reference page offers to send', () => {
  it('include those with money: of contracts, plans, lines, receipts and invoices', () => {
    const found = bodies.filter(({ schema }) => moneyIn(schema).length > 0).map(({ name }) => name);
    expect(found).to.include.members([
      'post /contracts',
      'patch /contracts/{id}',
      'post /contracts/{id}/payments',
      'patch /payments/{paymentId}',
      'patch /payments/{paymentId}/receipt',
      'post /payments/{paymentId}/receipts',
      'patch /payments/{paymentId}/invoice',
      'post /contracts/{id}/invoices',
      'patch /contracts/{id}/invoices/{invoiceId}',
    ]);
  });

  for (const { name, schema } of bodies) {
    const money = moneyIn(schema);
    if (money.length === 0) continue;
    it(`suggest no amount for ${name}`, () => {
      const suggested = money.filter(([, property]) => SUGGESTING.some((keyword) => keyword in property));
      expect(suggested.map(([path]) => path)).to.deep.equal([]);
    });
  }

  // By default the viewer generates a body from the schema with each amount at its minimum, 0, which clears a receipt.
  it('are empty at first: the viewer is configured to prefill nothing', async () => {
    const server = await startServer();
    try {
      expect((await server.client.raw('/docs')).text).to.match(/<openapi-explorer [^>]*\bhide-defaults="true"/);
    } finally {
      await server.stop();
    }
  });
});
