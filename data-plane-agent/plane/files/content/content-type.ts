import { findsBytes, oleName, type ByteSearch } from './content-search.js';
import { csvFault, mailFault, plainFault, textCheck, xmlFault, type TextCheck } from './content-text.js';
import { createTail, zipDirectory, type Tail } from './content-zip.js';

/** Looks at the bytes of one file as they pass, in flat memory. */
export interface ContentCheck {
  write(chunk: Uint8Array): void;
  /**
   * Once all bytes were written: what contradicts the declared type, as in "is not a PDF document"; else `undefined`.
   * No bytes at all are of every type.
   */
  end(): string | undefined;
}

/**
 * The check of one file declared to be of a type (one of `CONTENT_TYPES`, in whatever case and with whatever
 * parameters).
 */
export function contentCheck(declaredType: string): ContentCheck {
  const kind = KINDS.get(mediaType(declaredType));
  if (!kind) throw new RangeError(`nothing is known about the content type ${declaredType}`);
  const heads: Buffer[] = [];
  let headBytes = 0;
  const tail = createTail();
  const text = kind.isText === true ? textCheck() : undefined;
  const searches = (kind.names ?? []).map((name) => findsBytes(oleName(name)));
  return {
    write(chunk) {
      if (chunk.length === 0) return;
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      // Copied: what passes may be written over once it has passed.
      if (headBytes < HEAD_BYTES) heads.push(Buffer.from(bytes.subarray(0, HEAD_BYTES - headBytes)));
      headBytes += bytes.length;
      tail.write(bytes);
      text?.write(bytes);
      for (const search of searches) search.write(bytes);
    },
    end: () => (headBytes === 0 ? undefined : kind.fault({ head: Buffer.concat(heads), tail, text, searches })),
  };
}

/** The same for content at hand. Reads it to its end. */
export async function contentFault(
  declaredType: string,
  content: AsyncIterable<Uint8Array>,
): Promise<string | undefined> {
  const check = contentCheck(declaredType);
  for await (const chunk of content) check.write(chunk);
  return check.end();
}

/** `Text/CSV; charset=utf-8` is `text/csv`. */
export const mediaType = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

const HEAD_BYTES = 65_536;

interface Look {
  /** The first bytes. */
  readonly head: Buffer;
  readonly tail: Tail;
  readonly text: TextCheck | undefined;
  /** One for each of the kind's `names`. */
  readonly searches: readonly ByteSearch[];
}

interface Kind {
  readonly isText?: true;
  /** Streams of an OLE file, of which one tells what it is. */
  readonly names?: readonly string[];
  readonly fault: (look: Look) => string | undefined;
}

const OLE = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const ZIP = 'a zip archive';
const HEIC_BRANDS = new Set(['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'hevm', 'hevs']);

const starts =
  (...signatures: readonly string[]) =>
  ({ head }: Look): boolean =>
    signatures.some((signature) => head.toString('latin1', 0, signature.length) === signature);

/** A file that begins as one thing and ends as an archive shows each reader something else. */
const binary = (called: string, is: (look: Look) => boolean): Kind => ({
  fault: (look) =>
    !is(look)
      ? `is not ${called}`
      : zipDirectory(look.tail) === undefined
        ? undefined
        : `is ${called} and an archive at once`,
});

const archive = (called: string, is: (names: ReadonlySet<string>, look: Look) => boolean): Kind => ({
  fault: (look) => {
    if (!starts('PK\x03\x04', 'PK\x05\x06')(look))
      return called !== ZIP && starts(OLE)(look) ? `is not ${called}, or is encrypted` : `is not ${called}`;
    const names = zipDirectory(look.tail);
    if (names === undefined) return `is not ${called}: its directory is missing, or larger than 1 MiB`;
    if (!is(new Set(names), look)) return `is not ${called}`;
    return names.some((name) => /(^|\/)vbaProject\.bin$/i.test(name)) && called !== ZIP
      ? `is ${called} with macros, which has a content type of its own`
      : undefined;
  },
});

const ooxml = (called: string, folder: string): Kind =>
  archive(called, (names) => names.has('[Content_Types].xml') && [...names].some((name) => name.startsWith(folder)));

/** OpenDocument says its type first, stored as it is, so that it stands at a fixed place. */
const openDocument = (called: string, type: string): Kind =>
  archive(called, (_, { head }) => head.toString('latin1', 30, 40 + type.length) === `mimetype${type}PK`);

const ole = (called: string, ...names: string[]): Kind => ({
  names,
  fault: (look) =>
    !starts(OLE)(look) || !look.searches.some((search) => search.found())
      ? `is not ${called}`
      : zipDirectory(look.tail) === undefined
        ? undefined
        : `is ${called} and an archive at once`,
});

const text = (fault: (start: string) => string | undefined): Kind => ({
  isText: true,
  fault: ({ text: check }) => {
    const read = check?.end();
    return read === undefined || 'problem' in read ? read?.problem : fault(read.start);
  },
});

const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries<Kind>({
    'application/pdf': binary('a PDF document', starts('%PDF-')),
    'image/png': binary('a PNG image', starts('\x89PNG\r\n\x1a\n')),
    'image/jpeg': binary('a JPEG image', starts('\xff\xd8\xff')),
    'image/webp': binary(
      'a WebP image',
      ({ head }) => head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP',
    ),
    'image/tiff': binary('a TIFF image', starts('II*\0', 'MM\0*', 'II+\0', 'MM\0+')),
    'image/heic': binary(
      'a HEIC image',
      ({ head }) => head.toString('latin1', 4, 8) === 'ftyp' && brandsOf(head).some((brand) => HEIC_BRANDS.has(brand)),
    ),
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': ooxml('a Word document (docx)', 'word/'),
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': ooxml('an Excel workbook (xlsx)', 'xl/'),
    'application/vnd.openxmlformats-officedocument.presentationml.presentation': ooxml(
      'a PowerPoint presentation (pptx)',
      'ppt/',
    ),
    'application/msword': ole('a Word document (doc)', 'WordDocument'),
    'application/vnd.ms-excel': ole('an Excel workbook (xls)', 'Workbook', 'Book'),
    'application/vnd.oasis.opendocument.text': openDocument(
      'an OpenDocument text (odt)',
      'application/vnd.oasis.opendocument.text',
    ),
    'application/vnd.oasis.opendocument.spreadsheet': openDocument(
      'an OpenDocument spreadsheet (ods)',
      'application/vnd.oasis.opendocument.spreadsheet',
    ),
    'text/csv': text(csvFault),
    'text/plain': text(plainFault),
    'application/xml': text(xmlFault),
    'text/xml': text(xmlFault),
    'application/ofd': archive('an OFD document', (names) => names.has('OFD.xml')),
    'application/zip': archive(ZIP, () => true),
    'message/rfc822': { fault: ({ head }) => mailFault(head) },
  }),
);

/**
 * What may be uploaded unless an operator says otherwise: HTML, SVG, scripts and bytes of no known type are not among
 * it.
 */
export const CONTENT_TYPES: readonly string[] = [...KINDS.keys()];

/** The main brand and those that it is compatible with, of which the box's size says how many there are. */
function brandsOf(head: Buffer): string[] {
  const end = Math.min(head.readUInt32BE(0), head.length, 256);
  const brands: string[] = [];
  for (let at = 8; at + 4 <= end; at += 4) if (at !== 12) brands.push(head.toString('latin1', at, at + 4));
  return brands;
}
