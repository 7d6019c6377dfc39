import type { IncomingHttpHeaders } from 'node:http';
import { canonicalHash } from '../../data-plane-agent/base/json-pieces.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import type { Issue } from '../../data-plane-agent/base/validation.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';

/** What the headers of a write ask beside its fields. */
export interface Conditions {
  readonly idempotency: Call['idempotency'];
  readonly ifVersion: Call['ifVersion'];
}

export const NO_CONDITIONS: Conditions = { idempotency: null, ifVersion: null };

const KEY = /^[\x20-\x7e]{8,255}$/;
const TAG = /^(?:W\/)?"([1-9]\d{0,14})"$/;

/** Reads `If-Match`: `"7"` or `W/"7"` asks for version 7, `*` for any. */
export function ifMatch(headers: IncomingHttpHeaders): { version: number | null; issues: readonly Issue[] } {
  const sent = headers['if-match']?.trim();
  if (sent === undefined || sent === '*') return { version: null, issues: [] };
  const version = TAG.exec(sent)?.[1];
  if (version === undefined)
    return { version: null, issues: [{ path: 'If-Match', problem: 'must be one entity tag, such as "7", or *' }] };
  return { version: Number(version), issues: [] };
}

/** The key that the client chose for this write, if it chose one. */
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
 * What the data plane remembers: the key means one write of one user on one path, and the hash tells whether a repeat
 * asks for the same thing. Both are digests, so that nothing of a body or of a client's own naming is kept.
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

/** A digest of what is asked for; of a body of megabytes it takes some turns. */
export const requestHash = (request: unknown): Promise<string> => canonicalHash(request);
