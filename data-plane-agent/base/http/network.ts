import { isIPv6 } from 'node:net';

/**
 * The IPv4 address, or the /64 network of an IPv6 address, in canonical form: an IPv6 client usually has a whole /64.
 * An IPv4-mapped IPv6 address is returned as IPv4.
 */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip;
  // The URL parser's form: lower-case, without leading zeros or an IPv4 part.
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
