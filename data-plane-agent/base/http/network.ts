import { isIPv6 } from 'node:net';

/**
 * The address, or of an IPv6 one its /64, however it is written: an IPv6 caller has a whole one to choose from, so that
 * counts as one. An IPv4 address that comes as an IPv6 one is the IPv4 address.
 */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip;
  // As URLs write it: lower-case, without leading zeros, and without an IPv4 part.
  const address = new URL(`http://[${ip.split('%')[0] ?? ip}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(address) ?? [];
  if (high !== undefined && low !== undefined)
    return [high, low]
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
      .join('.');
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = address.includes('::') ? Array<string>(8 - left.length - right.length).fill('0') : [];
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}
