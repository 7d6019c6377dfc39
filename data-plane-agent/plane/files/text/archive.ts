import { strFromU8, unzipSync } from 'fflate';
import sax from 'sax';
import { isCompoundFile, zipContents, type ZipFault } from '../../../base/zip-contents.js';
import { UnreadableDocument } from './document-text.js';

const MAX_UNPACKED_BYTES = 100 * 1024 * 1024;
const MAX_PARTS = 5_000;

/** The unpacked form of a DOCX or XLSX. */
export interface Archive {
  readonly names: readonly string[];
  /** The XML of a part, unpacked on demand; `undefined` if it does not exist. */
  xml(name: string): string | undefined;
}

/**
 * Opens a DOCX or XLSX. Its total unpacked size is checked before anything is unpacked, and no part may exceed its
 * declared size.
 */
export function openArchive(bytes: Uint8Array): Archive {
  if (isCompoundFile(bytes))
    throw new UnreadableDocument(
      'encrypted',
      'the document is protected by a password, or in a format older than 2007',
    );
  const directory = zipContents(bytes, { parts: MAX_PARTS, unpackedBytes: MAX_UNPACKED_BYTES });
  if ('fault' in directory) throw unreadable(directory);
  const { parts } = directory;
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

function unreadable({ fault, cause }: { readonly fault: ZipFault; readonly cause?: unknown }): UnreadableDocument {
  switch (fault) {
    case 'damaged':
      return damaged(cause);
    case 'too_many_parts':
      return new UnreadableDocument('too_large', `the document has more than ${MAX_PARTS} parts`);
    case 'unpacks_to_too_much':
      return new UnreadableDocument('too_large', 'the document unpacks to more than 100 MB');
  }
}

const damaged = (cause?: unknown): UnreadableDocument =>
  new UnreadableDocument('damaged', 'the document is damaged, or is not what its type says', { cause });

function textOf(bytes: Uint8Array): string {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    return new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes);
  return strFromU8(bytes).replace(/^\ufeff/, '');
}

export interface XmlHandler {
  /** Names of elements and attributes come without prefixes. */
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(text: string): void;
}

const MAX_DEPTH = 2_000;
/** The chunk size for the parser, which limits the text it buffers. */
const CHUNK = 32 * 1024;

/** Parses an XML document. Document types and entities are refused; office programs write none. */
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
    handler.open(
      local(name),
      Object.fromEntries(Object.entries(attributes).map(([key, value]) => [local(key), String(value)])),
    );
  };
  parser.onclosetag = (name) => {
    depth -= 1;
    handler.close(local(name));
  };
  parser.ontext = (text) => handler.text(text);
  parser.oncdata = (text) => handler.text(text);
  for (let at = 0; at < xml.length; at += CHUNK) parser.write(xml.slice(at, at + CHUNK));
  parser.close();
}
