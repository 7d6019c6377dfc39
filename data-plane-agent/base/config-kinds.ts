import { BlockList, isIP } from 'node:net';

/**
 * Parses the text of one setting. A problem completes the sentence "NAME …" and never contains a value that may be
 * secret.
 */
export interface Kind<T> {
  parse(text: string): Parsed<T>;
  /** The value in a form that operators may see. */
  show(value: T): string;
}

export type Parsed<T> = { ok: true; value: T } | { ok: false; problem: string };

/** Unmodified text of at most `max` characters (default 10 000). */
export function text(limits: { max?: number } = {}): Kind<string> {
  const { max = 10_000 } = limits;
  return {
    parse: (given) => (given.length <= max ? good(given) : bad(`must be at most ${max} characters`)),
    show: (value) => value,
  };
}

export function integer(limits: { min?: number; max?: number } = {}): Kind<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = limits;
  const expected = `must be an integer${rangeText(limits)}`;
  return {
    parse: (given) => {
      const value = /^-?\d+$/.test(given.trim()) ? Number(given) : Number.NaN;
      return value >= min && value <= max ? good(value) : bad(`${expected}, not "${brief(given)}"`);
    },
    show: String,
  };
}

/** A size in bytes. */
export function bytes(limits: { min?: number; max?: number } = {}): Kind<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = limits;
  return integer({ min, max });
}

/** Only `true` or `false`: the meaning of `yes` or `1` would be ambiguous. */
export function boolean(): Kind<boolean> {
  return {
    parse: (given) => {
      const word = given.trim();
      return word === 'true' || word === 'false'
        ? good(word === 'true')
        : bad(`must be true or false, not "${brief(given)}"`);
    },
    show: String,
  };
}

export function oneOf<const V extends string>(...values: readonly V[]): Kind<V> {
  return {
    parse: (given) => {
      const found = values.find((value) => value === given.trim());
      return found === undefined ? bad(`must be one of ${values.join(', ')}, not "${brief(given)}"`) : good(found);
    },
    show: (value) => value,
  };
}

export interface Duration {
  /** The text as given: `15m`. */
  text: string;
  ms: number;
}

/** A duration such as `45s`, `15m`, `12h` or `30d`: greater than zero, at most 3650 days. */
export function duration(limits: { maxMs?: number } = {}): Kind<Duration> {
  const { maxMs = 3650 * UNIT_MS.d } = limits;
  return {
    parse: (given) => {
      const written = given.trim();
      const match = /^(\d{1,12})(s|m|h|d)$/.exec(written);
      const ms = match === null ? 0 : Number(match[1]) * unitMs(match[2]);
      if (ms <= 0) return bad(`must be a duration such as 45s, 15m, 12h or 30d, not "${brief(given)}"`);
      return ms > maxMs
        ? bad(`must be at most ${maxMs / 1000} seconds, not "${brief(given)}"`)
        : good({ text: written, ms });
    },
    show: (value) => value.text,
  };
}

/**
 * A URL with one of the given protocols (`http`, `postgres`, `unix`, without the colon), kept as written. Its password
 * is masked when shown.
 */
export function url(options: { protocols: readonly string[] }): Kind<string> {
  const expected = `must be a URL that begins with ${options.protocols.map((name) => `${name}:`).join(' or ')}`;
  return {
    parse: (given) => {
      const written = given.trim();
      const scheme = options.protocols.find((name) => written.toLowerCase().startsWith(`${name}:`));
      // `sqlite:` and `unix:` URLs have no host, so only a bare `https:` is rejected.
      if (scheme === undefined || written.length === `${scheme}:`.length) return bad(expected);
      if (hasUnencodedPassword(written)) return bad(`begins with ${scheme}: but cannot be parsed as a URL: ${ENCODE}`);
      return URL.canParse(written) ? good(written) : bad(`begins with ${scheme}: but cannot be parsed as a URL`);
    },
    show: (value) => value.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@:]*):[^/?#]*@/i, '$1:••••@'),
  };
}

