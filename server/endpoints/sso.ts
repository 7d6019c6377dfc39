import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { TokenPair } from '../auth/auth.schemas.js';
import { CODE_MS, FLOW_MS } from '../auth/sso.js';
import { endpoint } from '../http/endpoint.js';
import { redirect } from '../http/reply.js';
import type { Services } from '../services/services.js';
import { withRefreshCookie } from './refresh-cookie.js';

/** What providers send in an address is visible ASCII. */
const parameter = (max: number) => s.verbatim({ max, pattern: '^[\\x20-\\x7E]+$' });

export const ssoEndpoints = {
  listSsoProviders: endpoint('GET /auth/sso/providers', {
    summary: 'List the providers of single sign-on',
    description:
      'All that the installation has, in the order of its settings, and nothing of them but id and name: not to which organisations they sign in. Whoever asks sees these names. A sign-in that is begun at a provider of other organisations is 404.',
    needs: 'public',
    returns: s.list(s.object({ id: s.text({ max: 32 }), name: s.text({ max: 80 }) }), 5),
    fails: [],
    run: async ({ services }) => [...services.sso.providers],
  }),

  startSso: endpoint('GET /auth/sso/:provider/start', {
    summary: 'Begin to sign in at a provider',
    description:
      'Sends the browser to the provider, which sends it back to the callback; that then leads to `next` with a `code`, which `POST /auth/sso/exchange` takes within two minutes, ' +
      'or with an `error`: `not_a_member`, `access_denied` or `sso_failed`. The browser gets a cookie, without which the callback is refused, and the exchange too: the page that exchanges sends cookies along ' +
      "(`credentials`) and is of the same site. With `client=cli` and a `next` on the user's own machine the program that listens there exchanges, without the cookie. A provider that does not sign in to the organisation is 404.",
    needs: 'public',
    query: s.object({
      tenantSlug: s.text({ max: 64 }),
      next: s.optional(
        s.verbatim({
          max: 2_000,
          about:
            "A path that begins with a single `/`, or an address of the service's own origin or one of `CORS_ORIGINS`; `/` unless given.",
        }),
      ),
      client: s.optional(
        s.enum(
          ['web', 'cli'],
          "With `cli`, `next` may be an address on the user's own machine, such as `http://127.0.0.1:7777/done`.",
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

  finishSso: endpoint('GET /auth/sso/:provider/callback', {
    summary: 'Come back from a provider',
    description:
      'Where providers send the browser. A state serves once, in the browser that began with it, and for ten minutes.',
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
        { provider: params.provider, browser: browserOf(request, services), parameters },
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

  exchangeSso: endpoint('POST /auth/sso/exchange', {
    summary: 'Exchange the code of a single sign-on for tokens',
    description:
      "A code serves once, within two minutes, in the browser that began, by its cookie; one that went to a program on the user's own machine serves that program, and no page of elsewhere. Whoever else brings a code uses it up. Using one again ends the session that it was exchanged for.",
    needs: 'public',
    body: s.object({ code: s.verbatim({ min: 16, max: 200 }) }, { title: 'SsoExchange' }),
    returns: TokenPair,
    fails: ['TOKEN_INVALID', 'UNAUTHENTICATED'],
    run: async ({ body, request, services }) =>
      withRefreshCookie(
        await services.sso.exchange({ code: body.code, browser: browserOf(request, services) }, request),
        services,
      ),
  }),
};

/** Because the provider sends the browser back from its own site. */
const LAX = { sameSite: 'Lax' } as const;

/** Of two cookies of the name one was set by somebody else, and which cannot be told. */
const browserOf = (
  { cookies, repeatedCookies = [] }: RequestInfo,
  { sso: { cookie } }: Pick<Services, 'sso'>,
): string | undefined => (repeatedCookies.includes(cookie.name) ? undefined : cookies[cookie.name]);
