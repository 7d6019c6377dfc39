import type { FailureCode } from '../../data-plane-agent/base/failures.js';
import type { Static, TObject, TProperties, TSchema } from '../../data-plane-agent/base/schema.js';
import type { Need, Feature } from '../access/permissions.js';
import type { Principal } from '../access/principal.js';
import type { Services } from '../services/services.js';
import type { Issue } from '../../data-plane-agent/base/validation.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import type { MediaType, Reply } from './reply.js';
import type { Sound } from '../../data-plane-agent/base/sound.js';
import type { OperationName, Plane } from '../data-planes/plane.js';

/**
 * One endpoint, declared once. From this object come the route, 401, 403, 404 and 405, validation, the OpenAPI
 * document, the reference page, the rate-limit class, the metrics label and the generated guarantee tests.
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
  /** A body of which nothing is required may be left out altogether. */
  readonly body?: B;
  /** Though none of its fields is required by itself, without any of them there is nothing to do. */
  readonly needsBody?: true;
  /** `id`, `ids` and names that end in `Id` or `Ids` hold ids: one that is no UUID is 404. */
  readonly query?: Q;
  /** Query parameters beyond the declared ones are refused, but for provider callbacks, whose providers add some. */
  readonly openQuery?: boolean;
  /**
   * An answer that is a file and no JSON: `returns` is then the schema that `fileOf` makes of it, and `run` gives its
   * text, whole or piece by piece.
   */
  readonly produces?: MediaType;
  /**
   * Under which key it writes contract data. Unless it says otherwise: the client's, where it sends one. `always`: else
   * one of ours, so that an answer that is lost on a wire can be asked for again. `own`: always one of ours, and
   * `none`: without; of both neither `Idempotency-Key` nor `If-Match` is read, for they change nothing though they may
   * be a POST.
   */
  readonly idempotencyKey?: 'always' | 'own' | 'none';
  /** How long each operation that it calls may take, in milliseconds, where that is longer than usual. */
  readonly timeoutMs?: number;
  readonly returns: A;
  /** 201 where a record is created, 302 where the browser is sent on. */
  readonly status?: 200 | 201 | 302;
  /** Whoever follows a link there is sent on, by 302, and gets no JSON. */
  readonly sendsOn?: true;
  /**
   * The operations over contract data that `run` calls; it is offered no others. What they may answer, the endpoint
   * may.
   */
  readonly calls?: readonly C[];
  /** Failures of its own, beside those of its operations and those that every endpoint may answer. */
  readonly fails: readonly FailureCode[];
  /**
   * Of a body that is refused already: what `run` would refuse of its other fields, as far as they and what they belong
   * to tell, so that one answer names all. Is not asked about a body that has passed.
   */
  judge?(
    sound: B extends TSchema ? Sound<Static<B>> : undefined,
    asked: Judging<R, N>,
  ): Promise<readonly Issue[]> | readonly Issue[];
  run(request: HandlerInput<R, B, Q, N, C>): Promise<Static<A> | Reply<Static<A>>>;
}

/** The reads that judges may ask the data plane; see `judge`. */
export const JUDGES_READ = [
  'getContractCatalog',
  'getContract',
  'getLineCurrency',
] as const satisfies readonly OperationName[];

/** What a judge is given beside the sound fields. */
export type Judging<R extends Route = Route, N = Access> = {
  readonly params: { readonly [K in PathParam<R>]: string };
  readonly services: Services;
  /** Whether a field was sent, and refused. */
  isRefused(path: string): boolean;
} & (N extends 'public'
  ? object
  : { readonly principal: Principal; readonly plane: Pick<Plane, (typeof JUDGES_READ)[number]> });

/** Whether a bot challenge guards the endpoint: its body has a place for the token. */
export const isChallenged = ({ body }: Pick<Endpoint, 'body'>): boolean =>
  'challengeToken' in ((body as { readonly properties?: object } | undefined)?.properties ?? {});

export type Route = `${'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'} /${string}`;
export type Access = 'public' | 'signed_in' | Need;

/** What an endpoint's `run` is given. `principal` and `plane` are there exactly when the endpoint needs a caller. */
export type HandlerInput<R extends Route, B, Q, N, C extends OperationName> = {
  readonly params: { readonly [K in PathParam<R>]: string };
  readonly body: B extends TSchema ? Static<B> : undefined;
  readonly query: Q extends TSchema ? Static<Q> : Record<string, never>;
  readonly request: RequestInfo;
  readonly services: Services;
} & (N extends 'public' ? object : { readonly principal: Principal; readonly plane: Pick<Plane, C> });

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
