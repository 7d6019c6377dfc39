import { createHash } from 'node:crypto';
import { addressIn } from '../../data-plane-agent/base/addresses.js';
import { invalid } from '../../data-plane-agent/base/failures.js';
import { isLoopback } from '../../data-plane-agent/base/loopback.js';
import type { Outbound } from '../../data-plane-agent/base/outbound.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import { s } from '../../data-plane-agent/base/schema.js';
import type { ChannelKind } from '../store/channels.js';

/** What may be called, as far as the form of an address tells; names are judged when they are resolved. */
export type TargetPolicy = Pick<Outbound, 'refusalOf'>;

const MAX_ADDRESSES = 50;
const isEmail = checker(s.object({ email: s.email() }));

/** Answers the target in normal form. Throws INVALID_INPUT, which names `target`. */
export function checkTarget({ kind, target }: { kind: ChannelKind; target: string | null }, policy: TargetPolicy): string | null {
  if (kind === 'email') return target === null ? null : checkAddresses(target);
  if (target === null) throw invalid({ path: 'target', problem: `is required: a ${kind} channel has an https address` });
  if (isShown(target)) throw invalid({ path: 'target', problem: 'is what is shown of another address; give the address, or leave it out' });
  checkUrl({ path: 'target', url: target }, policy);
  return target;
}

/** Throws INVALID_INPUT, which names the field, for an address that is not to be called: https only, http on this machine outside production. */
export function checkUrl({ path, url }: { path: string; url: string }, policy: TargetPolicy): void {
  const plain = URL.canParse(url) && new URL(url).protocol === 'http:' && !isLoopback(url);
  const problem = policy.refusalOf(url) ?? (plain ? 'must begin with https:' : undefined);
  if (problem !== undefined) throw invalid({ path, problem });
}

function checkAddresses(target: string): string | null {
  const addresses = target.split(',').map((address) => addressIn(address) ?? address).filter((address) => address !== '');
  if (addresses.length > MAX_ADDRESSES) throw invalid({ path: 'target', problem: `must have at most ${MAX_ADDRESSES} addresses` });
  const wrong = addresses.find((email) => !isEmail({ email }).ok);
  if (wrong !== undefined) throw invalid({ path: 'target', problem: 'must be email addresses with commas between them' });
  return addresses.length === 0 ? null : [...new Set(addresses)].join(', ');
}

/** Where a target leads, without what in it is as good as a password; the digest tells one address of a host from another. */
export function shownTarget(kind: ChannelKind, target: string): string {
  if (kind === 'email') return target;
  return `${URL.canParse(target) ? new URL(target).origin : ''}/…${createHash('sha256').update(target).digest('hex').slice(0, 8)}`;
}

/** What was shown of one, sent as if it were one. */
const isShown = (url: string): boolean => /\/…[0-9a-f]{8}$/u.test(url);
