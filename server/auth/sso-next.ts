import { invalid } from '../../data-plane-agent/base/failures.js';
import { isLoopback } from '../../data-plane-agent/base/loopback.js';

/** Where a browser may be sent back to after signing in, with a code that is worth a session. */
export interface NextRule {
  /** The address to come back to, in its plain form. Throws INVALID_INPUT for one that is not ours. */
  check(next: string | null | undefined, from: { readonly client: 'web' | 'cli' }): string;
  /** The address with parameters of ours, which take the place of its own of the same name. */
  withParameters(next: string, parameters: Readonly<Record<string, string>>): string;
  /**
   * Whether a program of the user's own waits there, which alone learns what the address carries: a page of ours on
   * this machine is none, it is in a browser.
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
      // Browsers take a backslash for a slash and drop tabs and line ends: what is left of `/\evil` or `/<tab>/evil` is
      // another host.
      const plain = !FORBIDDEN.test(next);
      const relative = plain && /^\/(?!\/)/.test(next);
      const url = relative
        ? new URL(next, ownOrigin)
        : plain && /^https?:\/\//i.test(next) && URL.canParse(next)
          ? new URL(next)
          : undefined;
      // `/.//evil` is a path like any other until its dot is taken away.
      if (!url || url.pathname.startsWith('//') || !isOurs(url, client)) {
        throw invalid({
          path: 'next',
          problem: 'must be a path that begins with a single /, or an address of an allowed origin',
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

/** Backslash, blank, controls, and what is not ASCII: an address has those escaped. */
const FORBIDDEN = /[^\x21-\x5b\x5d-\x7e]/;

/** This machine has many names. */
function placeOf(address: string): string {
  const { protocol, port, origin } = new URL(address);
  return isLoopback(address) ? `${protocol}//localhost:${port}` : origin;
}

const pathOf = ({ pathname, search, hash }: URL): string => `${pathname}${search}${hash}`;
