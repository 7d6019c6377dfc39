import { inflateSync } from 'node:zlib';
import type { Ruling } from './grids.js';

/** Encodes a greyscale image as a portable grey map (PGM), without compression. */
export const pgm = (grey: Uint8Array, width: number, height: number): Buffer =>
  Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`, 'latin1'), grey]);

/** A greyscale image. Dark pixels are nearer to the ink than to the paper. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  readonly grey: Uint8Array;
  isDark(x: number, y: number): boolean;
}

/** Decodes a greyscale PNG as written by the OCR engine: eight bits per pixel, not interlaced. */
export function greyPng(png: Buffer): Bitmap | undefined {
  const parts: Buffer[] = [];
  let [width, height, depth, colour] = [0, 0, 0, 0];
  for (let at = 8; at + 8 <= png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR')
      [width, height, depth, colour] = [data.readUInt32BE(0), data.readUInt32BE(4), data[8] ?? 0, data[9] ?? 0];
    else if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  if (depth !== 8 || colour !== 0 || width * height > 100_000_000) return undefined;
  const grey = undoFilters(inflateSync(Buffer.concat(parts), { maxOutputLength: (width + 1) * height }), width, height);
  const limit = inkLimit(grey);
  return { width, height, grey, isDark: (x, y) => (grey[y * width + x] ?? 255) < limit };
}

/** The threshold that best separates ink from paper (Otsu's method). */
function inkLimit(grey: Uint8Array): number {
  const counts = new Float64Array(256);
  for (const shade of grey) counts[shade] = (counts[shade] ?? 0) + 1;
  const all = counts.reduce((sum, count, shade) => sum + count * shade, 0);
  let [below, sumBelow, best, limit] = [0, 0, 0, 128];
  for (let shade = 0; shade < 256; shade++) {
    below += counts[shade] ?? 0;
    const above = grey.length - below;
    if (below === 0 || above === 0) continue;
    sumBelow += shade * (counts[shade] ?? 0);
    const between = below * above * (sumBelow / below - (all - sumBelow) / above) ** 2;
    if (between > best) [best, limit] = [between, shade + 1];
  }
  return limit;
}

function undoFilters(raw: Buffer, row: number, height: number): Uint8Array {
  const out = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)];
    for (let x = 0; x < row; x++) {
      const value = raw[y * (row + 1) + 1 + x] ?? 0;
      const left = x > 0 ? (out[y * row + x - 1] ?? 0) : 0;
      const up = y > 0 ? (out[(y - 1) * row + x] ?? 0) : 0;
      const corner = x > 0 && y > 0 ? (out[(y - 1) * row + x - 1] ?? 0) : 0;
      const prediction =
        filter === 1
          ? left
          : filter === 2
            ? up
            : filter === 3
              ? (left + up) >> 1
              : filter === 4
                ? paeth(left, up, corner)
                : 0;
      out[y * row + x] = (value + prediction) & 255;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const prediction = left + up - corner;
  const [a, b, c] = [Math.abs(prediction - left), Math.abs(prediction - up), Math.abs(prediction - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/**
 * The long horizontal and vertical lines of an image, as in tables. They may be slightly skewed and have small gaps.
 * Vertical lines no longer than large letters must end at horizontal lines, so that the stems of large print are
 * excluded.
 */
export function rulingsIn(bitmap: Bitmap): Ruling[] {
  const least = Math.max(30, Math.round(bitmap.width / 40));
  const flat = runs({ lines: bitmap.height, length: bitmap.width, least: least * 2 }, (line, along) =>
    bitmap.isDark(along, line),
  );
  const meets = crossing(flat);
  const steep = runs({ lines: bitmap.width, length: bitmap.height, least }, (line, along) =>
    bitmap.isDark(line, along),
  ).filter(({ line, from, to }) => to - from >= least * MAX_LETTER_HEIGHT || (meets(line, from) && meets(line, to)));
  return [
    ...flat.map(({ line, from, to }) => ({ x1: from, x2: to, y1: line, y2: line })),
    ...steep.map(({ line, from, to }) => ({ x1: line, x2: line, y1: from, y2: to })),
  ];
}

/** Erases these lines and returns the image as a PGM. Strokes that cross a line are kept. */
export function erased({ width, height, grey, isDark }: Bitmap, rulings: readonly Ruling[]): Buffer {
  const clean = Uint8Array.from(grey);
  for (const { x1, x2, y1, y2 } of rulings) {
    const isFlat = y1 === y2;
    const [line, from, to] = isFlat ? [Math.round(y1), x1, x2] : [Math.round(x1), y1, y2];
    const dark = (across: number, along: number) =>
      isFlat
        ? across >= 0 && across < height && isDark(along, across)
        : across >= 0 && across < width && isDark(across, along);
    for (let along = from; along <= to; along++) {
      let [first, last] = [line, line];
      while (line - first < MAX_THICKNESS && dark(first - 1, along)) first -= 1;
      while (last - line < MAX_THICKNESS && dark(last + 1, along)) last += 1;
      // Thicker than a line: a character touches it.
      if (last - first >= MAX_THICKNESS) continue;
      for (let across = Math.max(0, first - 1); across <= last + 1; across++) {
        const at = isFlat ? across * width + along : along * width + across;
        if (at < clean.length) clean[at] = 255;
      }
    }
  }
  return pgm(clean, width, height);
}

const MAX_THICKNESS = 9;
/** The maximum height of letters, in multiples of the minimum line length. */
const MAX_LETTER_HEIGHT = 5;
/** The maximum distance in pixels between the end of a line and one that it meets. */
const TOUCHING = 8;

/** Returns a function that tests whether one of these horizontal lines passes near a point. */
function crossing(flat: readonly Run[]): (x: number, y: number) => boolean {
  const rows = new Map<number, Run[]>();
  for (const run of flat) {
    const row = Math.floor(run.line / TOUCHING);
    rows.set(row, [...(rows.get(row) ?? []), run]);
  }
  return (x, y) =>
    [-1, 0, 1].some(
      (step) =>
        rows
          .get(Math.floor(y / TOUCHING) + step)
          ?.some(
            ({ line, from, to }) => Math.abs(line - y) <= TOUCHING && x >= from - TOUCHING && x <= to + TOUCHING,
          ) ?? false,
    );
}

interface Run {
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

const MAX_GAP = 2;
const MAX_RUNS = 60_000;

/** Finds dark runs; those on adjacent lines are merged. */
function runs(
  { lines, length, least }: { readonly lines: number; readonly length: number; readonly least: number },
  isDark: (line: number, along: number) => boolean,
): Run[] {
  const found: Run[] = [];
  for (let line = 0; line < lines && found.length < MAX_RUNS; line++) {
    let from = -1;
    let last = -1;
    for (let along = 0; along <= length; along++) {
      if (along < length && isDark(line, along)) {
        if (from < 0) from = along;
        last = along;
      } else if (from >= 0 && (along === length || along - last > MAX_GAP)) {
        if (last - from >= least) found.push({ line, from, to: last });
        from = -1;
      }
    }
  }
  return mergedRuns(found);
}

/** Merges runs on adjacent lines that overlap or touch. */
function mergedRuns(found: readonly Run[]): Run[] {
  const open: { first: number; last: number; from: number; to: number }[] = [];
  const done: Run[] = [];
  const finish = (run: (typeof open)[number]) => {
    // Thicker shapes are boxes or images.
    if (run.last - run.first < Math.max(14, (run.to - run.from) * 0.05))
      done.push({ line: (run.first + run.last) / 2, from: run.from, to: run.to });
  };
  for (const run of found) {
    for (let i = open.length - 1; i >= 0; i--) {
      const one = open[i];
      if (one && run.line - one.last > 2) {
        finish(one);
        open.splice(i, 1);
      }
    }
    const same = open.find((one) => run.from <= one.to + 12 && run.to >= one.from - 12);
    if (same) [same.last, same.from, same.to] = [run.line, Math.min(same.from, run.from), Math.max(same.to, run.to)];
    else open.push({ first: run.line, last: run.line, from: run.from, to: run.to });
  }
  for (const one of open) finish(one);
  return done;
}
