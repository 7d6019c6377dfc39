import type { FailureCode } from '../../data-plane-agent/base/failures.js';
import type { Static, TObject, TProperties, TSchema } from '../../data-plane-agent/base/schema.js';
import type { Need, Feature } from '../access/permissions.js';
import type { Principal } from '../access/principal.js';
import type { Services } from '../services/services.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { MediaType, Reply } from './reply.js';
import type { Sound } from '../../data-plane-agent/base/sound.js';
import type { OperationName, Plane } from '../data-planes/plane.js';

/**
 * The declaration of an endpoint. Its route, 401, 403, 404 and 405, validation, the OpenAPI document, the reference
 * page, the rate-limit class, the metrics label and the generated guarantee tests are all derived from it.
 */
export interface Endpoint<
  R extends Route = Route,
  B extends TSchema | undefined = TSchema | undefined,
  Q extends TObject<TProperties> | undefined = TObject<TProperties> | undefined,
  A extends TSchema = TSchema,
  N extends Access = Access,
  C extends OperationName = OperationName,
> {
  readonly route: R;
  /** A short sentence in the imperative; the reference page's title. */
  readonly summary: string;
  readonly description?: string;
  /** Who may call: `'public'`, `'signed_in'` (any member), or a module level. There is no default. */
  readonly needs: N;
  readonly feature?: Feature;
  /** The body may be omitted if none of its fields is required. */
  readonly body?: B;
  /** `id`, `ids` and names that end in `Id` or `Ids` are ids: a value that is not a UUID is 404. */
  readonly query?: Q;
  /** Accepts undeclared query parameters, for callbacks whose providers add some. Elsewhere they are refused. */
  readonly openQuery?: boolean;
  /**
   * The answer is a file instead of JSON: `returns` is the schema made by `fileOf`, and `run` returns the text, as a
   * whole or in pieces.
   */
  readonly produces?: MediaType;
  /**
   * The idempotency key for writes of contract data. By default it is the client's key, if sent. `always`: if the
   * client sends none, a generated key, so that the data plane can be asked again when its answer is lost. `own`:
   * always a generated key. `none`: no key. With `own` and `none`, `Idempotency-Key` and `If-Match` are ignored,
   * because the endpoint changes nothing even if it is a POST.
   */
  readonly idempotencyKey?: 'always' | 'own' | 'none';
  /** The timeout of each operation, in milliseconds, if it is longer than usual. */
  readonly timeoutMs?: number;
  readonly returns: A;
  /** 201 if a record is created, 302 if the browser is redirected. */
  readonly status?: 200 | 201 | 302;
  /** The answer has a digest as its `ETag`, and is 304 without a body for clients that send it in `If-None-Match`. */
  readonly conditional?: true;
  /** Clients that follow a link are redirected by 302 instead of getting JSON. */
  readonly sendsOn?: true;
  /**
   * The operations on contract data that `run` calls; no others are available to it. The endpoint may fail with their
   * failures too.
   */
  readonly calls?: readonly C[];
  /** Failures of the endpoint itself, in addition to those of its operations and those common to all endpoints. */
  readonly fails: readonly FailureCode[];
  /**
   * Called only if the body was refused: returns the issues that `run` would report for the valid fields, as far as
   * they can be checked, so that one answer lists all issues.
   */
  furtherIssues?(
    sound: B extends TSchema ? Sound<Static<B>> : undefined,
    asked: FurtherContext<R, N>,
  ): Promise<readonly Issue[]> | readonly Issue[];
  run(request: HandlerInput<R, B, Q, N, C>): Promise<Static<A> | Reply<Static<A>>>;
}

/** The reads that `furtherIssues` may call on the data plane. */
export const ISSUE_READS = [
  'getContractCatalog',
  'getContract',
  'getLineCurrency',
] as const satisfies readonly OperationName[];

/** What `furtherIssues` is given in addition to the valid fields. */
export type FurtherContext<R extends Route = Route, N = Access> = {
  readonly params: { readonly [K in PathParam<R>]: string };
  readonly services: Services;
  /** Whether a field was sent and refused. */
  isRefused(path: string): boolean;
} & (N extends 'public'
  ? object
  : { readonly principal: Principal; readonly plane: Pick<Plane, (typeof ISSUE_READS)[number]> });

/** Whether the endpoint requires the bot challenge: its body has a field for the token. */
export const isChallenged = ({ body }: Pick<Endpoint, 'body'>): boolean =>
  'challengeToken' in ((body as { readonly properties?: object } | undefined)?.properties ?? {});

export type Route = `${'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'} /${string}`;
export type Access = 'public' | 'signed_in' | Need;

/**
 * What an endpoint's `run` is given: `principal` only if the endpoint needs a caller, `plane` only if it also declares what
 * it `calls`.
 */
export type HandlerInput<R extends Route, B, Q, N, C extends OperationName> = {
  readonly params: { readonly [K in PathParam<R>]: string };
  readonly body: B extends TSchema ? Static<B> : undefined;
  readonly query: Q extends TSchema ? Static<Q> : Record<string, never>;
  readonly request: RequestInfo;
  readonly services: Services;
} & (N extends 'public'
  ? object
  : { readonly principal: Principal } & ([C] extends [never] ? object : { readonly plane: Pick<Plane, C> }));

type PathParam<R extends string> = R extends `${string}:${infer P}/${infer Rest}`
  ? P | PathParam<`/${Rest}`>
  : R extends `${string}:${infer P}`
    ? P
    : never;

type Declaration<
  R extends Route,
  B extends TSchema | undefined,
  Q extends TObject<TProperties> | undefined,
  A extends TSchema,
  N extends Access,
  C extends OperationName,
> = Omit<Endpoint<R, B, Q, A, N, C>, 'route'>;

/** `endpoint('PATCH /payments/:paymentId/receipt', { … })`: the path is relative to the prefix `/api/v1`. */
export const endpoint = <
  const R extends Route,
  A extends TSchema,
  N extends Access,
  B extends TSchema | undefined = undefined,
  Q extends TObject<TProperties> | undefined = undefined,
  const C extends OperationName = never,
>(
  route: R,
  declaration: Declaration<R, B, Q, A, N, C>,
): Endpoint<R, B, Q, A, N, C> => ({ route, ...declaration }) as Endpoint<R, B, Q, A, N, C>;
