import { FAILURES } from '../../data-plane-agent/base/failures.js';
import { WARNINGS } from '../../data-plane-agent/base/warnings.js';
import { needText } from '../access/permissions.js';
import { ofPathParameter, ofQueryParameter } from './described-parameters.js';
import type { Endpoint } from './endpoint.js';
import { GUIDE, guidePath } from './guide-pages.js';
import { partsOf, type Endpoints } from './mount.js';
import { PREFIX } from './prefix.js';
import { alternatives, schemaRegistry, withoutNull, type Json, type SchemaRegistry } from './openapi-schemas.js';
import { withDescriptions } from './openapi-descriptions.js';
import { withExample, type Examples } from './openapi-examples.js';
import { ANSWER_HEADERS, declaredFailures, responsesOf, takesKey } from './openapi-responses.js';
import { tagOf, tagsOf } from './openapi-tags.js';

/** The product's name, the version of the package, and examples of the operations. */
export interface About {
  readonly productName: string;
  readonly version: string;
  readonly examples?: Examples;
}

/**
 * Generates the OpenAPI 3.1 document from the schemas used for validation. Throws if an endpoint has no summary or no
 * tag, if two endpoints have the same name or route, or if two different schemas have the same title.
 */
export function openapi(endpoints: Endpoints, about: About): Json {
  const steps = openapiInSteps(endpoints, about);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As `openapi`, in steps of some milliseconds, between which the caller can let other work go on. */
export function* openapiInSteps(
  endpoints: Endpoints,
  { productName, version, examples = {} }: About,
): Generator<undefined, Json> {
  const registry = schemaRegistry();
  const paths: Record<string, Record<string, Json>> = {};
  const routes = new Set<string>();
  for (const [name, endpoint] of Object.entries(endpoints)) {
    refuseUndocumented(name, endpoint, routes);
    const { method, path } = partsOf(endpoint.route);
    const template = path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[template] ??= {})[method.toLowerCase()] = withExample(
      operation(name, endpoint, registry),
      endpoint,
      examples[name],
    );
    yield;
  }
  return {
    openapi: '3.1.0',
    info: { title: `${productName} API`, version, description: introduction() },
    externalDocs: { description: 'Quick start', url: guidePath('quick-start') },
    servers: [{ url: PREFIX }],
    security: [{ bearer: [] }],
    tags: tagsOf(Object.values(endpoints)),
    paths,
    components: {
      schemas: withDescriptions(registry.schemas),
      parameters: HEADER_PARAMETERS,
      headers: ANSWER_HEADERS,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'The access token of a session: the `accessToken` that `POST /auth/login` answers to `{ "tenantSlug", "email", "password" }`. It is valid for 15 minutes by default; `POST /auth/refresh` exchanges the `refreshToken` for new ones. See [Signing in](/docs/guide/signing-in).',
        },
      },
    },
    'x-failures': Object.fromEntries(
      Object.entries(FAILURES).map(([code, { status, shape, meaning, details }]) => [
        code,
        { status, shape, meaning, details: registry.write(details) },
      ]),
    ),
    'x-warnings': Object.fromEntries(
      Object.entries(WARNINGS).map(([code, { meaning, details }]) => [
        code,
        { meaning, details: registry.write(details) },
      ]),
    ),
  };
}

function refuseUndocumented(name: string, { route, summary }: Endpoint, routes: Set<string>): void {
  const shape = route.replaceAll(/:\w+/g, ':');
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) throw new Error(`the endpoint ${name} needs a camelCase name`);
  if (summary.trim() === '') throw new Error(`the endpoint ${name} has no summary`);
  if (routes.has(shape)) throw new Error(`two endpoints have the route ${route}`);
  routes.add(shape);
}

function operation(name: string, endpoint: Endpoint, registry: SchemaRegistry): Json {
  const { summary, needs, body } = endpoint;
  return {
    operationId: name,
    tags: [tagOf(endpoint)],
    summary,
    description: describe(endpoint),
    ...(needs === 'public' ? { security: [] } : {}),
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint, registry), ...headerParameters(endpoint)],
    ...(body
      ? {
          requestBody: {
            required:
              alternatives(body).length > 0 || ((body as { required?: readonly string[] }).required ?? []).length > 0,
            content: { 'application/json': { schema: registry.write(body) } },
          },
        }
      : {}),
    responses: responsesOf(endpoint, registry),
  };
}

