import { UnreadableDocument } from './document-text.js';
import type { Directory } from './tiff-directories.js';

/** What the numbers of a page mean, in the words of PDF. */
export interface Colour {
  /** Of one number. */
  readonly bits: number;
  /** Numbers of one dot, in the plane that is read. */
  readonly samples: number;
  /** Where the numbers of a dot do not lie together, the plane of those that are read. */
  readonly plane: number;
  /** A colour space, in which `TINT` stands for the number of the object that is `tint`. */
  readonly space: string;
  /** Makes a colour of a dot that has more numbers. */
  readonly tint?: { readonly inputs: number; readonly outputs: number; readonly program: string };
  /** Whether large is dark. */
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
    throw unsupported('its numbers are of a kind that pictures of documents have not');
  // Only within a JPEG are they turned into colours by who unpacks it.
  if (photometric === YCC && !isJpeg(compression)) throw unsupported('its colours are kept as light and hue');
  const isInverted = photometric === WHITE_IS_ZERO;
  if (photometric === PALETTE) {
    if (samples !== 1 || bits > 8) throw unsupported('its palette is of an unusual kind');
    return { bits, samples, plane: 0, space: paletteOf(directory, bits), isInverted };
  }
  const space = SPACES[photometric];
  if (!space || samples < space.samples || samples > MAX_SAMPLES)
    throw unsupported('its colours are of a kind that pictures of documents have not');
  if (samples === space.samples && directory.number(TAG.planar) !== PLANAR)
    return { bits, samples, plane: 0, space: space.name, isInverted };
  if (isJpeg(compression) || bits === 1) throw unsupported('it has more numbers for a dot than a colour has');
  if (directory.number(TAG.planar) === PLANAR) {
    if (photometric === CMYK) throw unsupported('its four inks are kept apart');
    // Of red, green and blue the green is nearest to what an eye sees of all three.
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
  new UnreadableDocument('unsupported', `TIFFs of this kind are not read: ${what}`);

function paletteOf(directory: Directory, bits: number): string {
  const size = 1 << bits;
  const map = directory.numbers(TAG.palette, 3 * size);
  if (map.length < 3 * size) throw new UnreadableDocument('damaged', 'a page of the TIFF lacks its palette');
  // Sixteen bits each, which some programs fill with eight.
  const shift = map.some((value) => value > 255) ? 8 : 0;
  const colours = Array.from(
    { length: size * 3 },
    (_, i) => ((map[(i % 3) * size + Math.floor(i / 3)] ?? 0) >> shift) & 255,
  );
  return `[/Indexed /DeviceRGB ${size - 1} <${Buffer.from(colours).toString('hex')}>]`;
}

const [PREMULTIPLIED, APART] = [1, 2] as const;

/**
 * What makes a colour of more numbers, in PDF's language of functions: on white paper, where the first number beyond
 * those of the colour says how opaque the dot is; all others are passed over.
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
  // To each of the colours below the uppermost number, which stays where it is.
  const each = (operator: 'mul' | 'add') => `dup ${colours + 2} -1 roll ${operator} exch `.repeat(colours);
  const onWhite =
    alpha === APART
      ? `${each('mul')}1 exch sub ${each('add')}`
      : alpha === PREMULTIPLIED
        ? `1 exch sub ${each('add')}`
        : '';
  return { inputs: samples, outputs: colours, program: `{ ${'pop '.repeat(samples - colours - 1)}${onWhite}pop }` };
}
