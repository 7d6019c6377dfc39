import type { PDFPageProxy } from 'pdfjs-dist';
import { pgm } from './bitmap.js';
import type { Drawn, Matrix, PaintedImage, Placed } from './pdf-drawing.js';

/** Pixels per inch that suit character recognition, and the maximum number of pixels per page. */
export const RESOLUTION = 220;
const MAX_PAGE_PIXELS = 12_000_000;
/** A page whose images cover less than this share is no scan. */
const COVERED = 0.2;

/** Pixel formats: those of the library, and `GREY` with one byte per pixel. */
const [GREY, BITS, RGB, RGBA] = [0, 1, 2, 3] as const;

interface Bits {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
  readonly kind: number;
}

/**
 * Renders the images of a page as one greyscale PGM for character recognition; `undefined` if there is nothing to read.
 */
export async function pictureOf(page: PDFPageProxy, { pictures, width, height }: Drawn): Promise<Buffer | undefined> {
  const covered = pictures.reduce((sum, { place: [a, b, c, d] }) => sum + Math.abs(a * d - b * c), 0);
  if (covered < width * height * COVERED) return undefined;
  const scale = Math.min(RESOLUTION / 72, Math.sqrt(MAX_PAGE_PIXELS / (width * height)));
  const [across, down] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const grey = new Uint8Array(across * down).fill(255);
  let drawn = 0;
  for (const picture of pictures) {
    const bits = await bitsOf(page, picture.image);
    if (!bits) continue;
    paint(grey, { by: { across, down }, bits, picture, scale });
    drawn += 1;
  }
  return drawn === 0 ? undefined : pgm(grey, across, down);
}

/** Converts a greyscale image to PGM, reduced to the maximum number of pixels. */
export function reduced({
  width,
  height,
  grey,
}: {
  readonly width: number;
  readonly height: number;
  readonly grey: Uint8Array;
}): Buffer {
  const scale = Math.min(1, Math.sqrt(MAX_PAGE_PIXELS / (width * height)));
  const [across, down] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const paper = new Uint8Array(across * down).fill(255);
  paint(paper, {
    by: { across, down },
    bits: { width, height, data: grey, kind: GREY },
    picture: { place: [width, 0, 0, -height, 0, height], image: { id: undefined, data: undefined, isMask: false } },
    scale,
  });
  return pgm(paper, across, down);
}

async function bitsOf(page: PDFPageProxy, { id, data }: PaintedImage): Promise<Bits | undefined> {
  const found: unknown =
    id === undefined
      ? data
      : await new Promise((resolve) => {
          const objects = id.startsWith('g_') ? page.commonObjs : page.objs;
          objects.get(id, resolve);
        });
  const image = found as Partial<Bits> | null | undefined;
  if (!image?.data || !image.width || !image.height || !ArrayBuffer.isView(image.data)) return undefined;
  return { width: image.width, height: image.height, data: image.data, kind: image.kind ?? BITS };
}

/** Draws one image: each page pixel gets the mean of the image pixels under it. */
function paint(
  grey: Uint8Array,
  {
    by: { across, down },
    bits,
    picture: { place, image },
    scale,
  }: {
    readonly by: { across: number; down: number };
    readonly bits: Bits;
    readonly picture: Placed;
    readonly scale: number;
  },
): void {
  const [a, b, c, d, e, f] = place.map((number) => number * scale) as unknown as Matrix; // still six numbers
  const determinant = a * d - b * c;
  if (determinant === 0) return;
  const corners = [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ].map(([u = 0, v = 0]) => [a * u + c * v + e, b * u + d * v + f] as const);
  const clamp = (value: number, most: number) => Math.max(0, Math.min(most, value));
  const [left, right] = [
    clamp(Math.floor(Math.min(...corners.map(([x]) => x))), across),
    clamp(Math.ceil(Math.max(...corners.map(([x]) => x))), across),
  ];
  const [top, bottom] = [
    clamp(Math.floor(Math.min(...corners.map(([, y]) => y))), down),
    clamp(Math.ceil(Math.max(...corners.map(([, y]) => y))), down),
  ];
  const shade = shadeOf(bits);
  // Samples per page pixel in each direction.
  const steps = clamp(Math.round(Math.sqrt((bits.width * bits.height) / Math.abs(determinant))), 4) || 1;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      let sum = 0;
      let count = 0;
      for (let n = 0; n < steps * steps; n++) {
        const [px, py] = [x + ((n % steps) + 0.5) / steps - e, y + (Math.floor(n / steps) + 0.5) / steps - f];
        const u = (px * d - py * c) / determinant;
        const v = (py * a - px * b) / determinant;
        if (u < 0 || u >= 1 || v < 0 || v >= 1) continue;
        // The first row of the image is at the top of the unit square.
        sum += shade(Math.floor(u * bits.width), Math.floor((1 - v) * bits.height - 1e-9));
        count += 1;
      }
      if (count === 0) continue;
      const at = y * across + x;
      grey[at] = image.isMask ? Math.min(grey[at] ?? 255, sum / count) : sum / count;
    }
  }
}

function shadeOf({ data, width, height, kind }: Bits): (x: number, y: number) => number {
  const row = (y: number) => Math.max(0, Math.min(height - 1, y));
  if (kind === RGB || kind === RGBA) {
    const size = kind === RGB ? 3 : 4;
    return (x, y) => {
      const at = (row(y) * width + x) * size;
      return 0.299 * (data[at] ?? 255) + 0.587 * (data[at + 1] ?? 255) + 0.114 * (data[at + 2] ?? 255);
    };
  }
  if (kind === GREY) return (x, y) => data[row(y) * width + x] ?? 255;
  const bytes = (width + 7) >> 3;
  // A set bit is white, or unpainted in a mask.
  return (x, y) => (((data[row(y) * bytes + (x >> 3)] ?? 255) >> (7 - (x & 7))) & 1 ? 255 : 0);
}
