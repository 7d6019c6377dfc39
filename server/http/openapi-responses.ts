import { FAILURES, type FailureCode } from '../../data-plane-agent/base/failures.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { featuresOf, isInAuth } from './admission.js';
import { bodyLimits } from './body-limits.js';
import { isChallenged, type Endpoint } from './endpoint.js';
import { statusText } from '../../data-plane-agent/base/http/problems.js';
import { errorTitle } from './openapi-descriptions.js';
import type { Json, SchemaRegistry } from './openapi-schemas.js';

/** Statuses of refusals by HTTP rules, in addition to the failures of the catalogue. */
const FRAMEWORK: Readonly<Record<number, string>> = {
  400: 'A field, a parameter or a header is unknown, missing or invalid; one message per field. Also malformed JSON, and a body with too many levels, keys or values.',
  415: 'The body is not `application/json`.',
  431: 'The request line and headers are larger than 64 KiB.',
  500: 'An internal error. The message contains only the request id.',
  503: 'A database or a queue is unavailable, or more requests have arrived than can be answered in time: nothing was done, so the request can be repeated after `Retry-After`.',
};

/** All answers of an endpoint, by status, each with its schema. */
export function responsesOf(endpoint: Endpoint, registry: SchemaRegistry): Json {
  const codes = failuresOf(endpoint);
  const statuses = [
    ...new Set([...frameworkStatuses(endpoint), ...codes.map((code) => FAILURES[code].status)]),
  ].toSorted((a, b) => a - b);
  return {
    [endpoint.status ?? 200]: endpoint.status === 302 ? REDIRECT : success(endpoint, registry),
    ...(endpoint.sendsOn ? { 302: REDIRECT } : {}),
    ...(endpoint.conditional ? { 304: NOT_MODIFIED } : {}),
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        refusal(status, {
          registry,
          codes: codes.filter((code) => FAILURES[code].status === status),
          framework: status === 413 ? tooLarge(endpoint) : FRAMEWORK[status],
        }),
      ]),
    ),
  };
}

function success(endpoint: Endpoint, registry: SchemaRegistry): Json {
  const { produces, returns } = endpoint;
  const isVersioned = 'version' in ((returns as { readonly properties?: object }).properties ?? {}); // `tagged` adds it as the ETag
  const headers = headersOf([
    ...(isVersioned || endpoint.conditional ? ['ETag' as const] : []),
    ...(takesKey(endpoint) ? ['Idempotency-Replayed' as const] : []),
    ...(produces ? ['Content-Disposition' as const] : []),
  ]);
  return {
    description: 'Done.',
    ...headers,
    content: { [produces ?? 'application/json']: { schema: registry.write(returns) } },
  };
}

