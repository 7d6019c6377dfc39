import { UnreadableDocument } from './document-text.js';
import { MAX_PICTURES } from './pdf-drawing.js';
import { MAX_PIXELS } from './picture-size.js';
import { colourOf, type Colour } from './tiff-colour.js';
import type { Directory } from './tiff-directories.js';
import { packingOf, type Packed } from './tiff-packing.js';

/** One page: its stored pieces, and how to display them. */
export interface TiffPage {
  /** In pixels, as stored. */
  readonly width: number;
  readonly height: number;
  /** The height of a pixel divided by its width; about two in coarse faxes. */
  readonly pixelHeight: number;
  /** The orientation tag, from 1 to 8. */
  readonly orientation: number;
  readonly colour: Colour;
  readonly pieces: readonly Piece[];
  /** The stored size of all pieces. */
  readonly bytes: number;
}

/** A strip or a tile, with its upper left corner on the page. */
export interface Piece extends Packed {
  readonly x: number;
  readonly y: number;
}

const TAG = {
  kind: 254,
  oldKind: 255,
  width: 256,
  height: 257,
  compression: 259,
  stripOffsets: 273,
  orientation: 274,
  rowsPerStrip: 278,
  stripBytes: 279,
  xResolution: 282,
  yResolution: 283,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileBytes: 325,
  jpegOffset: 513,
  jpegBytes: 514,
} as const;

/** Whether the image is a page, not a thumbnail or mask. */
export const isPage = (directory: Directory): boolean =>
  ((directory.number(TAG.kind) ?? 0) & (REDUCED | MASK)) === 0 && directory.number(TAG.oldKind) !== OLD_REDUCED;
const [REDUCED, MASK, OLD_REDUCED] = [1, 4, 2] as const;

/** The page of a directory. Its unpacked size is checked without unpacking it. */
export function pageOf(directory: Directory, file: Buffer): TiffPage {
  const [width, height] = [directory.number(TAG.width) ?? 0, directory.number(TAG.height) ?? 0];
  if (width < 1 || height < 1) throw new UnreadableDocument('damaged', 'a page of the TIFF has no size');
  if (width * height > MAX_PIXELS) throw tooLarge();
  const colour = colourOf(directory);
  const pack = packingOf(directory, colour);
  const places = stored(directory, { width, height, plane: colour.plane }, file);
  const pieces = places.map(({ x, y, offset, length, ...size }): Piece => {
    if (length < 1 || offset + length > file.length)
      throw new UnreadableDocument('damaged', 'the TIFF ends within a page');
    return { x, y, ...pack(file.subarray(offset, offset + length), size) };
  });
  // JPEG headers have sizes of their own.
  if (pieces.reduce((sum, piece) => sum + piece.width * piece.height, 0) > MAX_PIXELS) throw tooLarge();
  return {
    width,
    height,
    pixelHeight: pixelHeightOf(directory),
    orientation: directory.number(TAG.orientation) ?? 1,
    colour,
    pieces,
    bytes: places.reduce((sum, { length }) => sum + length, 0),
  };
}

const tooLarge = (): UnreadableDocument =>
  new UnreadableDocument('too_large', `a page has more than ${MAX_PIXELS / 1_000_000} million pixels`);

interface Stored {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly offset: number;
  readonly length: number;
}

function stored(
  directory: Directory,
  { width, height, plane }: { width: number; height: number; plane: number },
  file: Buffer,
): Stored[] {
  const jpeg = directory.number(TAG.compression) === OLD_JPEG ? directory.number(TAG.jpegOffset) : undefined;
  // With old-style JPEG compression the strips are parts of one image.
  if (jpeg)
    return [{ x: 0, y: 0, width, height, offset: jpeg, length: directory.number(TAG.jpegBytes) ?? file.length - jpeg }];
  const tile = directory.number(TAG.tileWidth);
  const [each, down] =
    tile === undefined
      ? [width, Math.min(directory.number(TAG.rowsPerStrip) ?? height, height)]
      : [tile, directory.number(TAG.tileHeight) ?? 0];
  if (each < 1 || down < 1) throw new UnreadableDocument('damaged', 'the pieces of a page have no size');
  const columns = Math.ceil(width / each);
  const count = columns * Math.ceil(height / down);
  // The parts of tiles beyond the page's edge count too.
  if (tile !== undefined && count * each * down > MAX_PIXELS) throw tooLarge();
  if (count > MAX_PICTURES) throw new UnreadableDocument('too_large', `a page has more than ${MAX_PICTURES} pieces`);
  const offsets = directory.numbers(tile === undefined ? TAG.stripOffsets : TAG.tileOffsets, MAX_PICTURES * MAX_PLANES);
  const lengths = directory.numbers(tile === undefined ? TAG.stripBytes : TAG.tileBytes, MAX_PICTURES * MAX_PLANES);
  return Array.from({ length: count }, (_, i) => {
    const [x, y, at] = [(i % columns) * each, Math.floor(i / columns) * down, plane * count + i];
    const offset = offsets[at] ?? 0;
    // Old programs omit the length of a single strip.
    const length = lengths[at] ?? (offsets.length === 1 ? file.length - offset : 0);
    return { x, y, width: each, height: tile === undefined ? Math.min(down, height - y) : down, offset, length };
  });
}

const OLD_JPEG = 6;
const MAX_PLANES = 8;

function pixelHeightOf(directory: Directory): number {
  const ratio = (directory.fraction(TAG.xResolution) ?? 1) / (directory.fraction(TAG.yResolution) ?? 1);
  // Implausible resolutions are ignored.
  return ratio > 0.2 && ratio < 5 ? ratio : 1;
}
