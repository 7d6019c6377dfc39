import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Kind, Parsed } from '../config-kinds.js';

type Pairs = Readonly<Record<string, string>>;

const MOST_CHARACTERS = 20_000;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
/** Visible ASCII, and spaces between. */
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** Pairs as `name=value,name=value`, with percent-encoded values, as the specification of OpenTelemetry has them. */
export function keyValuePairs(): Kind<Pairs> {
  return { parse: (given) => pairsOf(given, () => true), show: written };
}

/** The same for HTTP headers, whose names are converted to lower case. */
export function headerPairs(): Kind<Pairs> {
  return {
    parse: (given) => {
      const parsed = pairsOf(given, ([name, value]) => HEADER_NAME.test(name) && HEADER_VALUE.test(value));
      if (!parsed.ok) return parsed;
      const lower = Object.entries(parsed.value).map(([name, value]) => [name.toLowerCase(), value]);
      return { ok: true, value: Object.fromEntries(lower) as Pairs };
    },
    show: (value) => Object.keys(value).join(','),
  };
}

/** A number from 0 to 1. */
export function fraction(): Kind<number> {
  return {
    parse: (given) => {
      const value = /^(\d+\.?\d*|\.\d+)$/.test(given.trim()) ? Number(given) : Number.NaN;
      return value >= 0 && value <= 1 ? { ok: true, value } : { ok: false, problem: 'must be a number from 0 to 1' };
    },
    show: String,
  };
}

export function propagators(): Kind<readonly string[]> {
  return {
    parse: (given) => {
      const names = given
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
      return names.includes('tracecontext') && names.every((name) => name === 'tracecontext' || name === 'baggage')
        ? { ok: true, value: names }
        : { ok: false, problem: 'must be tracecontext, with or without baggage: other formats are not supported' };
    },
    show: (value) => value.join(','),
  };
}

export interface CaFile {
  readonly path: string;
  readonly pem: string;
}

/** The path of a file with certificates in PEM, which is read at once, so that a missing one is reported at the start. */
export function caFile(): Kind<CaFile> {
  return {
    parse: (given) => {
      const path = given.trim();
      let pem: string;
      try {
        pem = readFileSync(path, 'utf8');
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
        return { ok: false, problem: `names a file that cannot be read (${code})` };
      }
      return isCertificate(pem)
        ? { ok: true, value: { path, pem } }
        : { ok: false, problem: 'names a file that has no certificate in PEM' };
    },
    show: ({ path }) => path,
  };
}

function isCertificate(pem: string): boolean {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) return false;
  try {
    createSecureContext({ ca: pem });
    return true;
  } catch {
    return false; // Node.js throws errors of many kinds for invalid PEM
  }
}

/** The problem never quotes the text, which may have a secret. */
function pairsOf(given: string, accepts: (pair: readonly [name: string, value: string]) => boolean): Parsed<Pairs> {
  const problem = 'must be name=value,name=value with percent-encoded values';
  if (given.length > MOST_CHARACTERS) return { ok: false, problem: `must be at most ${MOST_CHARACTERS} characters` };
  const pairs: [string, string][] = [];
  for (const part of given.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(equals, 0)).trim();
    const value = decoded(part.slice(equals + 1).trim());
    if (name === '' || value === undefined || !accepts([name, value])) return { ok: false, problem };
    pairs.push([name, value]);
  }
  return { ok: true, value: Object.fromEntries(pairs) };
}

function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

const written = (pairs: Pairs): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join(',');
