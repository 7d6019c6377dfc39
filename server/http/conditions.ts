import type { IncomingHttpHeaders } from 'node:http';
import { canonicalHash } from '../../data-plane-agent/base/json-pieces.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';

/** The conditions in the headers of a write. */
export interface Conditions {
  readonly idempotency: Call['idempotency'];
  readonly ifVersion: Call['ifVersion'];
}

export const NO_CONDITIONS: Conditions = { idempotency: null, ifVersion: null };

const KEY = /^[\x20-\x7e]{8,255}$/;
const TAG = /^(?:W\/)?"([1-9]\d{0,14})"$/;

/** Reads `If-Match`: `"7"` or `W/"7"` requires version 7, `*` any version. */
export function ifMatch(headers: IncomingHttpHeaders): { version: number | null; issues: readonly Issue[] } {
  const sent = headers['if-match']?.trim();
  if (sent === undefined || sent === '*') return { version: null, issues: [] };
  const version = TAG.exec(sent)?.[1];
  if (version === undefined)
    return { version: null, issues: [{ path: 'If-Match', problem: 'must be one entity tag, such as "7", or *' }] };
  return { version: Number(version), issues: [] };
}

/**
 * Whether `If-None-Match` names the tag (RFC 9110, 13.1.2). `Cache-Control: no-cache`, which `fetch` adds to such a
 * request, is for caches.
 */
export const isKnown = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch !== undefined && ifNoneMatch.split(',').some((sent) => ['*', tag, `W/${tag}`].includes(sent.trim()));

/** Reads the client's `Idempotency-Key`, if there is one. */
export function idempotencyKey(headers: IncomingHttpHeaders): { key: string | undefined; issues: readonly Issue[] } {
  const sent = headers['idempotency-key'];
  if (sent === undefined) return { key: undefined, issues: [] };
  if (typeof sent === 'string' && KEY.test(sent)) return { key: sent, issues: [] };
  return {
    key: undefined,
    issues: [{ path: 'Idempotency-Key', problem: 'must be 8 to 255 printable ASCII characters' }],
  };
}

/**
 * What the data plane stores: the key identifies one write of one user on one path, and the hash shows whether a
 * repeated request is the same. Both are digests, so no part of the body or of the client's key is stored.
 */
export function idempotencyOf({
  key,
  userId,
  method,
  path,
  requestHash,
}: {
  key: string;
  userId: string;
  method: string;
  path: string;
  requestHash: string;
}): NonNullable<Call['idempotency']> {
  return { key: sha256Hex([userId, method, path, key].join('\n')), requestHash };
}

/** A digest of the request; for a body of megabytes it yields to the event loop several times. */
export const requestHash = (request: unknown): Promise<string> => canonicalHash(request);
