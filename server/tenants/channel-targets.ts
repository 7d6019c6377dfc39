import { createHash } from 'node:crypto';
import { addressIn } from '../../data-plane-agent/base/addresses.js';
import { invalid } from '../../data-plane-agent/base/failures.js';
import { isLoopback } from '../../data-plane-agent/base/loopback.js';
import type { Outbound } from '../../data-plane-agent/base/outbound.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { adapterOf } from '../notifications/channels/index.js';

/** Which URLs may be called, judged by their text; host names are checked when they are resolved. */
export type TargetPolicy = Pick<Outbound, 'refusalOf'>;

const MAX_ADDRESSES = 50;
const isEmail = checker(s.object({ email: s.email() }));

/** Returns the normalised target. Throws INVALID_INPUT, which names `target`. */
export function checkTarget(
  { kind, target }: { kind: string; target: string | null },
  policy: TargetPolicy,
): string | null {
  const problem = targetProblem({ kind, target }, policy);
  if (problem !== undefined) throw invalid({ path: 'target', problem });
  return isMail(kind) && target !== null ? addressesOf(target).join(', ') || null : target;
}

/** The problem of a target, if any. */
export function targetProblem(
  { kind, target }: { kind: string; target: string | null },
  policy: TargetPolicy,
): string | undefined {
  if (isMail(kind)) return target === null ? undefined : addressesProblem(addressesOf(target));
  if (target === null) return `is required: a ${kind} channel needs an https URL`;
  if (isShown(target)) return 'is a shortened URL as shown in answers; send the full URL, or omit the field';
  return urlProblem(target, policy);
}

/** Why a URL must not be called: only https is allowed, and http on this machine outside production. */
export function urlProblem(url: string, policy: TargetPolicy): string | undefined {
  const plain = URL.canParse(url) && new URL(url).protocol === 'http:' && !isLoopback(url);
  return policy.refusalOf(url) ?? (plain ? 'must begin with https:' : undefined);
}

const isMail = (kind: string): boolean => adapterOf(kind).transport === 'mail';

const addressesOf = (target: string): string[] => [
  ...new Set(
    target
      .split(',')
      .map((address) => addressIn(address) ?? address)
      .filter((address) => address !== ''),
  ),
];

function addressesProblem(addresses: readonly string[]): string | undefined {
  if (addresses.length > MAX_ADDRESSES) return `must have at most ${MAX_ADDRESSES} addresses`;
  return addresses.every((email) => isEmail({ email }).ok) ? undefined : 'must be email addresses, separated by commas';
}

/** The displayed form of a target, without the secret parts of a URL; a digest distinguishes URLs of the same host. */
export function shownTarget(kind: string, target: string): string {
  if (isMail(kind)) return target;
  return `${URL.canParse(target) ? new URL(target).origin : ''}/…${createHash('sha256').update(target).digest('hex').slice(0, 8)}`;
}

/** Whether the displayed form of a URL was sent back. */
const isShown = (url: string): boolean => /\/…[0-9a-f]{8}$/u.test(url);
