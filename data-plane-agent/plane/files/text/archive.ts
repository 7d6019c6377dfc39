import { strFromU8, unzipSync, type UnzipFileInfo } from 'fflate';
import sax from 'sax';
import { UnreadableDocument } from './document-text.js';

const MAX_UNPACKED_BYTES = 100 * 1024 * 1024;
const MAX_PARTS = 5_000;

/** The parts of a DOCX or XLSX. */
export interface Archive {
  readonly names: readonly string[];
  /** The part as XML, unpacked when it is asked for; `undefined` when there is none of that name. */
  xml(name: string): string | undefined;
}

/** Opens a DOCX or XLSX. What it would unpack to is added up before anything is unpacked, and nothing is unpacked to more than it says. */
export function openArchive(bytes: Uint8Array): Archive {
  const head = Buffer.from(bytes.subarray(0, 8)).toString('hex');
  if (head === 'd0cf11e0a1b11ae1') throw new UnreadableDocument('encrypted', 'the document is protected by a password, or in the format of before 2007');
  const parts: UnzipFileInfo[] = [];
  try {
    unzipSync(bytes, { filter: (part) => {
      if (parts.push(part) > MAX_PARTS) throw new UnreadableDocument('too_large', `the document has more than ${MAX_PARTS} parts`);
      return false;
    } });
  } catch (error) {
    throw error instanceof UnreadableDocument ? error : damaged(error);
  }
  if (!(total(parts, 'originalSize') <= MAX_UNPACKED_BYTES)) throw new UnreadableDocument('too_large', 'the document unpacks to more than 100 MB');
  // Parts that share their bytes with others are no archive of any program's making.
  if (!(total(parts, 'size') <= bytes.length)) throw damaged();
  return {
    names: parts.map(({ name }) => name),
    xml: (name) => {
      const part = parts.find((one) => one.name === name);
      if (!part) return undefined;
      try {
        const unpacked = unzipSync(bytes, { filter: ({ name: other }) => other === name })[name];
        return unpacked && textOf(unpacked);
      } catch (error) {
        throw damaged(error);
      }
    },
  };
}

const total = (parts: readonly UnzipFileInfo[], size: 'size' | 'originalSize'): number => parts.reduce((sum, part) => sum + part[size], 0);
const damaged = (cause?: unknown): UnreadableDocument => new UnreadableDocument('damaged', 'the document is damaged, or not of its kind', { cause });

function textOf(bytes: Uint8Array): string {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) return new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes);
  return strFromU8(bytes).replace(/^\ufeff/, '');
}

export interface XmlHandler {
  /** The element's name without its prefix, and its attributes by their names without prefixes. */
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(text: string): void;
}

const MAX_DEPTH = 2_000;
/** Pieces in which it is read: the parser holds text up to a length of its own. */
const PIECE = 32 * 1024;

/** Walks an XML document. One that declares a document type or entities is refused: office programs write none. */
export function walkXml(xml: string, handler: XmlHandler): void {
  const parser = sax.parser(true, { xmlns: false, trim: false, normalize: false });
  let depth = 0;
  const local = (name: string) => name.slice(name.indexOf(':') + 1);
  parser.ondoctype = () => {
    throw new UnreadableDocument('damaged', 'the document declares XML entities');
  };
  parser.onerror = (error) => {
    throw damaged(error);
  };
  parser.onopentag = ({ name, attributes }) => {
    if (++depth > MAX_DEPTH) throw damaged();
    handler.open(local(name), Object.fromEntries(Object.entries(attributes).map(([key, value]) => [local(key), String(value)])));
  };
  parser.onclosetag = (name) => {
    depth -= 1;
    handler.close(local(name));
  };
  parser.ontext = (text) => handler.text(text);
  parser.oncdata = (text) => handler.text(text);
  for (let at = 0; at < xml.length; at += PIECE) parser.write(xml.slice(at, at + PIECE));
  parser.close();
}
