import { invalid } from '../../data-plane-agent/base/failures.js';
import { isLoopback } from '../../data-plane-agent/base/loopback.js';

/** Where a browser may be redirected after signing in, with a code that can be exchanged for a session. */
export interface NextRule {
  /** Returns the normalised URL. Throws INVALID_INPUT if it is not allowed. */
  check(next: string | null | undefined, from: { readonly client: 'web' | 'cli' }): string;
  /** Adds parameters to the URL, replacing existing ones of the same name. */
  withParameters(next: string, parameters: Readonly<Record<string, string>>): string;
  /**
   * Whether a local program of the user listens at the URL. One of our pages on this machine is not such a program,
   * since it runs in a browser.
   */
  isOfProgram(next: string, from: { readonly client: 'web' | 'cli' }): boolean;
}

/** `allowedOrigins`: those of `CORS_ORIGINS`. */
export function createNextRule({
  ownOrigin,
  allowedOrigins,
}: {
  ownOrigin: string;
  allowedOrigins: readonly string[];
}): NextRule {
  const ofOurPages = new Set([ownOrigin, ...allowedOrigins].map((origin) => placeOf(origin)));
  const isOurs = (url: URL, client: 'web' | 'cli'): boolean =>
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    (url.origin === ownOrigin || allowedOrigins.includes(url.origin) || (client === 'cli' && isLoopback(url.href)));

  return {
    check: (next, { client }) => {
      if (next === null || next === undefined) return '/';
      // Browsers treat a backslash as a slash and drop tabs and line breaks, so `/\evil` and `/<tab>/evil` would lead
      // to another host.
      const plain = !FORBIDDEN.test(next);
      const relative = plain && /^\/(?!\/)/.test(next);
      const url = relative
        ? new URL(next, ownOrigin)
        : plain && /^https?:\/\//i.test(next) && URL.canParse(next)
          ? new URL(next)
          : undefined;
      // `/.//evil` becomes `//evil` when the dot segment is removed.
      if (!url || url.pathname.startsWith('//') || !isOurs(url, client)) {
        throw invalid({
          path: 'next',
          problem: 'must be a path that begins with a single /, or a URL of an allowed origin',
        });
      }
      return relative ? pathOf(url) : url.href;
    },
    withParameters: (next, parameters) => {
      const url = new URL(next, ownOrigin);
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return next.startsWith('/') ? pathOf(url) : url.href;
    },
    isOfProgram: (next, { client }) =>
      client === 'cli' && !next.startsWith('/') && isLoopback(next) && !ofOurPages.has(placeOf(next)),
  };
}

/** Backslash, space, control characters and non-ASCII characters, which must be escaped in a URL. */
const FORBIDDEN = /[^\x21-\x5b\x5d-\x7e]/;

/** All loopback names count as the same host. */
function placeOf(address: string): string {
  const { protocol, port, origin } = new URL(address);
  return isLoopback(address) ? `${protocol}//localhost:${port}` : origin;
}

const pathOf = ({ pathname, search, hash }: URL): string => `${pathname}${search}${hash}`;
