import { fail, invalid } from '../../data-plane-agent/base/failures.js';
import { isId, newId } from '../../data-plane-agent/base/ids.js';
import type { TSchema } from '../../data-plane-agent/base/schema.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { beside, soundPart } from '../../data-plane-agent/base/sound.js';
import type { Checked } from '../../data-plane-agent/base/validation.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import { yieldingChecker } from '../../data-plane-agent/base/validation-yielding.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { Plans } from '../access/plans.js';
import type { Principal } from '../access/principal.js';
import type { OperationName, Plane } from '../data-planes/plane.js';
import type { Services } from '../services/services.js';
import { admission } from './admission.js';
import { answerer } from './answer.js';
import { announcesBody, readJson } from './body.js';
import { bodyLimits } from './body-limits.js';
import { idempotencyKey, idempotencyOf, ifMatch, NO_CONDITIONS, requestHash, type Conditions } from './conditions.js';
import { isChallenged, ISSUE_READS, type Endpoint } from './endpoint.js';
import type { HttpContext } from '../../data-plane-agent/base/http/exchange.js';
import { waitsForTurn, type Overload } from './overload.js';
import { queryReader } from './query.js';
import type { RateLimit } from './rate-limit.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';

/** The dependencies shared by all endpoints. */
export interface Api {
  readonly services: Services;
  readonly authenticator: Authenticator;
  readonly plans: Plans;
  /** The data plane of the caller's tenant, bound to this request. */
  planeFor(caller: Caller): Plane;
  readonly limit: RateLimit | undefined;
  readonly overload: Pick<Overload, 'turn'>;
  /** The public URL is https, so cookies are `Secure`. */
  readonly https: boolean;
  /** For tests: an answer that does not match its declaration is an error (500). */
  readonly checkAnswers: boolean;
}

export interface Caller extends Conditions {
  readonly principal: Principal;
  readonly request: RequestInfo;
  /** The timeout of each operation, in milliseconds, if it is longer than usual. */
  readonly timeoutMs: number | undefined;
  /** The operations that the endpoint may call. */
  readonly calls: readonly OperationName[];
  /** Aborted when the client disconnects, for requests that need not be completed then. */
  readonly signal: AbortSignal | undefined;
  /** Called when the data plane returns a stored answer. */
  onReplay(): void;
}

/** Makes a Koa handler of an endpoint. Everything that depends only on the declaration is computed once, here. */
export function handler(
  endpoint: Endpoint,
  api: Api,
): (ctx: HttpContext, params: Readonly<Record<string, string>>) => Promise<void> {
  const { enter, recheck, recheckVisibility } = admission(endpoint, api);
  const readQuery = queryReader(endpoint.query, { open: endpoint.openQuery === true });
  const limits = bodyLimits(endpoint);
  const checkBody = bodyCheck(endpoint.body);
  const conditionsOf = conditionReader(endpoint);
  const ids = idFields(endpoint);
  const challenged = isChallenged(endpoint);
  const answer = answerer(endpoint, api);
  const waits = waitsForTurn(endpoint);
  // A write continues after a disconnect, so that a repeated request finds its result.
  const onlyReads = endpoint.route.startsWith('GET ') || endpoint.produces !== undefined;

  const handle = async (
    ctx: HttpContext,
    params: Readonly<Record<string, string>>,
    began: Principal | undefined,
  ): Promise<void> => {
    const { info } = ctx.state.exchange;
    const sent = await readJson(ctx, limits);
    const principal = began && announcesBody(ctx) ? await recheck(ctx, began) : began;
    const query = readQuery(ctx.querystring);
    const body = await checkBody(sent);
    const conditions = conditionsOf(ctx, principal);
    const shape: readonly Issue[] = [...conditions.issues, ...query.issues, ...(body.ok ? [] : body.issues)];
    const tokenless = challenged
      ? beside(shape, api.services.challenge.missing(tokenOf(body.ok ? body.value : body.refused)))
      : [];
    const issues = [...shape, ...tokenless];
    if (issues.length > 0 || !body.ok)
      throw invalid(
        ...issues,
        ...(await further(
          endpoint,
          {
            issues,
            body,
            params,
            caller: principal && {
              ...NO_CONDITIONS,
              principal,
              request: info,
              timeoutMs: endpoint.timeoutMs,
              calls: ISSUE_READS,
              signal: signalOf(ctx),
              onReplay: () => undefined,
            },
          },
          api,
        )),
      );
    if (ids.params.some((name) => !isId(params[name] ?? '')) || ids.query.some((name) => !areIds(query.value[name])))
      throw fail('NOT_FOUND', {});
    // Before `run`, and so before any password is hashed.
    if (challenged) await api.services.challenge.check(tokenOf(body.value));

    const asked = await conditions.of(body.value);
    const onReplay = () => ctx.set('Idempotency-Replayed', 'true');
    const work = {
      params,
      query: query.value,
      body: body.value,
      request:
        asked.idempotency && principal
          ? {
              ...info,
              keyed: {
                tenantId: principal.tenant.id,
                operation: endpoint.route,
                idempotency: asked.idempotency,
                onReplay,
              },
            }
          : info,
      services: api.services,
      principal,
      // Many endpoints use no contract data.
      plane:
        principal &&
        endpoint.calls &&
        api.planeFor({
          ...asked,
          idempotency: asked.idempotency ?? ownKey(endpoint, principal),
          principal,
          request: info,
          timeoutMs: endpoint.timeoutMs,
          calls: endpoint.calls,
          signal: onlyReads ? signalOf(ctx) : undefined,
          onReplay,
        }),
    };
    // The declaration's types decide which of these an endpoint sees; an endpoint from the list has lost them.
    await answer(ctx, await endpoint.run(work as Parameters<Endpoint['run']>[0]), () =>
      principal ? recheckVisibility(ctx, principal) : Promise.resolve(),
    );
  };
  return async (ctx, params) => {
    const began = await enter(ctx);
    if (!began || !waits) return handle(ctx, params, began);
    const taken = api.overload.turn(ctx, began.tenant.id);
    const turn = taken instanceof Promise ? await taken : taken;
    try {
      return await handle(ctx, params, began);
    } finally {
      turn.ended();
    }
  };
}

