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

  const schemas: readonly (readonly [string, TSchema | undefined])[] = [
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
  ];

  it('are JSON Schema 2020-12', () => {
    const faults = schemas.flatMap(([name, schema]) =>
      schema ? faultsOf(schema).map((path) => `${name}: ${path}`) : [],
    );
    expect(faults).to.deep.equal([]);
    const each = 2 * Object.keys(OPERATIONS).length + Object.keys(ENDPOINTS).length;
    expect(schemas.filter(([, schema]) => schema).length).to.be.greaterThan(each);
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
      if (schema) expect(() => [checker(schema)({}), answerChecker(schema)({})], name).not.to.throw();
  });
});