function describe({ description, needs, feature }: Endpoint): string {
  const who =
    needs === 'public' ? 'Public.' : needs === 'signed_in' ? 'For any member.' : `Needs \`${needText(needs)}\`.`;
  return [...(description ? [description] : []), `${who}${feature ? ` The plan must have \`${feature}\`.` : ''}`].join(
    '\n\n',
  );
}

const pathParameters = ({ route }: Endpoint): readonly Json[] =>
  [...route.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...about(ofPathParameter(partsOf(route).path, name)),
    schema: { type: 'string', ...(/^id$|Id$/.test(name) ? { format: 'uuid' } : {}) },
  }));

function queryParameters({ query }: Endpoint, registry: SchemaRegistry): readonly Json[] {
  const required = new Set((query as { required?: readonly string[] } | undefined)?.required ?? []);
  return Object.entries(query?.properties ?? {}).map(([name, property]) => {
    const { description, ...schema } = withoutNull(registry.write(property));
    return {
      name,
      in: 'query',
      required: required.has(name),
      // An empty value is no value.
      ...(schema['format'] === 'date' ? { allowEmptyValue: true } : {}),
      ...about(description ?? ofQueryParameter(name)),
      schema,
    };
  });
}

const about = (description: unknown): Json => (description === undefined ? {} : { description });

const HEADER_PARAMETERS: Readonly<Record<string, Json>> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A write sent twice with the same key is executed once. For 24 hours a repeated request returns the first answer, with `Idempotency-Replayed: true`.',
    schema: { type: 'string', minLength: 8, maxLength: 255 },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of the version to change; if the record has another version, the answer is 412.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of an earlier answer to the same request: if it is still right, the answer is 304.',
    schema: { type: 'string' },
  },
};

function headerParameters(endpoint: Endpoint): readonly Json[] {
  const versioned = declaredFailures(endpoint).includes('VERSION_MISMATCH');
  return [
    ...(takesKey(endpoint) ? ['IdempotencyKey'] : []),
    ...(versioned ? ['IfMatch'] : []),
    ...(endpoint.conditional ? ['IfNoneMatch'] : []),
  ].map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function introduction(): string {
  const rows = Object.entries(FAILURES)
    .filter(([, { shape }]) => shape === 'domain')
    .map(([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} |`);
  const warnings = Object.entries(WARNINGS).map(
    ([code, { meaning, details }]) =>
      `| \`${code}\` | ${meaning} | ${Object.keys(details.properties)
        .map((name) => `\`${name}\``)
        .join(', ')} |`,
  );
  return [
    `Guide pages: ${GUIDE.map(({ name, title }) => `[${title}](${guidePath(name)})`).join(', ')}.`,
    'Contracts and receivables of an organisation. Bodies are JSON; dates are `YYYY-MM-DD`, timestamps ISO 8601 in UTC, amounts numbers in major units of their currency.',
    'Undocumented fields and parameters are refused. `null` or an empty string in an optional field means no value; answers contain every field, `null` if it has no value.',
    'Every answer has an `X-Request-Id` and, if the installation limits the request rate, `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds).',
    'What an installation allows depends on whether it is in production (`NODE_ENV=production`). By default: outside production anyone may register an organisation (`PUBLIC_REGISTRATION_ENABLED`), administrators need no second factor (`MFA_REQUIRED_FOR_ADMINS`), a code by mail replaces the authenticator for everybody (`MFA_EMAIL_FALLBACK`), and files are not scanned for malware (`FILE_SCAN_MODE`). In production registration is closed, administrators need a second factor, for them no code by mail replaces it, and files are scanned before they can be downloaded. The service then has a process for each core (`WORKERS`), on which no answer depends.',
    '## Errors',
    'Errors of the request itself have the form `{ statusCode, message, error }`, where `message` is a list with one entry for each invalid field. Errors by a rule of the product have the form `{ error: { code, message, details } }`:',
    ['| code | status | meaning |', '| --- | --- | --- |', ...rows].join('\n'),
    '## Warnings',
    'Problems that do not stop a request are listed in `warnings` of the answer, as `{ code, message }` with the details of the code as further fields:',
    ['| code | meaning | details |', '| --- | --- | --- |', ...warnings].join('\n'),
  ].join('\n\n');
}
