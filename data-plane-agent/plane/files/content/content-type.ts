import { findsBytes, oleName, type ByteSearch } from './content-search.js';
import { csvFault, mailFault, plainFault, textCheck, xmlFault, type TextCheck } from './content-text.js';
import { createTail, zipDirectory, type Tail } from './content-zip.js';

/** Checks the bytes of one file as they are streamed, in constant memory. */
export interface ContentCheck {
  write(chunk: Uint8Array): void;
  /**
   * Called after all bytes: the contradiction to the declared type, such as "is not a PDF document", or `undefined`.
   * Empty content matches every type.
   */
  end(): string | undefined;
}

/** The check of one file with a declared type: one of `CONTENT_TYPES`, in any case and with any parameters. */
export function contentCheck(declaredType: string): ContentCheck {
  const kind = KINDS.get(mediaType(declaredType));
  if (!kind) throw new RangeError(`unknown content type ${declaredType}`);
  const heads: Buffer[] = [];
  let headBytes = 0;
  const tail = createTail();
  const text = kind.isText === true ? textCheck() : undefined;
  const searches = (kind.names ?? []).map((name) => findsBytes(oleName(name)));
  return {
    write(chunk) {
      if (chunk.length === 0) return;
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      // Copied, because the caller may reuse the buffer.
      if (headBytes < HEAD_BYTES) heads.push(Buffer.from(bytes.subarray(0, HEAD_BYTES - headBytes)));
      headBytes += bytes.length;
      tail.write(bytes);
      text?.write(bytes);
      for (const search of searches) search.write(bytes);
    },
    end: () => (headBytes === 0 ? undefined : kind.fault({ head: Buffer.concat(heads), tail, text, searches })),
  };
}

/** The same for a stream, which is read to its end. */
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

interface Examined {
  /** The first `HEAD_BYTES` of the content. */
  readonly head: Buffer;
  readonly tail: Tail;
  readonly text: TextCheck | undefined;
  /** One for each of the kind's `names`. */
  readonly searches: readonly ByteSearch[];
}

interface Kind {
  readonly isText?: true;
  /** Streams of an OLE file, one of which identifies the format. */
  readonly names?: readonly string[];
  readonly fault: (look: Examined) => string | undefined;
}

const OLE = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const ZIP = 'a zip archive';
const HEIC_BRANDS = new Set(['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'hevm', 'hevs']);

const starts =
  (...signatures: readonly string[]) =>
  ({ head }: Examined): boolean =>
    signatures.some((signature) => head.toString('latin1', 0, signature.length) === signature);

/** A file that begins as one format and ends as an archive is refused: readers disagree about its content. */
const binary = (called: string, is: (look: Examined) => boolean): Kind => ({
  fault: (look) =>
    !is(look)
      ? `is not ${called}`
      : zipDirectory(look.tail) === undefined
        ? undefined
        : `is both ${called} and an archive`,
});

const archive = (called: string, is: (names: ReadonlySet<string>, look: Examined) => boolean): Kind => ({
  fault: (look) => {
    if (!starts('PK\x03\x04', 'PK\x05\x06')(look))
      return called !== ZIP && starts(OLE)(look) ? `is not ${called}, or is encrypted` : `is not ${called}`;
    const names = zipDirectory(look.tail);
    if (names === undefined) return `is not ${called}: its directory is missing, or larger than 1 MiB`;
    if (!is(new Set(names), look)) return `is not ${called}`;
    return names.some((name) => /(^|\/)vbaProject\.bin$/i.test(name)) && called !== ZIP
      ? `is ${called} with macros, which has a separate content type`
      : undefined;
  },
});

const ooxml = (called: string, folder: string): Kind =>
  archive(called, (names) => names.has('[Content_Types].xml') && [...names].some((name) => name.startsWith(folder)));

/** OpenDocument stores its type first and uncompressed, so that it is at a fixed offset. */
const openDocument = (called: string, type: string): Kind =>
  archive(called, (_, { head }) => head.toString('latin1', 30, 40 + type.length) === `mimetype${type}PK`);

const ole = (called: string, ...names: string[]): Kind => ({
  names,
  fault: (look) =>
    !starts(OLE)(look) || !look.searches.some((search) => search.found())
      ? `is not ${called}`
      : zipDirectory(look.tail) === undefined
        ? undefined
        : `is both ${called} and an archive`,
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

/** The default for allowed uploads. HTML, SVG, scripts and unknown formats are excluded. */
export const CONTENT_TYPES: readonly string[] = [...KINDS.keys()];

/** The major brand and the compatible brands, whose number follows from the box size. */
function brandsOf(head: Buffer): string[] {
  const end = Math.min(head.readUInt32BE(0), head.length, 256);
  const brands: string[] = [];
  for (let at = 8; at + 4 <= end; at += 4) if (at !== 12) brands.push(head.toString('latin1', at, at + 4));
  return brands;
}
