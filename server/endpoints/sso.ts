import { s } from '../../data-plane-agent/base/schema.js';
import { TokenPair } from '../auth/auth.schemas.js';
import { browserOf, FLOW_MS } from '../auth/oauth-flow.js';
import { CODE_MS } from '../auth/sso.js';
import { endpoint } from '../http/endpoint.js';
import { redirect } from '../http/reply.js';
import { withRefreshCookie } from './refresh-cookie.js';

/** Providers send visible ASCII characters in URLs. */
const parameter = (max: number) => s.verbatim({ max, pattern: '^[\\x20-\\x7E]+$' });

export const ssoEndpoints = {
  listSsoProviders: endpoint('GET /auth/sso/providers', {
    summary: 'List the single sign-on providers',
    description:
      'Lists all providers of the installation in the order of its settings, with id and name only, not the organisations that they serve. The names are public. Starting a sign-in at a provider that does not serve the organisation returns 404.',
    needs: 'public',
    returns: s.list(
      s.object({
        id: s.text({ max: 32, about: 'Used in the path.' }),
        name: s.text({ max: 80, about: 'For display.' }),
      }),
      5,
      'A plain array: an installation has at most five providers.',
    ),
    fails: [],
    run: async ({ services }) => [...services.sso.providers],
  }),

  startSsoLogin: endpoint('GET /auth/sso/:provider/start', {
    summary: 'Start a sign-in at a provider',
    description:
      'Redirects the browser to the provider, which redirects it to the callback. The callback redirects to `next` with a `code`, which `POST /auth/sso/exchange` accepts within two minutes, ' +
      'or with an `error`: `not_a_member`, `access_denied` or `sso_failed`. The browser gets a cookie that the callback and the exchange require: the page that calls the exchange must send cookies ' +
      "(`credentials`) and be of the same site. With `client=cli` and a `next` on the user's own machine, the program that listens there calls the exchange, without the cookie. A provider that does not serve the organisation returns 404.",
    needs: 'public',
    query: s.object({
      tenantSlug: s.text({ max: 64 }),
      next: s.optional(
        s.verbatim({
          max: 2_000,
          about:
            "A path that begins with a single `/`, or a URL of the service's own origin or one of `CORS_ORIGINS`. Defaults to `/`.",
        }),
      ),
      client: s.optional(
        s.enum(
          ['web', 'cli'],
          "With `cli`, `next` may be a URL on the user's own machine, such as `http://127.0.0.1:7777/done`.",
        ),
      ),
    }),
    returns: s.object({}),
    status: 302,
    fails: ['NOT_FOUND', 'SSO_PROVIDER_UNREACHABLE'],
    run: async ({ params, query, request, services }) => {
      const { location, browser } = await services.sso.start(
        {
          provider: params.provider,
          tenantSlug: query.tenantSlug,
          next: query.next ?? null,
          client: query.client ?? 'web',
        },
        request,
      );
      return redirect(location, { cookie: { ...LAX, ...services.sso.cookie, value: browser, maxAgeMs: FLOW_MS } });
    },
  }),

  finishSsoLogin: endpoint('GET /auth/sso/:provider/callback', {
    summary: 'Finish a sign-in at a provider',
    description:
      'Providers redirect the browser here. A state can be used once, in the browser that started the sign-in, within ten minutes.',
    needs: 'public',
    query: s.object({
      state: parameter(500),
      code: s.optional(parameter(8_000)),
      iss: s.optional(parameter(500)),
      error: s.optional(parameter(200)),
    }),
    openQuery: true,
    returns: s.object({}),
    status: 302,
    fails: ['NOT_FOUND', 'TOKEN_INVALID', 'SSO_PROVIDER_UNREACHABLE'],
    run: async ({ params, query: { state, code, iss, error }, request, services }) => {
      const parameters = { state, ...(code && { code }), ...(iss && { iss }), ...(error && { error }) };
      const { location, browser } = await services.sso.callback(
        { provider: params.provider, browser: browserOf(request, services.sso.cookie), parameters },
        request,
      );
      return redirect(location, {
        cookie: {
          ...LAX,
          ...services.sso.cookie,
          ...(browser === undefined ? { value: '', maxAgeMs: 0 } : { value: browser, maxAgeMs: CODE_MS }),
        },
      });
    },
  }),

  exchangeSsoCode: endpoint('POST /auth/sso/exchange', {
    summary: 'Exchange the code of a single sign-on for tokens',
    description:
      "A code can be used once, within two minutes, by the browser that started the sign-in, which is recognised by its cookie. A code that was sent to a program on the user's own machine can be used only by that program, not by a web page. Any other attempt invalidates the code. Using a code again ends the session that it was exchanged for.",
    needs: 'public',
    body: s.object({ code: s.verbatim({ min: 16, max: 200 }) }, { title: 'SsoExchange' }),
    returns: TokenPair,
    fails: ['TOKEN_INVALID', 'UNAUTHENTICATED'],
    run: async ({ body, request, services }) =>
      withRefreshCookie(
        await services.sso.exchange({ code: body.code, browser: browserOf(request, services.sso.cookie) }, request),
        services,
      ),
  }),
};

/** `Lax`, because the provider redirects the browser from its own site. */
const LAX = { sameSite: 'Lax' } as const;
