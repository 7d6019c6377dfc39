import { isAscii } from 'node:buffer';
import { windows1252 } from './windows-1252.js';

/** Checks that streamed content is text in an encoding supported by the extraction. */
export interface TextCheck {
  write(chunk: Buffer): void;
  /** Why it is not text, or the start of the text. */
  end(): { readonly problem: string } | { readonly start: string };
}

const START_CHARACTERS = 65_536;

/**
 * Accepts UTF-8, UTF-16 with a byte order mark, GB18030 and Windows-1252, which nearly all bytes are valid in. The only
 * control characters allowed are tab, line ends, form feed and the DOS end of file.
 */
export function textCheck(): TextCheck {
  let candidates: Decoder[] | undefined;
  /** The first two bytes may be a UTF-16 byte order mark, and may arrive separately. */
  let first: Buffer = Buffer.alloc(0);
  const begin = (): Decoder[] => decodersFor(first).filter((decoder) => decoder.write(first));
  return {
    write(chunk) {
      if (candidates) {
        candidates = candidates.filter((decoder) => decoder.write(chunk));
      } else {
        first = Buffer.concat([first, chunk]);
        if (first.length >= 2) candidates = begin();
      }
    },
    end() {
      const read = (candidates ?? begin()).filter((decoder) => decoder.end());
      const plain = read.find((decoder) => !decoder.hasControls());
      if (plain) return { start: plain.start() };
      return {
        problem:
          read.length > 0
            ? 'has control characters that do not occur in text'
            : 'begins as UTF-16 text but is not valid UTF-16',
      };
    },
  };
}

interface Decoder {
  /** False when the bytes are invalid in this encoding. */
  write(chunk: Buffer): boolean;
  end(): boolean;
  start(): string;
  hasControls(): boolean;
}

function decodersFor(head: Buffer): Decoder[] {
  if (head[0] === 0xff && head[1] === 0xfe) return [decoder('utf-16le')];
  if (head[0] === 0xfe && head[1] === 0xff) return [decoder('utf-16be')];
  // All are tried in parallel: the first characters may be valid in each.
  return [decoder('utf-8'), decoder('gb18030'), westernDecoder()];
}

function decoder(encoding: 'utf-8' | 'gb18030' | 'utf-16le' | 'utf-16be'): Decoder {
  const engine = new TextDecoder(encoding, { fatal: true });
  const isWide = encoding.startsWith('utf-16');
  let start = '';
  let hasControls = false;
  /** A character may continue in the next chunk. */
  let isOpen = isWide;
  const look = (text: string): void => {
    if (start.length < START_CHARACTERS) start += text.slice(0, START_CHARACTERS - start.length);
    hasControls ||= hasControl(text);
  };
  const decode = (chunk?: Buffer): boolean => {
    try {
      look(chunk === undefined ? engine.decode() : engine.decode(chunk, { stream: true }));
      return true;
    } catch (error) {
      if (error instanceof TypeError) return false;
      throw error;
    }
  };
  return {
    write(chunk) {
      // A shortcut for ASCII, five times as fast.
      if (!isOpen && isAscii(chunk)) {
        look(chunk.toString('latin1'));
        return true;
      }
      isOpen = isWide || !isAscii(chunk.subarray(-3));
      return decode(chunk);
    },
    end: () => decode(),
    start: () => start,
    hasControls: () => hasControls,
  };
}

/** Windows-1252: all bytes are valid except five undefined ones. */
function westernDecoder(): Decoder {
  let start = '';
  let hasControls = false;
  return {
    write(chunk) {
      const text = windows1252(chunk);
      if (start.length < START_CHARACTERS) start += text.slice(0, START_CHARACTERS - start.length);
      hasControls ||= hasControl(text) || /[\u0080-\u009f]/.test(text);
      return true;
    },
    end: () => true,
    start: () => start,
    hasControls: () => hasControls,
  };
}

/** Whether the text has control characters other than tab, line ends, form feed and the DOS end of file. */
function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if ((code < 32 && code !== 9 && code !== 10 && code !== 12 && code !== 13 && code !== 26) || code === 127)
      return true;
  }
  return false;
}

/** Why a text is not CSV. */
export const csvFault = (start: string): string | undefined =>
  isActive(start) ? 'is not CSV: it begins like an HTML page or a script' : documentFault(start);

export const plainFault = (start: string): string | undefined =>
  isActive(start) ? 'is not plain text: it begins like an HTML page or a script' : documentFault(start);

/** Formats that may consist of text characters: documents, and JPEG images in Windows-1252. */
const documentFault = (start: string): string | undefined =>
  /^\s*(%PDF-|%!PS|\{\\rtf|ÿØÿ)/.test(start)
    ? 'is not plain text: it begins like a PDF, PostScript or RTF document, or an image'
    : undefined;

/** XML must have a root element and no HTML or SVG, which a browser would run. */
export function xmlFault(start: string): string | undefined {
  const [, root] = ROOT.exec(start.replace(PROLOGUE, '')) ?? [];
  if (root === undefined) return 'is not XML';
  return /^(.+:)?(html|svg)$/i.test(root) || PAGE_DOCTYPE.test(start) || PAGE_NAMESPACES.test(start)
    ? 'is not XML data: it contains HTML or SVG, which a browser would run'
    : undefined;
}

/** Text that a browser detects as HTML (WHATWG, MIME Sniffing, 7.1), SVG, or a script. */
const isActive = (start: string): boolean =>
  PAGE_TAGS.test(start.replace(PROLOGUE, '')) || PAGE_DOCTYPE.test(start) || /^\s*(#!|<\?php|<%)/i.test(start);

/** Declarations, comments and processing instructions before the first element. */
const PROLOGUE = /^(\s+|<\?(?!php)[^>]*>|<!--[\s\S]*?-->|<!doctype[^>[]*(\[[^\]]*\]\s*)?>)*/i;
const ROOT = /^<([A-Za-z_\u0080-\uffff][\w.:\u0080-\uffff-]*)[\s/>]/;
const PAGE_TAGS = /^<([a-z]+:)?(html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|svg)[\s/>]/i;
const PAGE_DOCTYPE = /^\s*(<\?xml[^>]*>\s*)?<!doctype\s+(html|svg)/i;
const PAGE_NAMESPACES = /http:\/\/www\.w3\.org\/(1999\/xhtml|2000\/svg)/;

/** A mail message begins with a header that has one of the usual fields. */
export function mailFault(head: Buffer): string | undefined {
  const lines = head
    .toString('latin1')
    .replace(/^From .*\r?\n/, '')
    .split(/\r?\n/);
  const end = lines.indexOf('');
  // The last line of a truncated header may be incomplete.
  const header = lines.slice(0, end === -1 ? -1 : end);
  const isHeader = header.every((line, at) => /^[!-9;-~]+[ \t]*:/.test(line) || (at > 0 && /^[ \t]/.test(line)));
  return isHeader &&
    header.some((line) => /^(from|date|subject|message-id|received|mime-version|return-path|to)[ \t]*:/i.test(line))
    ? undefined
    : 'is not a mail message';
}
