import { BlockList, isIP } from 'node:net';

/** Addresses of this machine. */
export const LOOPBACK_RANGES: readonly string[] = ['127.0.0.0/8', '::1/128'];

/** Decides which IP addresses may be connected to. */
export interface AddressPolicy {
  /** Whether the address is public, or private and listed. False for anything that is not an IP address. */
  allows(address: string): boolean;
  isLoopback(address: string): boolean;
}

/**
 * `allowPrivate` lists non-public ranges (`10.0.0.0/8`) to allow; link-local and metadata addresses are never allowed.
 */
export function addressPolicy(allowPrivate: readonly string[]): AddressPolicy {
  const listed = blockList(allowPrivate);
  const allows = (address: string): boolean => {
    // Only link-local addresses have a zone (`fe80::1%eth0`).
    if (isIP(address) === 0 || address.includes('%')) return false;
    const groups = isIP(address) === 6 ? groupsOf(address) : undefined;
    if (groups && isMapped(groups)) return allows(lastFour(groups, 6));
    const inside = groups && embedded(groups);
    if (has(NEVER, address) || (inside !== undefined && has(NEVER, inside))) return false;
    return !has(NOT_PUBLIC, address) || has(listed, address);
  };
  return { allows, isLoopback: (address) => isIP(address) !== 0 && !address.includes('%') && has(LOOPBACK, address) };
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix = ''] = range.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

const has = (list: BlockList, address: string): boolean => list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

const LOOPBACK = blockList(LOOPBACK_RANGES);

/** The IANA registries of special addresses, and the IPv6 ranges that embed an IPv4 address. */
const NOT_PUBLIC = blockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]);

/**
 * Link-local, and the metadata services from which cloud machines get credentials: AWS, Google, Azure, Alibaba, Oracle.
 * Listing them in `allowPrivate` has no effect.
 */
const NEVER = blockList([
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
]);

/** An IPv6 address as eight numbers. */
function groupsOf(address: string): readonly number[] {
  // The URL parser accepts every notation and returns the canonical one.
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const numbers = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  if (tail === undefined) return numbers(head);
  const [left, right] = [numbers(head), numbers(tail)];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

const isMapped = (groups: readonly number[]): boolean =>
  groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;

/** The IPv4 address to which a translator (NAT64, SIIT, 6to4) or an old network stack would map this address. */
function embedded(groups: readonly number[]): string | undefined {
  const [first, second] = groups;
  if (first === 0x2002) return lastFour(groups, 1);
  const nat64 = first === 0x64 && second === 0xff9b;
  const compatible = groups.slice(0, 6).every((group) => group === 0);
  const translated = groups.slice(0, 4).every((group) => group === 0) && groups[4] === 0xffff && groups[5] === 0;
  return nat64 || compatible || translated ? lastFour(groups, 6) : undefined;
}

function lastFour(groups: readonly number[], from: number): string {
  const [high = 0, low = 0] = groups.slice(from, from + 2);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