/** The challenge token of a body; `undefined` if the body or the token has the wrong type. */
function tokenOf(body: unknown): string | undefined {
  const token: unknown =
    typeof body === 'object' && body !== null && 'challengeToken' in body ? body.challengeToken : undefined;
  return typeof token === 'string' ? token : undefined;
}

/** Further issues of a request that is already refused. */
async function further(
  { furtherIssues }: Endpoint,
  {
    issues,
    body,
    params,
    caller,
  }: {
    issues: readonly Issue[];
    body: Checked<unknown>;
    params: Readonly<Record<string, string>>;
    caller: Caller | undefined;
  },
  api: Api,
): Promise<readonly Issue[]> {
  const sound = furtherIssues && soundPart(body.ok ? body.value : body.refused, body.ok ? [] : body.issues);
  if (!furtherIssues || !sound) return [];
  const asked = {
    params,
    services: api.services,
    isRefused: (path: string) => issues.some((issue) => issue.path === path),
    principal: caller?.principal,
    plane: caller && api.planeFor(caller),
  };
  // The declaration's types decide what this endpoint's `furtherIssues` is given.
  return beside(
    issues,
    await furtherIssues(sound as Parameters<typeof furtherIssues>[0], asked as Parameters<typeof furtherIssues>[1]),
  );
}

/** Without a schema, a body may have no fields. If the schema requires none, the body may be omitted. */
function bodyCheck(schema: TSchema | undefined): (sent: unknown) => Promise<Checked<unknown>> {
  const check = schema && yieldingChecker(schema);
  const mayBeAbsent = ((schema as { required?: readonly string[] } | undefined)?.required ?? []).length === 0;
  return async (sent) => {
    if (sent === undefined)
      return check ? (mayBeAbsent ? { ok: true, value: {} } : check({})) : { ok: true, value: undefined };
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
      return { ok: false, issues: [{ path: '', problem: 'must be an object' }] };
    if (check) return check(sent);
    const unknown = Object.keys(sent).slice(0, MAX_UNKNOWN);
    return unknown.length === 0
      ? { ok: true, value: undefined }
      : { ok: false, issues: unknown.map((path) => ({ path: path.slice(0, 300), problem: 'is not a known field' })) };
  };
}

const MAX_UNKNOWN = 1_000;

/** A generated key: it only allows the connection to the data plane to ask again for a lost answer. */
const ownKey = ({ idempotencyKey: which, route }: Endpoint, { user }: Principal): Conditions['idempotency'] =>
  which === 'always' || which === 'own'
    ? idempotencyOf({ key: newId(), userId: user.id, method: '', path: route, requestHash: sha256Hex('null') })
    : null;

/** Aborted when the client disconnects before the answer is sent; not afterwards, because that costs a stack trace. */
function signalOf({ res }: HttpContext): AbortSignal {
  const disconnected = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) disconnected.abort();
  });
  if (res.destroyed) disconnected.abort();
  return disconnected.signal;
}

interface ReadConditions {
  readonly issues: readonly Issue[];
  of(body: unknown): Promise<Conditions>;
}

const NONE: ReadConditions = { issues: [], of: () => Promise.resolve(NO_CONDITIONS) };

/** `Idempotency-Key` applies to every write outside /auth, `If-Match` to every write. */
function conditionReader({
  route,
  idempotencyKey: which,
}: Endpoint): (ctx: HttpContext, principal: Principal | undefined) => ReadConditions {
  if (which === 'own' || which === 'none' || route.startsWith('GET ')) return () => NONE;
  const keyed = !/^\w+ \/auth\//.test(route);
  return (ctx, principal) => {
    const { headers, method } = ctx.req;
    if (headers['if-match'] === undefined && (!keyed || headers['idempotency-key'] === undefined)) return NONE;
    const { version, issues } = ifMatch(headers);
    const sent = keyed ? idempotencyKey(headers) : { key: undefined, issues: [] };
    const { key } = sent;
    return {
      issues: [...issues, ...sent.issues],
      of: async (body) => ({
        ifVersion: version,
        idempotency:
          key === undefined || !principal
            ? null
            : idempotencyOf({
                key,
                userId: principal.user.id,
                method: method ?? '',
                path: ctx.path,
                requestHash: await requestHash([ctx.querystring, body]),
              }),
      }),
    };
  };
}

/** A value in the path or query that is not a valid id names no record: 404, not 400 or 500. */
function idFields({ route, query }: Endpoint): {
  readonly params: readonly string[];
  readonly query: readonly string[];
} {
  const names = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
  return {
    params: names.filter((name) => ID.test(name)),
    query: Object.keys(query?.properties ?? {}).filter((name) => ID.test(name)),
  };
}

const ID = /^ids?$|Ids?$/;

const areIds = (value: unknown): boolean =>
  value === undefined || value === null || [value].flat().every((text) => typeof text === 'string' && isId(text));
