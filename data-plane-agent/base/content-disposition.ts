import { normalCut } from './text.js';

/**
 * `Content-Disposition: attachment` with a file name (RFC 6266), safe for any name: control characters, bidirectional
 * controls and lone surrogates are removed, path separators become `_`. A name beyond printable ASCII is sent twice: as
 * an ASCII approximation for old clients, and in `filename*` (RFC 8187).
 */
export function attachmentDisposition(fileName: string): string {
  const name = cleaned(fileName);
  // One character can decompose into eighteen, and proxies limit the length of headers.
  const plain = normalCut(name, { max: 2 * LONGEST, form: 'NFKD' })
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]/gu, '_')
    .replaceAll(/["\\%]/g, '_')
    .slice(0, LONGEST);
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${encoded(name)}`}`;
}

/** The usual limit of file systems. */
const LONGEST = 255;

function cleaned(fileName: string): string {
  const name = fileName
    .replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '')
    .replaceAll(/[/\\]/g, '_')
    .trim();
  return [...name].slice(0, LONGEST).join('') || 'download';
}

/** `encodeURIComponent` leaves `'()*` unescaped, which RFC 8187 does not allow. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
