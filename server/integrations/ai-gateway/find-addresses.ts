import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isIP } from 'node:net';
import type { Match } from './finding-types.js';
import { isPassportLine } from './identity-numbers.js';

/**
 * Mail addresses and IP addresses, and the machine-readable lines of passports. Each expression begins at the start of a
 * run of its characters and repeats a single class, so that every character is read a bounded number of times.
 */
export function findAddresses(text: string): Match[] {
  return [...findEmails(text), ...findIpv4(text), ...findIpv6(text), ...findPassportLines(text)];
}

/** As in RFC 5321. */
const MOST_LOCAL = 64;
const MOST_DOMAIN = 253;
/** Without the signs that are allowed in an address but usually stand before one, as in `mailto=`. */
const LOCAL = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d!$%&'*+^_~.-]/u;
const FIRST = /[\p{L}\d_+]/u;
const DOMAIN = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d.-]/u;
const IDEOGRAPHIC_DOMAIN = /[\p{L}\d.-]/u;
const LETTER = /\p{L}/u;

/**
 * An address ends where its writing system ends: in Chinese text, no space separates it from the words around it. Only a
 * domain that begins with another script, as `例子.中国`, continues in it.
 */
function findEmails(text: string): Match[] {
  const found: Match[] = [];
  for (let sign = text.indexOf('@'); sign >= 0; sign = text.indexOf('@', sign + 1)) {
    let start = sign;
    while (start > 0 && sign - start < MOST_LOCAL && LOCAL.test(text[start - 1] ?? '')) start--;
    while (start < sign && !FIRST.test(text[start] ?? '')) start++;
    const next = text[sign + 1] ?? '';
    const inDomain = LETTER.test(next) && !DOMAIN.test(next) ? IDEOGRAPHIC_DOMAIN : DOMAIN;
    let end = sign + 1;
    while (end < text.length && end - sign <= MOST_DOMAIN && inDomain.test(text[end] ?? '')) end++;
    const length = addressLength(text.slice(start, end));
    if (length > 0) found.push({ type: 'EMAIL', start, end: start + length });
  }
  return found;
}

/** The length of the longest address at the beginning: the end of a sentence may follow it. */
function addressLength(text: string): number {
  // The form of a name is that of ASCII; which letters it has is checked by its registry.
  const plain = text.replaceAll(/\P{ASCII}/gu, 'a');
  let { length } = plain;
  for (let cuts = 0; cuts <= MOST_CUTS; cuts++) {
    const address = plain.slice(0, length);
    if (ADDRESS.test(address) && TOP_LEVEL.test(address)) return length;
    const cut = Math.max(address.lastIndexOf('.'), address.lastIndexOf('-'));
    if (cut <= 0) return 0;
    length = cut;
  }
  return 0;
}

const MOST_CUTS = 4;
const ADDRESS = fullFormats.email as RegExp; // the type of the table allows functions too
const TOP_LEVEL = /\.(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/i;

/** After `v` they are versions. */
const IPV4 = /(?<![\d.vV])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\d|\.\d)/g;

function findIpv4(text: string): Match[] {
  return [...text.matchAll(IPV4)]
    .filter(([address]) => isIP(address) === 4)
    .map(({ 0: address, index }) => ({ type: 'IP_ADDRESS', start: index, end: index + address.length }));
}

const IPV6_RUN = /(?<![0-9A-Za-z:.])[0-9A-Fa-f:.]{2,}(?![0-9A-Za-z])/g;
const LONGEST_IPV6 = 45;

function findIpv6(text: string): Match[] {
  return [...text.matchAll(IPV6_RUN)].flatMap(({ 0: run, index }): Match[] => {
    // A colon or a full stop of the sentence may be before or after it.
    const before = run.startsWith('::') ? 0 : (/^[.:]?/.exec(run)?.[0].length ?? 0);
    const address = [run.slice(before), run.slice(before, -1)].find(
      (one) => one.length <= LONGEST_IPV6 && /\d/.test(one) && isIP(one) === 6,
    );
    if (address === undefined) return [];
    return [{ type: 'IP_ADDRESS', start: index + before, end: index + before + address.length }];
  });
}

const ZONE_LINE = /(?<![A-Z0-9<])[A-Z0-9<]{44}(?![A-Z0-9<])/g;

function findPassportLines(text: string): Match[] {
  return [...text.matchAll(ZONE_LINE)]
    .filter(([line]) => isPassportLine(line))
    .map(({ 0: line, index }) => ({ type: 'PASSPORT', start: index, end: index + line.length }));
}
