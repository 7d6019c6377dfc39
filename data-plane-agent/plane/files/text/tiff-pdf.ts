import { RESOLUTION } from './pdf-picture.js';
import { TINT, type Colour } from './tiff-colour.js';
import type { Piece, TiffPage } from './tiff-page.js';

/**
 * Wraps pages in a PDF, each piece as an image at its position and compressed as before. Unreadable pages become empty
 * ones. Pixels keep their number at the resolution used for character recognition, up to its limit.
 */
export function pdfOfPages(pages: readonly (TiffPage | undefined)[]): Uint8Array {
  const file = newFile();
  const kids = pages.map((page) =>
    page ? addPage(file, page) : file.add('<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>'),
  );
  return file.end(`<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`);
}

/** The transformations of the unit square, with y upwards, for the eight orientations of the standard. */
const ORIENTATIONS: Readonly<Record<number, string>> = {
  1: '1 0 0 1 0 0',
  2: '-1 0 0 1 1 0',
  3: '-1 0 0 -1 1 1',
  4: '1 0 0 -1 0 1',
  5: '0 -1 -1 0 1 1',
  6: '0 -1 1 0 0 1',
  7: '0 1 1 0 0 0',
  8: '0 1 -1 0 1 0',
};
/** From this orientation on width and height are swapped. */
const FIRST_SWAPPED = 5;

function addPage(file: PdfFile, page: TiffPage): number {
  const [across, up] = [(page.width * 72) / RESOLUTION, (page.height * page.pixelHeight * 72) / RESOLUTION];
  const [width, height] = page.orientation >= FIRST_SWAPPED ? [up, across] : [across, up];
  const { tint } = page.colour;
  const space = tint ? page.colour.space.replace(TINT, String(addFunction(file, tint))) : page.colour.space;
  const pictures = page.pieces.map((piece) => file.add(pictureOf(piece, page.colour, space), piece.data));
  const placed = page.pieces.map(
    ({ x, y, width: wide, height: high }, i) =>
      `q ${matrix({ width: wide / page.width, height: high / page.height, x: x / page.width, y: 1 - (y + high) / page.height })} cm /P${i} Do Q`,
  );
  const content = file.add(
    '',
    Buffer.from(
      `${matrix({ width, height, x: 0, y: 0 })} cm ${ORIENTATIONS[page.orientation] ?? ORIENTATIONS[1]} cm\n${placed.join('\n')}`,
      'latin1',
    ),
  );
  return file.add(
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${number(width)} ${number(height)}] /Contents ${content} 0 R /Resources << /XObject << ${pictures.map((picture, i) => `/P${i} ${picture} 0 R`).join(' ')} >> >> >>`,
  );
}

const number = (value: number): string => value.toFixed(9);
const matrix = ({
  width,
  height,
  x,
  y,
}: {
  readonly width: number;
  readonly height: number;
  readonly x: number;
  readonly y: number;
}): string => `${number(width)} 0 0 ${number(height)} ${number(x)} ${number(y)}`;

function pictureOf({ width, height, filter }: Piece, { bits, samples, isInverted }: Colour, space: string): string {
  const decode = isInverted ? `/Decode [1 0${' 0 1'.repeat(samples - 1)}]` : '';
  return `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent ${bits} /ColorSpace ${space} ${decode} ${filter}`;
}

const addFunction = (file: PdfFile, { inputs, outputs, program }: NonNullable<Colour['tint']>): number =>
  file.add(
    `/FunctionType 4 /Domain [${'0 1 '.repeat(inputs)}] /Range [${'0 1 '.repeat(outputs)}]`,
    Buffer.from(program, 'latin1'),
  );

interface PdfFile {
  /** Adds an object, which is a stream with these dictionary entries if there is data. Returns its number. */
  add(object: string, data?: Buffer): number;
  /** Returns the file with all objects and this page tree. */
  end(pages: string): Uint8Array;
}

function newFile(): PdfFile {
  const parts: Buffer[] = [];
  let size = 0;
  const write = (part: Buffer | string) => {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
    parts.push(bytes);
    size += bytes.length;
  };
  // The first two objects are written last, because they depend on the others.
  const places: number[] = [0, 0];
  const put = (id: number, object: string, data?: Buffer) => {
    places[id - 1] = size;
    if (!data) return write(`${id} 0 obj\n${object}\nendobj\n`);
    write(`${id} 0 obj\n<< ${object} /Length ${data.length} >>\nstream\n`);
    write(data);
    write('\nendstream\nendobj\n');
  };
  write('%PDF-1.7\n');
  return {
    add: (object, data) => {
      const id = places.push(0);
      put(id, object, data);
      return id;
    },
    end: (pages) => {
      put(1, '<< /Type /Catalog /Pages 2 0 R >>');
      put(2, pages);
      const at = size;
      write(
        `xref\n0 ${places.length + 1}\n0000000000 65535 f \n${places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')}trailer\n<< /Size ${places.length + 1} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`,
      );
      // A separate buffer, which the library takes over.
      const file = new Uint8Array(size);
      for (let i = 0, place = 0; i < parts.length; place += parts[i]?.length ?? 0, i++) file.set(parts[i] ?? [], place);
      return file;
    },
  };
}
