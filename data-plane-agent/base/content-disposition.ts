import { normalCut } from './text.js';

/**
 * `Content-Disposition: attachment` with a name for the file (RFC 6266), which no name can break or disguise: what ends
 * a header, turns the direction of writing round or is half a character is left out, what separates folders becomes
 * `_`. A name beyond plain ASCII comes twice: spelled out for old clients, and in `filename*` (RFC 8187) for all
 * others.
 */
export function attachmentDisposition(fileName: string): string {
  const name = cleaned(fileName);
  // Some single signs are eighteen when they are taken apart, and proxies take no header of any length.
  const plain = normalCut(name, { max: 2 * LONGEST, form: 'NFKD' })
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]/gu, '_')
    .replaceAll(/["\\%]/g, '_')
    .slice(0, LONGEST);
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${encoded(name)}`}`;
}

/** More than any file system takes. */
const LONGEST = 255;

function cleaned(fileName: string): string {
  const name = fileName
    .replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '')
    .replaceAll(/[/\\]/g, '_')
    .trim();
  return [...name].slice(0, LONGEST).join('') || 'download';
}

/** What RFC 8187 allows as it stands is a little less than what `encodeURIComponent` leaves. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
