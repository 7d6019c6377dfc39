import type { OutboundAnswer } from '../../../data-plane-agent/base/outbound.js';
import { oneLine } from '../templates/index.js';
import { cutTo } from '../notices/inert.js';
import type { Verdict } from './adapter.js';

/** The verdict on the status alone, for any HTTP receiver. */
export function byStatus({ status, headers, body }: OutboundAnswer, now: number): Verdict {
  if (status >= 200 && status < 300) return { delivered: true };
  if (status === 410)
    return {
      delivered: false,
      error: 'the receiver no longer exists (410)',
      isFinal: true,
      disables: true,
    };
  if (status >= 300 && status < 400)
    return { delivered: false, error: `the receiver answered with a redirect (${status}), which is not followed` };
  const wait = retryAfterMs(headers, now);
  const said = excerpt(body.toString('utf8'));
  const unquoted = `the receiver answered ${status}`;
  return {
    delivered: false,
    ...(said === '' ? { error: unquoted } : { error: `${unquoted}: ${said}`, unquoted }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

const DAY_MS = 24 * 3_600_000;

/** `Retry-After` in seconds or as a date; at most a day. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const given = headers.get('retry-after')?.trim();
  if (!given) return undefined;
  const wait = /^\d{1,12}$/.test(given) ? Number(given) * 1_000 : /^[A-Z]/i.test(given) ? Date.parse(given) - now : NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), DAY_MS);
}

/**
 * The beginning of what a receiver said, without anything that could be part of a secret: URLs, and words as long as
 * tokens. Pages are left out.
 */
export function excerpt(text: string): string {
  const words = oneLine(text.slice(0, 2_000).toWellFormed());
  if (words.startsWith('<')) return '';
  return cutTo(
    120,
    words.replaceAll(/\b[a-z][a-z0-9+.-]{0,20}:\/\/\S*/gi, '…').replaceAll(/[A-Za-z0-9_\-+/=.~%]{20,}/g, '…'),
  );
}

/** The object in an answer's JSON, if there is one. */
export function objectIn({ body }: OutboundAnswer): Readonly<Record<string, unknown>> | undefined {
  try {
    const read: unknown = JSON.parse(body.toString('utf8'));
    return typeof read === 'object' && read !== null && !Array.isArray(read)
      ? (read as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined; // not JSON, which the caller reports
  }
}

/** For platforms that answer 200 with a code of their own, which is 0 for success. */
export function byCode(
  answer: OutboundAnswer,
  now: number,
  {
    codeField,
    messageField,
    waits,
  }: {
    readonly codeField: string;
    readonly messageField: string;
    /** How long to wait after the codes that refuse because of the rate, in milliseconds. */
    readonly waits: Readonly<Record<number, number>>;
  },
): Verdict {
  const read = objectIn(answer);
  const code = read?.[codeField];
  if (answer.status === 410) return byStatus(answer, now);
  if (typeof code !== 'number') {
    const verdict = byStatus(answer, now);
    return verdict.delivered
      ? { delivered: false, error: `the receiver answered ${answer.status} without a ${codeField}` }
      : verdict;
  }
  if (code === 0) return byStatus(answer, now);
  const message = read?.[messageField];
  const said = typeof message === 'string' ? excerpt(message) : '';
  const wait = waits[code] ?? retryAfterMs(answer.headers, now);
  const refused = `the platform refused the message (${codeField} ${code}`;
  return {
    delivered: false,
    ...(said === '' ? { error: `${refused})` } : { error: `${refused}: ${said})`, unquoted: `${refused})` }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

export const json = (target: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  url: target,
  method: 'POST' as const,
  headers: { 'Content-Type': 'application/json; charset=utf-8', 'User-Agent': 'Duebook', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
