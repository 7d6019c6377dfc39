import { randomToken, sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { RequestInfo } from '../../data-plane-agent/base/http/request.js';

/**
 * What every authorization at an OAuth provider needs, for single sign-on and for connecting a calendar: a state that
 * can be used once, the verifier of PKCE, and a cookie by which the browser that started it is recognised.
 */
export interface FlowSecrets {
  /** Sent to the provider, which sends it back. */
  readonly state: string;
  /** The value of the browser's cookie. */
  readonly browser: string;
  /** Of PKCE. */
  readonly codeVerifier: string;
}

/** The lifetime of a flow and its cookie, in milliseconds. */
export const FLOW_MS = 10 * 60_000;

export const newFlow = (): FlowSecrets => ({
  state: randomToken(32),
  browser: randomToken(32),
  codeVerifier: randomToken(32),
});

export interface FlowCookie {
  readonly name: string;
  readonly path: string;
}

/**
 * Over https the name has the `__Host-` prefix, which requires the path `/`, so that neither another host of the domain
 * nor a page without TLS can set it: an attacker could otherwise make a victim continue the attacker's flow.
 */
export const flowCookie = (ownOrigin: string, { name, path }: FlowCookie): FlowCookie =>
  ownOrigin.startsWith('https:') ? { name: `__Host-${name}`, path: '/' } : { name, path };

/** If two cookies of that name are sent, the one that we set cannot be identified, so neither is used. */
export const browserOf = (
  { cookies, repeatedCookies = [] }: Pick<RequestInfo, 'cookies' | 'repeatedCookies'>,
  { name }: FlowCookie,
): string | undefined => (repeatedCookies.includes(name) ? undefined : cookies[name]);

/** What is stored of a flow, without its secrets. */
export interface StoredFlow {
  readonly providerId: string;
  /** The digest of the browser's cookie. */
  readonly browserHash: string;
  readonly expiresAt: number;
}

/**
 * The reason why a callback does not belong to the flow, as a code for the audit. An answer of another provider is a
 * mix-up attack; an answer in another browser is an attempt to make it continue someone else's flow.
 */
export function flowFault(
  flow: StoredFlow,
  { provider, browser, at }: { provider: string; browser: string | undefined; at: number },
): 'state_expired' | 'state_of_another_provider' | 'state_of_another_browser' | undefined {
  if (flow.expiresAt <= at) return 'state_expired';
  if (flow.providerId !== provider) return 'state_of_another_provider';
  return browser === undefined || flow.browserHash !== sha256Hex(browser) ? 'state_of_another_browser' : undefined;
}