const ENCODE =
  'special characters of the user name and password (/ # ? @ : %) must be percent-encoded, such as / as %2F, # as %23, ? as %3F, @ as %40, : as %3A and % as %25';

/**
 * Whether a user name or password has a character that ends it early, or a % that encodes nothing. `u:1#x@host` is a
 * valid URL, with the host `u` and the port 1: no URL of a setting has a fragment with @.
 */
function hasUnencodedPassword(written: string): boolean {
  if (!URL.canParse(written)) return written.includes('@');
  const { host, username, password, hash } = new URL(written);
  return (host !== '' && hash.includes('@')) || !isDecodable(username) || !isDecodable(password);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** A URL without a path, in the form browsers send in `Origin`. */
export function origin(): Kind<string> {
  return { parse: (given) => originOf(given.trim()), show: (value) => value };
}

/** Comma-separated origins. */
export function origins(): Kind<readonly string[]> {
  return {
    parse: (given) => {
      const parsed = given
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== '')
        .map(originOf);
      const wrong = parsed.find((one) => !one.ok);
      return wrong && !wrong.ok ? wrong : { ok: true, value: parsed.flatMap((one) => (one.ok ? [one.value] : [])) };
    },
    show: (value) => value.join(','),
  };
}

/** Comma-separated words, trimmed; empty ones are dropped. */
export function list(): Kind<readonly string[]> {
  return { parse: (given) => good(words(given)), show: (value) => value.join(',') };
}

/** Comma-separated address ranges, such as `10.0.0.0/8,fd00::/8`. */
export function cidrs(): Kind<readonly string[]> {
  return {
    parse: (given) => {
      const ranges = words(given);
      const wrong = ranges.find((range) => !isCidr(range));
      return wrong === undefined ? good(ranges) : bad(`must be CIDR ranges such as 10.0.0.0/8, not "${brief(wrong)}"`);
    },
    show: (value) => value.join(','),
  };
}

/** JSON, validated by `check`, which returns the typed value or the problem. */
export function json<T>(check: (value: unknown) => Parsed<T>): Kind<T> {
  return {
    parse: (given) => {
      let value: unknown;
      try {
        value = JSON.parse(given);
      } catch {
        // The parser's message quotes the text, which may contain a secret.
        return bad('must be valid JSON');
      }
      return check(value);
    },
    show: (value) => JSON.stringify(value),
  };
}

function originOf(given: string): Parsed<string> {
  const parsed = URL.canParse(given) ? new URL(given) : undefined;
  const plain =
    parsed &&
    /^https?:$/.test(parsed.protocol) &&
    parsed.pathname === '/' &&
    parsed.search === '' &&
    parsed.hash === '' &&
    parsed.username === '';
  return plain
    ? { ok: true, value: parsed.origin }
    : { ok: false, problem: 'must be an origin such as https://book.example.com, without a path' };
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function unitMs(unit: string | undefined): number {
  return unit === 's' || unit === 'm' || unit === 'h' || unit === 'd' ? UNIT_MS[unit] : 0;
}

function isCidr(range: string): boolean {
  const [address = '', prefix = '', ...rest] = range.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > (family === 4 ? 32 : 128))
    return false;
  // isIP accepts a zone index (`fe80::1%eth0`), but addSubnet does not.
  if (address.includes('%')) return false;
  new BlockList().addSubnet(address, Number(prefix), family === 4 ? 'ipv4' : 'ipv6');
  return true;
}

function words(given: string): string[] {
  return given
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function rangeText({ min, max }: { min?: number; max?: number }): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` >= ${min}`;
  return max === undefined ? '' : ` <= ${max}`;
}

function brief(given: string): string {
  return given.length > 40 ? `${given.slice(0, 40)}…` : given;
}

function good<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

function bad(problem: string): { ok: false; problem: string } {
  return { ok: false, problem };
}
