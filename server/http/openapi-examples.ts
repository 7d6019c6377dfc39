import type { Endpoint } from './endpoint.js';
import type { Json } from './openapi-schemas.js';

/** A request that was sent to a server with the demo data, and its answer. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly answer?: unknown;
}

/** By the name of the operation. */
export type Examples = Readonly<Record<string, Example>>;

/** The operation with its example. */
export function withExample(operation: Json, endpoint: Endpoint, example: Example | undefined): Json {
  if (example === undefined) return operation;
  const { parameters, requestBody, responses } = operation as {
    parameters: readonly Json[];
    requestBody?: Json;
    responses: Readonly<Record<string, Json>>;
  };
  const status = String(endpoint.status ?? 200);
  return {
    ...operation,
    parameters: parameters.map((parameter) => withParameter(parameter, { ...example.path, ...example.query })),
    ...(requestBody === undefined || example.request === undefined
      ? {}
      : {
          requestBody: inContent(requestBody, {
            ...(changesMoney(endpoint) ? EMPTY : {}),
            ...recorded(example.request),
          }),
        }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, response]) => [
        code,
        code === status && example.answer !== undefined ? inContent(response, recorded(example.answer)) : response,
      ]),
    ),
  };
}

const recorded = (value: unknown): Json => ({ recorded: { summary: 'Recorded on the demo data', value } });

/** The viewer fills its form with the first example, which must not change amounts if it is sent without a look. */
const EMPTY: Json = { empty: { summary: 'Empty', value: {} } };

const changesMoney = ({ body }: Endpoint): boolean =>
  /"(\w*amount|\w*price|deposit|\w*rent)":/i.test(JSON.stringify(body ?? {}));

function inContent(part: Json, examples: Json): Json {
  const content = part['content'] as Readonly<Record<string, Json>>;
  return {
    ...part,
    content: Object.fromEntries(Object.entries(content).map(([type, media]) => [type, { ...media, examples }])),
  };
}

function withParameter(parameter: Json, values: Readonly<Record<string, string>>): Json {
  const value = values[String(parameter['name'])];
  return value === undefined ? parameter : { ...parameter, example: typed(value, parameter['schema'] as Json) };
}

/** Converts a query parameter to the type of its schema, because examples are JSON. */
function typed(value: string, { type }: Json): unknown {
  if (type === 'integer' || type === 'number') return Number(value);
  if (type === 'boolean') return value === 'true';
  return type === 'array' ? value.split(',') : value;
}
