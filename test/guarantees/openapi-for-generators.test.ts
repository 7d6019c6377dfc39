import { expect } from 'chai';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { openapi } from '../../server/http/openapi.js';
import { schemaRegistry } from '../../server/http/openapi-schemas.js';
import { s } from '../../data-plane-agent/base/schema.js';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name?: string; readonly schema?: Json }[];
}

/** What generators of clients trip over, found without them: `clients/` runs them where they are at hand. */
describe('generators of clients can read the OpenAPI document', () => {
  const document = JSON.parse(JSON.stringify(openapi(ENDPOINTS, { productName: 'Duebook', version: '1.2.3' }))) as Json;
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, Json>> };

  it('no schema has two types beside null, and every list says what is in it', () => {
    const faults: string[] = [];
    each(document, (json, path) => {
      const types = [json['type']].flat().filter((type) => typeof type === 'string');
      if (types.filter((type) => type !== 'null').length > 1) faults.push(`${path}: ${types.join(', ')}`);
      if (types.includes('array') && json['items'] === undefined) faults.push(`${path} has no items`);
    });
    expect(faults).to.deep.equal([]);
  });

  it('no name that an inline enumeration is given is that of a component, or of other values', () => {
    const named = new Map<string, string>();
    const faults: string[] = [];
    const give = (name: string, values: unknown): void => {
      const text = JSON.stringify([values].flat().filter((value) => value !== null));
      if (name in schemas) faults.push(`${name} is a component`);
      if ((named.get(name) ?? text) !== text) faults.push(`${name} is ${named.get(name) ?? ''} and ${text}`);
      named.set(name, text);
    };
    for (const [title, schema] of Object.entries(schemas)) nameEnums(schema, title, { give, root: true });
    for (const methods of Object.values(document['paths'] as Record<string, Record<string, Operation>>))
      for (const { operationId, parameters } of Object.values(methods))
        for (const { name, schema } of parameters)
          if (name && schema) nameEnums(schema, pascal(operationId) + pascal(name), { give, root: false });
    expect(named.size).to.be.greaterThan(50);
    expect(faults).to.deep.equal([]);
  });

  it('no object is also a choice, of which generators would make a type without its fields', () => {
    const faults: string[] = [];
    each(document, (json, path) => {
      if ('properties' in json && ('anyOf' in json || 'oneOf' in json)) faults.push(path);
    });
    expect(faults).to.deep.equal([]);
  });

  it('every number is a double, as amounts do not fit into 32 bits', () => {
    const faults: string[] = [];
    each(document, (json, path) => {
      if ([json['type']].flat().includes('number') && json['format'] !== 'double') faults.push(path);
    });
    expect(faults).to.deep.equal([]);
  });

  it('an empty text is said to be taken where a field is optional, and refused where it is not', () => {
    const { write } = schemaRegistry();
    expect(write(s.optional(s.text()))).to.deep.equal({ type: ['string', 'null'], maxLength: 500 });
    expect(write(s.text())).to.deep.equal({ type: 'string', minLength: 1, maxLength: 500 });
    const faults: string[] = [];
    each(document, (json, path) => {
      if ([json['type']].flat().includes('null') && 'minLength' in json) faults.push(path);
    });
    expect(faults).to.deep.equal([]);
  });
});

/** As generators name what has no name: the words on the way to it. */
function nameEnums(
  schema: Json,
  name: string,
  { give, root }: { give: (name: string, values: unknown) => void; root: boolean },
): void {
  if (Array.isArray(schema['enum']) && !root) give(name, schema['enum']);
  for (const [property, child] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>))
    nameEnums(child, name + pascal(property), { give, root: false });
  for (const [keyword, word] of [
    ['items', 'Item'],
    ['additionalProperties', 'AdditionalProperty'],
  ] as const)
    if (typeof schema[keyword] === 'object') nameEnums(schema[keyword] as Json, name + word, { give, root: false });
}

const pascal = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9])([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Every object of the document, with where it stands. */
function each(value: unknown, visit: (json: Json, path: string) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) visit(value as Json, path);
  for (const [key, child] of Object.entries(value)) each(child, visit, `${path}/${key}`);
}
