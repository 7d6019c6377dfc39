import { deflateSync, inflateSync } from 'node:zlib';
import { UnreadableDocument } from './document-text.js';
import { jpegSize, type Size } from './picture-size.js';
import { isFax, isJpeg, unsupported, type Colour } from './tiff-colour.js';
import type { Directory } from './tiff-directories.js';

/** A piece of a page as a picture of a PDF: what packs TIFFs packs PDFs too. */
export interface Packed extends Size {
  readonly data: Buffer;
  /** How it is packed, as entries of the picture's dictionary. */
  readonly filter: string;
}

type Pack = (data: Buffer, size: Size) => Packed;

const TAG = { compression: 259, photometric: 262, fillOrder: 266, t4: 292, predictor: 317, jpegTables: 347 } as const;
const [NONE, RLE, G3, G4, LZW, DEFLATE, PACKBITS, OLD_DEFLATE] = [1, 2, 3, 4, 5, 8, 32_773, 32_946] as const;

/**
 * How the pieces of a page are handed over: as they are, but for the order of bits and bytes, of which PDF knows one.
 */
export function packingOf(directory: Directory, { bits, samples }: Colour): Pack {
  const compression = directory.number(TAG.compression) ?? NONE;
  if (isJpeg(compression)) return jpegPacking(directory, bits);
  if (isFax(compression) && (bits !== 1 || samples !== 1))
    throw new UnreadableDocument('damaged', 'a page packed as a fax is not in black and white');
  const isTurned = directory.number(TAG.fillOrder) === 2;
  const isSwapped = bits === 16 && directory.isLittleEndian;
  const predictor = directory.number(TAG.predictor) ?? 1;
  const rows = ({ width, height }: Size) => Math.ceil((width * samples * bits) / 8) * height;
  const packed =
    (filter: string, parameters: (size: Size) => string = () => ''): Pack =>
    (data, size) => ({
      ...size,
      data: isTurned ? turned(data) : data,
      filter: `/Filter /${filter} /DecodeParms << ${parameters(size)} >>`,
    });
  const predicted = ({ width }: Size) =>
    predictor === 2 ? `/Predictor 2 /Colors ${samples} /BitsPerComponent ${bits} /Columns ${width}` : '';
  const fax = (parameters: string) =>
    packed(
      'CCITTFaxDecode',
      ({ width, height }) => `${parameters} /Columns ${width} /Rows ${height} /BlackIs1 true /EndOfBlock false`,
    );

  if (predictor > 2) throw unsupported('its numbers are fractions');
  switch (compression) {
    case NONE:
      return (data, size) => {
        if (data.length < rows(size)) throw new UnreadableDocument('damaged', 'the TIFF ends before its pages do');
        const whole = data.subarray(0, rows(size));
        return {
          ...size,
          data: isSwapped ? Buffer.from(whole).swap16() : isTurned ? turned(whole) : whole,
          filter: '',
        };
      };
    case RLE:
      return fax('/K 0 /EncodedByteAlign true');
    case G3: {
      const options = directory.number(TAG.t4) ?? 0;
      if (options & UNCOMPRESSED) throw unsupported('it is a fax with parts that are not packed');
      return fax(`/K ${options & IN_TWO_DIMENSIONS ? 1 : 0} /EndOfLine true`);
    }
    case G4:
      return fax('/K -1');
    case DEFLATE:
    case OLD_DEFLATE: {
      const pack = packed('FlateDecode', predicted);
      // Two bytes of a number that stand the other way round are turned where they lie open.
      return isSwapped
        ? (data, size) =>
            pack(deflateSync(inflateSync(data, { maxOutputLength: rows(size) }).swap16(), { level: 1 }), size)
        : pack;
    }
    case LZW:
    case PACKBITS:
      if (isSwapped) throw unsupported('its numbers are of sixteen bits in the other order, and packed');
      return compression === LZW ? newLzw(packed('LZWDecode', predicted)) : packed('RunLengthDecode');
    default:
      throw unsupported(`it is packed in a way that is not known (${compression})`);
  }
}

const [IN_TWO_DIMENSIONS, UNCOMPRESSED] = [1, 2] as const;

/** The first programs wrote its codes from the other end. */
const newLzw =
  (pack: Pack): Pack =>
  (data, size) => {
    const packed = pack(data, size);
    if (packed.data[0] === 0 && ((packed.data[1] ?? 0) & 1) === 1)
      throw unsupported('it is packed by LZW as it was before 1992');
    return packed;
  };

const turned = (data: Buffer): Buffer => Buffer.from(data.map((byte) => TURNED[byte] ?? 0));
/** Each byte, its bits in the other order. */
const TURNED = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number.parseInt(byte.toString(2).padStart(8, '0').split('').reverse().join(''), 2),
);

/**
 * Each piece is a JPEG of its own, the tables that all have in common being kept once. It says itself how large it is,
 * and in how many colours.
 */
function jpegPacking(directory: Directory, bits: number): Pack {
  if (bits !== 8) throw unsupported('it holds JPEGs of an unusual kind');
  const tables = directory.bytes(TAG.jpegTables);
  // Put before each piece: as much as all the tables that there can be.
  if (tables && tables.length > 4_096)
    throw new UnreadableDocument('damaged', 'the tables of the JPEGs in the TIFF are too long');
  const isRgb = directory.number(TAG.photometric) === RGB;
  return (data) => {
    // Both begin with a mark of two bytes and end with one.
    const whole = tables && tables.length > 4 ? Buffer.concat([tables.subarray(0, -2), data.subarray(2)]) : data;
    const size = jpegSize(whole);
    if (whole.readUInt16BE(0) !== JPEG_STARTS || !size) throw unsupported('it holds JPEGs in pieces');
    return {
      width: size.width,
      height: size.height,
      data: whole,
      filter: `/Filter /DCTDecode /DecodeParms << /ColorTransform ${isRgb ? 0 : 1} >>`,
    };
  };
}

const JPEG_STARTS = 0xffd8;
const RGB = 2;
