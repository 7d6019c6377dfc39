import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopback } from '../../data-plane-agent/base/loopback.js';
import { namesOtherPort, otherPort } from '../../server/open-address.js';
import type { LookedAt } from '../installation.js';
import { check, type Check } from './check.js';

const RESOLVE_TIMEOUT_MS = 5_000;

/** Whether links in mails, cookies, passkeys and single sign-on can work with this PUBLIC_URL. */
export async function publicUrlCheck(
  { values: { publicUrl, port, trustProxy } }: Pick<LookedAt, 'values'>,
  { production, resolves = hasAddress }: { readonly production: boolean; readonly resolves?: typeof hasAddress },
): Promise<Check> {
  const { hostname, protocol } = new URL(publicUrl);
  const warn = (detail: string, fix: string): Check => check.warn('public_url', `${publicUrl}: ${detail}`, fix);
  const expected = 'set PUBLIC_URL to the https URL that users open';
  if (isLoopback(publicUrl)) {
    if (production)
      return warn('opens on this machine only; links in mails, passkeys and single sign-on too', expected);
    const { problem, fix } = otherPort({ publicUrl, port });
    return namesOtherPort({ publicUrl, port })
      ? check.warn('public_url', problem, fix)
      : check.ok('public_url', `${publicUrl}, which opens on this machine only`);
  }
  if (['0.0.0.0', '[::]'].includes(hostname)) return warn('is no address that a browser can open', expected);
  if (protocol === 'http:')
    return warn('passwords and tokens are sent unencrypted, and browsers offer no passkeys without https', expected);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)
    return warn('passkeys need a domain name, not an address', 'set PUBLIC_URL to an https URL with a domain name');
  if (!(await resolves(hostname)))
    return warn(
      `the host ${hostname} has no address that this machine can find`,
      `correct PUBLIC_URL, or the name server`,
    );
  if (trustProxy === 0)
    return warn(
      'the server itself speaks http, so a proxy must be in front of it, but TRUST_PROXY is 0: limits and the audit see the address of the proxy for every user',
      'set TRUST_PROXY to the number of your own proxies, mostly 1',
    );
  return check.ok('public_url', publicUrl);
}

async function hasAddress(hostname: string): Promise<boolean> {
  const found = lookup(hostname).then(
    () => true,
    () => false,
  );
  return Promise.race([found, sleep(RESOLVE_TIMEOUT_MS, false, { ref: false })]);
}
