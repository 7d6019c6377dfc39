import { UnreadableDocument } from './document-text.js';
import type { Directory } from './tiff-directories.js';

/** How the samples of a page are interpreted, in PDF terms. */
export interface Colour {
  /** Bits per sample. */
  readonly bits: number;
  /** Samples per pixel, in the plane that is read. */
  readonly samples: number;
  /** The plane that is read if the samples of a pixel are stored in separate planes. */
  readonly plane: number;
  /** The colour space, in which `TINT` stands for the object number of `tint`. */
  readonly space: string;
  /** Computes the colour of a pixel with additional samples. */
  readonly tint?: { readonly inputs: number; readonly outputs: number; readonly program: string };
  /** Whether large values are dark. */
  readonly isInverted: boolean;
}

export const TINT = '%TINT%';

const TAG = {
  bits: 258,
  compression: 259,
  photometric: 262,
  samples: 277,
  planar: 284,
  palette: 320,
  extra: 338,
  format: 339,
} as const;
const [WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, CMYK, YCC] = [0, 1, 2, 3, 5, 6] as const;

const SPACES: Readonly<Record<number, { readonly name: string; readonly samples: number }>> = {
  [WHITE_IS_ZERO]: { name: '/DeviceGray', samples: 1 },
  [BLACK_IS_ZERO]: { name: '/DeviceGray', samples: 1 },
  [RGB]: { name: '/DeviceRGB', samples: 3 },
  [CMYK]: { name: '/DeviceCMYK', samples: 4 },
  [YCC]: { name: '/DeviceRGB', samples: 3 },
};
const MAX_SAMPLES = 6;

export function colourOf(directory: Directory): Colour {
  const compression = directory.number(TAG.compression) ?? 1;
  const photometric = directory.number(TAG.photometric) ?? (isFax(compression) ? WHITE_IS_ZERO : BLACK_IS_ZERO);
  const samples = directory.number(TAG.samples) ?? 1;
  const depths = new Set(directory.numbers(TAG.bits, MAX_SAMPLES));
  const [bits = 1] = depths;
  if (depths.size > 1 || ![1, 2, 4, 8, 16].includes(bits) || (directory.number(TAG.format) ?? 1) !== 1)
    throw unsupported('its sample format is not supported');
  // Only JPEG decoders convert these colours.
  if (photometric === YCC && !isJpeg(compression)) throw unsupported('it has YCbCr colours outside of JPEG');
  const isInverted = photometric === WHITE_IS_ZERO;
  if (photometric === PALETTE) {
    if (samples !== 1 || bits > 8) throw unsupported('its palette is not supported');
    return { bits, samples, plane: 0, space: paletteOf(directory, bits), isInverted };
  }
  const space = SPACES[photometric];
  if (!space || samples < space.samples || samples > MAX_SAMPLES)
    throw unsupported('its colour space is not supported');
  if (samples === space.samples && directory.number(TAG.planar) !== PLANAR)
    return { bits, samples, plane: 0, space: space.name, isInverted };
  if (isJpeg(compression) || bits === 1) throw unsupported('it has additional samples in an unsupported encoding');
  if (directory.number(TAG.planar) === PLANAR) {
    if (photometric === CMYK) throw unsupported('its CMYK planes are stored separately');
    // Green is closest to the perceived brightness.
    return { bits, samples: 1, plane: photometric === RGB ? 1 : 0, space: '/DeviceGray', isInverted };
  }
  const tint = tintOf({
    samples,
    colours: space.samples,
    alpha: photometric === RGB || photometric === BLACK_IS_ZERO ? directory.number(TAG.extra) : undefined,
  });
  return {
    bits,
    samples,
    plane: 0,
    space: `[/DeviceN [${Array.from({ length: samples }, (_, i) => `/S${i}`).join(' ')}] ${space.name} ${TINT} 0 R]`,
    tint,
    isInverted,
  };
}

const PLANAR = 2;

export const isFax = (compression: number): boolean => compression >= 2 && compression <= 4;
export const isJpeg = (compression: number): boolean => compression === 6 || compression === 7;
export const unsupported = (what: string): UnreadableDocument =>
  new UnreadableDocument('unsupported', `TIFFs of this kind are not supported: ${what}`);

function paletteOf(directory: Directory, bits: number): string {
  const size = 1 << bits;
  const map = directory.numbers(TAG.palette, 3 * size);
  if (map.length < 3 * size) throw new UnreadableDocument('damaged', 'a page of the TIFF lacks its palette');
  // Sixteen bits each, although some programs store eight.
  const shift = map.some((value) => value > 255) ? 8 : 0;
  const colours = Array.from(
    { length: size * 3 },
    (_, i) => ((map[(i % 3) * size + Math.floor(i / 3)] ?? 0) >> shift) & 255,
  );
  return `[/Indexed /DeviceRGB ${size - 1} <${Buffer.from(colours).toString('hex')}>]`;
}

const [PREMULTIPLIED, UNASSOCIATED] = [1, 2] as const;

/**
 * A PDF function that computes the colour from additional samples: the first of them may be the opacity over white
 * paper; the others are ignored.
 */
function tintOf({
  samples,
  colours,
  alpha,
}: {
  samples: number;
  colours: number;
  alpha: number | undefined;
}): NonNullable<Colour['tint']> {
  // Applies an operator to each colour below the topmost number, which is kept.
  const each = (operator: 'mul' | 'add') => `dup ${colours + 2} -1 roll ${operator} exch `.repeat(colours);
  const onWhite =
    alpha === UNASSOCIATED
      ? `${each('mul')}1 exch sub ${each('add')}`
      : alpha === PREMULTIPLIED
        ? `1 exch sub ${each('add')}`
        : '';
  return { inputs: samples, outputs: colours, program: `{ ${'pop '.repeat(samples - colours - 1)}${onWhite}pop }` };
}
