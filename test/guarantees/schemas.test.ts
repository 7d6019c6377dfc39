import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { answerChecker } from '../../data-plane-agent/base/answer-check.js';
import { s, type TSchema } from '../../data-plane-agent/base/schema.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import type { Endpoint } from '../../server/http/endpoint.js';

/** The programs compile schemas without this check, which takes its time at the first of them. */
describe('the schemas of all endpoints and operations', () => {
  const ajv = new Ajv2020({ allErrors: true });
  const faultsOf = (schema: TSchema): readonly string[] =>
    ajv.validateSchema(schema) === true ? [] : (ajv.errors ?? []).map(({ instancePath }) => instancePath);

  /** With the schemas of texts that are JSON, which are compiled by themselves. */
  const withContents = ([name, schema]: readonly [string, TSchema | undefined]): readonly (readonly [
    string,
    TSchema,
  ])[] =>
    schema ? [[name, schema], ...contentsOf(schema).map((content) => [`text in ${name}`, content] as const)] : [];

  const schemas: readonly (readonly [string, TSchema])[] = [
    ...(Object.entries(ENDPOINTS) as readonly (readonly [string, Endpoint])[]).flatMap(
      ([name, { body, query, returns }]) =>
        [
          [`body of ${name}`, body],
          [`query of ${name}`, query],
          [`answer of ${name}`, returns],
        ] as const,
    ),
    ...Object.entries(OPERATIONS).flatMap(
      ([name, { input, output }]) =>
        [
          [`input of ${name}`, input],
          [`output of ${name}`, output],
        ] as const,
    ),
  ].flatMap(withContents);

  it('are JSON Schema 2020-12', () => {
    const faults = schemas.flatMap(([name, schema]) => faultsOf(schema).map((path) => `${name}: ${path}`));
    expect(faults).to.deep.equal([]);
    const each = 2 * Object.keys(OPERATIONS).length + Object.keys(ENDPOINTS).length;
    expect(schemas.length).to.be.greaterThan(each);
    expect(schemas.some(([name]) => name.startsWith('text in '))).to.equal(true);
  });

  it('are found not to be where one is wrong', () => {
    expect(faultsOf(s.object({ name: { ...s.text({ max: 10 }), maxLength: '10' } }))).to.deep.equal([
      '/properties/name/maxLength',
    ]);
    expect(faultsOf(s.object({ name: { ...s.text({ max: 10 }), type: 'texts' } }))).to.include('/properties/name/type');
  });

  it('compile, with every keyword known, also as the check of an answer', () => {
    const unknown = { ...s.text({ max: 10 }), 'x-unknown': true };
    expect(() => answerChecker(s.object({ name: unknown }))({ name: 'a' })).to.throw('unknown keyword: "x-unknown"');
    for (const [name, schema] of schemas)
      expect(() => [checker(schema)({}), answerChecker(schema)({})], name).not.to.throw();
  });
});

/** The schemas of JSON texts anywhere in a value. */
function contentsOf(value: unknown): readonly TSchema[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([keyword, part]: [string, unknown]) => [
    ...(keyword === 'contentSchema' ? [part as TSchema] : []),
    ...contentsOf(part),
  ]);
}