/** Headers that are specific to some answers. */
export const ANSWER_HEADERS = {
  ETag: {
    description: 'Of a record its version, for `If-Match`; of a list a digest of the answer, for `If-None-Match`.',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: '`true` if this is the stored answer for the `Idempotency-Key`; otherwise absent.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Content-Disposition': { description: '`attachment`, with a file name.', schema: { type: 'string' } },
  'WWW-Authenticate': {
    description:
      '`Bearer`; if an access token was sent and refused, with `error="invalid_token"` and the reason as `error_description`.',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
} as const satisfies Readonly<Record<string, Json>>;

const headersOf = (names: readonly (keyof typeof ANSWER_HEADERS)[]): Json =>
  names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };

const NOT_MODIFIED: Json = {
  description: 'The answer is the one whose `ETag` was sent in `If-None-Match`. There is no body.',
  ...headersOf(['ETag']),
};

/** Whether `Idempotency-Key` is read. */
export const takesKey = ({ route, needs, idempotencyKey: which }: Endpoint): boolean =>
  which !== 'own' && which !== 'none' && needs !== 'public' && !/^GET |^\w+ \/auth\//.test(route);

const REDIRECT: Json = {
  description: 'A redirect.',
  headers: { Location: { description: 'The target URL.', required: true, schema: { type: 'string' } } },
};

/** The failures of the endpoint itself and of the operations that it calls. */
export const declaredFailures = ({ calls = [], fails }: Pick<Endpoint, 'calls' | 'fails'>): readonly FailureCode[] => [
  ...new Set([...fails, ...calls.flatMap((name) => OPERATIONS[name].fails)]),
];

/** The failures that an endpoint declares, and those that follow from its other properties. */
export function failuresOf(endpoint: Endpoint): readonly FailureCode[] {
  const { route, needs, query } = endpoint;
  const inAuth = isInAuth(endpoint);
  const contractData: readonly FailureCode[] = [
    'DATA_PLANE_NOT_CONNECTED',
    'DATA_PLANE_DENIED',
    'DATA_MOVING',
    'DATA_MOVED',
    'DATA_PLANE_UNAVAILABLE',
    ...(takesKey(endpoint)
      ? ([
          'DATA_PLANE_MISMATCH',
          'DATA_PLANE_OUTCOME_UNKNOWN',
          'IDEMPOTENCY_IN_PROGRESS',
          'IDEMPOTENCY_KEY_REUSED',
        ] as const)
      : []),
  ];
  const namesRecords =
    route.includes('/:') || Object.keys(query?.properties ?? {}).some((key) => /^ids?$|Ids?$/.test(key));
  const all: readonly FailureCode[] = [
    ...(needs === 'public' ? [] : (['UNAUTHENTICATED'] as const)),
    ...(needs === 'public' || inAuth ? [] : (['MFA_ENROLMENT_REQUIRED'] as const)),
    ...(featuresOf(endpoint).length > 0 ? (['PLAN_FEATURE_NOT_ENABLED'] as const) : []),
    ...(typeof needs === 'object' ? (['FORBIDDEN'] as const) : []),
    ...(namesRecords ? (['NOT_FOUND'] as const) : []),
    'RATE_LIMITED',
    ...(isChallenged(endpoint) ? (['BOT_CHALLENGE_FAILED', 'BOT_CHALLENGE_UNAVAILABLE'] as const) : []),
    ...(needs === 'public' || inAuth ? [] : contractData),
    ...declaredFailures(endpoint),
  ];
  return [...new Set(all)];
}

/** 431 is documented for endpoints with a query, because only a long query reaches that limit in practice. */
const frameworkStatuses = ({ body, query }: Endpoint): readonly number[] => [
  400,
  ...(body ? [413, 415] : []),
  ...(query ? [431] : []),
  500,
  503,
];

/** The 413 description with the endpoint's limit. */
const tooLarge = (endpoint: Endpoint): string =>
  `The body is larger than ${bodyLimits(endpoint).bytes / 1024} KiB, uncompressed.`;

function refusal(
  status: number,
  {
    registry,
    codes,
    framework,
  }: { registry: SchemaRegistry; codes: readonly FailureCode[]; framework: string | undefined },
): Json {
  const domain = codes.filter((code) => FAILURES[code].shape === 'domain');
  const shapes = [
    ...(framework !== undefined || domain.length < codes.length ? [frameworkError(registry)] : []),
    ...domain.map((code) => registry.define(errorTitle(code), domainError(code, registry))),
  ];
  const meanings = [
    ...(framework === undefined ? [] : [framework]),
    ...codes.map((code) =>
      FAILURES[code].shape === 'domain' ? `\`${code}\`: ${FAILURES[code].meaning}` : FAILURES[code].meaning,
    ),
  ];
  return {
    description: [...new Set(meanings)].join('\n\n') || statusText(status),
    ...headersOf(status === 401 ? ['WWW-Authenticate'] : status === 429 || status === 503 ? ['Retry-After'] : []),
    content: { 'application/json': { schema: shapes.length === 1 ? shapes[0] : { oneOf: shapes } } },
  };
}

const frameworkError = (registry: SchemaRegistry): Json =>
  registry.define('FrameworkError', {
    type: 'object',
    properties: {
      statusCode: { type: 'integer' },
      message: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      error: { type: 'string' },
    },
    required: ['statusCode', 'message', 'error'],
  });

/** One schema for each code, so that `error.code` determines the type of `details`. */
const domainError = (code: FailureCode, registry: SchemaRegistry): Json => ({
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: [code] },
        message: { type: 'string' },
        details: registry.write(FAILURES[code].details),
      },
      required: ['code', 'message', 'details'],
    },
  },
  required: ['error'],
});
