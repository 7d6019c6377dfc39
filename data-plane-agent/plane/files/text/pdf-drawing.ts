import type { PDFPageProxy } from 'pdfjs-dist';
import type { Ruling } from './grids.js';
import { pdfjs } from './pdfjs.js';

/** [a, b, c, d, e, f]: x' = ax + cy + e, y' = bx + dy + f. */
export type Matrix = readonly [number, number, number, number, number, number];

/** An image on a page. `place` maps the unit square to the page, from its upper left corner. */
export interface Placed {
  readonly place: Matrix;
  readonly image: PaintedImage;
}

/** The library's data of an image: its bytes, or the name of the object that holds them. */
export interface PaintedImage {
  readonly id: string | undefined;
  readonly data: unknown;
  /** A mask, which paints black, as common in black-and-white scans. */
  readonly isMask: boolean;
}

/** The non-text content of a page. */
export interface Drawn {
  readonly rulings: readonly Ruling[];
  readonly pictures: readonly Placed[];
  readonly width: number;
  readonly height: number;
}

/** Boxes thinner than this, in points, count as lines. */
const THIN = 2.5;
const MAX_OPERATORS = 400_000;
/** Some programs split a scan into strips of a few rows. */
export const MAX_PICTURES = 10_000;

export async function drawnOn(page: PDFPageProxy): Promise<Drawn> {
  const { OPS } = await pdfjs();
  const viewport = page.getViewport({ scale: 1 });
  const { fnArray, argsArray } = await page.getOperatorList();
  const rulings: Ruling[] = [];
  const pictures: Placed[] = [];
  const stack: Matrix[] = [];
  let at = viewport.transform as unknown as Matrix; // six numbers, typed as any[]
  for (let i = 0; i < fnArray.length && i < MAX_OPERATORS; i++) {
    const args = (argsArray[i] ?? []) as readonly unknown[];
    switch (fnArray[i]) {
      case OPS.save:
        stack.push(at);
        break;
      case OPS.restore:
        at = stack.pop() ?? at;
        break;
      case OPS.transform:
        at = times(at, args as unknown as Matrix); // the operator has six numbers
        break;
      case OPS.paintFormXObjectBegin:
        stack.push(at);
        if (Array.isArray(args[0])) at = times(at, args[0] as unknown as Matrix); // a matrix, where the form has one
        break;
      case OPS.paintFormXObjectEnd:
        at = stack.pop() ?? at;
        break;
      case OPS.constructPath:
        if (PAINTS.has(String(nameOf(OPS, args[0])))) addRulings(args, at, rulings);
        break;
      case OPS.paintImageXObject:
      case OPS.paintInlineImageXObject:
      case OPS.paintImageMaskXObject:
        if (pictures.length < MAX_PICTURES)
          pictures.push({ place: at, image: paintedImage(args[0], fnArray[i] === OPS.paintImageMaskXObject) });
        break;
      default:
    }
  }
  return { rulings, pictures, width: viewport.width, height: viewport.height };
}

const PAINTS: ReadonlySet<string> = new Set([
  'stroke',
  'closeStroke',
  'fill',
  'eoFill',
  'fillStroke',
  'eoFillStroke',
  'closeFillStroke',
  'closeEOFillStroke',
]);
const nameOf = (ops: Readonly<Record<string, number>>, code: unknown): string | undefined => {
  names ??= new Map(Object.entries(ops).map(([name, number]) => [number, name]));
  return typeof code === 'number' ? names.get(code) : undefined;
};
let names: Map<number, string> | undefined;

function paintedImage(arg: unknown, isMask: boolean): PaintedImage {
  if (typeof arg === 'string') return { id: arg, data: undefined, isMask };
  const data = arg as { readonly data?: unknown } | undefined;
  // The bytes of a mask may be in a named object too.
  return typeof data?.data === 'string' ? { id: data.data, data: undefined, isMask } : { id: undefined, data, isMask };
}

const [MOVE, LINE, CURVE, QUADRATIC] = [0, 1, 2, 3] as const;

/** Adds the horizontal and vertical edges of a path; a thin box becomes its centre line. */
function addRulings(args: readonly unknown[], at: Matrix, rulings: Ruling[]): void {
  const path = (args[1] as readonly unknown[] | undefined)?.[0];
  if (!(path instanceof Float32Array)) return;
  let edges: Ruling[] = [];
  let [x, y, startX, startY] = [0, 0, 0, 0];
  const flush = () => {
    const xs = edges.flatMap((edge) => [edge.x1, edge.x2]);
    const ys = edges.flatMap((edge) => [edge.y1, edge.y2]);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    if (edges.length >= 3 && right - left <= THIN && bottom - top > THIN)
      rulings.push({ x1: (left + right) / 2, x2: (left + right) / 2, y1: top, y2: bottom });
    else if (edges.length >= 3 && bottom - top <= THIN && right - left > THIN)
      rulings.push({ x1: left, x2: right, y1: (top + bottom) / 2, y2: (top + bottom) / 2 });
    else rulings.push(...edges.filter(isStraight));
    edges = [];
  };
  const lineTo = (toX: number, toY: number) => {
    if (edges.length < 64) edges.push(edgeOf(at, { x1: x, y1: y, x2: toX, y2: toY }));
    [x, y] = [toX, toY];
  };
  for (let i = 0; i < path.length && rulings.length < 20_000;) {
    const [a = 0, b = 0] = [path[i + 1], path[i + 2]];
    switch (path[i]) {
      case MOVE:
        flush();
        [x, y, startX, startY] = [a, b, a, b];
        i += 3;
        break;
      case LINE:
        lineTo(a, b);
        i += 3;
        break;
      case CURVE:
        [x, y] = [path[i + 5] ?? 0, path[i + 6] ?? 0];
        i += 7;
        break;
      case QUADRATIC:
        [x, y] = [path[i + 3] ?? 0, path[i + 4] ?? 0];
        i += 5;
        break;
      default:
        lineTo(startX, startY);
        i += 1;
    }
  }
  flush();
}

function edgeOf(
  at: Matrix,
  { x1, y1, x2, y2 }: { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number },
): Ruling {
  const [fromX, fromY] = apply(at, x1, y1);
  const [toX, toY] = apply(at, x2, y2);
  return { x1: Math.min(fromX, toX), x2: Math.max(fromX, toX), y1: Math.min(fromY, toY), y2: Math.max(fromY, toY) };
}

const isStraight = ({ x1, y1, x2, y2 }: Ruling): boolean =>
  (x2 - x1 < 1 && y2 - y1 > THIN) || (y2 - y1 < 1 && x2 - x1 > THIN);

const apply = ([a, b, c, d, e, f]: Matrix, x: number, y: number): readonly [number, number] => [
  a * x + c * y + e,
  b * x + d * y + f,
];

/** Applies the second matrix first. */
const times = ([a, b, c, d, e, f]: Matrix, [p, q, r, s, t, u]: Matrix): Matrix => [
  a * p + c * q,
  b * p + d * q,
  a * r + c * s,
  b * r + d * s,
  a * t + c * u + e,
  b * t + d * u + f,
];
