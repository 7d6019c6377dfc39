import { deflateSync, inflateSync } from 'node:zlib';
import { UnreadableDocument } from './document-text.js';
import { jpegSize, type Size } from './picture-size.js';
import { isFax, isJpeg, unsupported, type Colour } from './tiff-colour.js';
import type { Directory } from './tiff-directories.js';

/** A piece of a page as a PDF image. PDF supports the compression methods of TIFF. */
export interface Packed extends Size {
  readonly data: Buffer;
  /** The compression as entries of the image dictionary. */
  readonly filter: string;
}

type Pack = (data: Buffer, size: Size) => Packed;

const TAG = { compression: 259, photometric: 262, fillOrder: 266, t4: 292, predictor: 317, jpegTables: 347 } as const;
const [NONE, RLE, G3, G4, LZW, DEFLATE, PACKBITS, OLD_DEFLATE] = [1, 2, 3, 4, 5, 8, 32_773, 32_946] as const;

/**
 * Converts the pieces of a page without recompression where possible. Bit and byte order are changed to those of PDF.
 */
export function packingOf(directory: Directory, { bits, samples }: Colour): Pack {
  const compression = directory.number(TAG.compression) ?? NONE;
  if (isJpeg(compression)) return jpegPacking(directory, bits);
  if (isFax(compression) && (bits !== 1 || samples !== 1))
    throw new UnreadableDocument('damaged', 'a fax-compressed page is not black and white');
  const isBitReversed = directory.number(TAG.fillOrder) === 2;
  const isSwapped = bits === 16 && directory.isLittleEndian;
  const predictor = directory.number(TAG.predictor) ?? 1;
  const rows = ({ width, height }: Size) => Math.ceil((width * samples * bits) / 8) * height;
  const packed =
    (filter: string, parameters: (size: Size) => string = () => ''): Pack =>
    (data, size) => ({
      ...size,
      data: isBitReversed ? bitReversed(data) : data,
      filter: `/Filter /${filter} /DecodeParms << ${parameters(size)} >>`,
    });
  const predicted = ({ width }: Size) =>
    predictor === 2 ? `/Predictor 2 /Colors ${samples} /BitsPerComponent ${bits} /Columns ${width}` : '';
  const fax = (parameters: string) =>
    packed(
      'CCITTFaxDecode',
      ({ width, height }) => `${parameters} /Columns ${width} /Rows ${height} /BlackIs1 true /EndOfBlock false`,
    );

  if (predictor > 2) throw unsupported('its samples are floating-point numbers');
  switch (compression) {
    case NONE:
      return (data, size) => {
        if (data.length < rows(size)) throw new UnreadableDocument('damaged', 'the TIFF ends within a page');
        const whole = data.subarray(0, rows(size));
        return {
          ...size,
          data: isSwapped ? Buffer.from(whole).swap16() : isBitReversed ? bitReversed(whole) : whole,
          filter: '',
        };
      };
    case RLE:
      return fax('/K 0 /EncodedByteAlign true');
    case G3: {
      const options = directory.number(TAG.t4) ?? 0;
      if (options & UNCOMPRESSED) throw unsupported('it is a fax with uncompressed parts');
      return fax(`/K ${options & IN_TWO_DIMENSIONS ? 1 : 0} /EndOfLine true`);
    }
    case G4:
      return fax('/K -1');
    case DEFLATE:
    case OLD_DEFLATE: {
      const pack = packed('FlateDecode', predicted);
      // Sixteen-bit samples in the other byte order are swapped after unpacking.
      return isSwapped
        ? (data, size) =>
            pack(deflateSync(inflateSync(data, { maxOutputLength: rows(size) }).swap16(), { level: 1 }), size)
        : pack;
    }
    case LZW:
    case PACKBITS:
      if (isSwapped) throw unsupported('it has compressed sixteen-bit samples in little-endian order');
      return compression === LZW ? newLzw(packed('LZWDecode', predicted)) : packed('RunLengthDecode');
    default:
      throw unsupported(`its compression is unknown (${compression})`);
  }
}

const [IN_TWO_DIMENSIONS, UNCOMPRESSED] = [1, 2] as const;

/** Early programs used the reverse bit order. */
const newLzw =
  (pack: Pack): Pack =>
  (data, size) => {
    const packed = pack(data, size);
    if (packed.data[0] === 0 && ((packed.data[1] ?? 0) & 1) === 1)
      throw unsupported('it uses LZW compression from before 1992');
    return packed;
  };

const bitReversed = (data: Buffer): Buffer => Buffer.from(data.map((byte) => REVERSED_BYTES[byte] ?? 0));
/** Each byte with its bits reversed. */
const REVERSED_BYTES = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number.parseInt(byte.toString(2).padStart(8, '0').split('').reverse().join(''), 2),
);

/**
 * Each piece is a separate JPEG, with common tables stored once. Size and number of colours come from the JPEG header.
 */
function jpegPacking(directory: Directory, bits: number): Pack {
  if (bits !== 8) throw unsupported('it contains JPEGs in an unsupported format');
  const tables = directory.bytes(TAG.jpegTables);
  // They are repeated for each piece. This is the size of all possible tables.
  if (tables && tables.length > 4_096)
    throw new UnreadableDocument('damaged', 'the tables of the JPEGs in the TIFF are too long');
  const isRgb = directory.number(TAG.photometric) === RGB;
  return (data) => {
    // Both have a two-byte marker at start and end.
    const whole = tables && tables.length > 4 ? Buffer.concat([tables.subarray(0, -2), data.subarray(2)]) : data;
    const size = jpegSize(whole);
    if (whole.readUInt16BE(0) !== JPEG_STARTS || !size) throw unsupported('it contains split JPEGs');
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
