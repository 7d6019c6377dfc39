/** A horizontal or vertical line: its two ends, from the upper left corner of the page. */
export interface Ruling {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** A ruled table. Positions without a line between them belong to one cell, which starts at its upper left one. */
export interface Grid {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly rows: number;
  readonly columns: number;
  /** The cell at a point, identified by its upper left position. */
  cellAt(x: number, y: number): { readonly row: number; readonly column: number };
  /** Whether a cell starts at this position. */
  begins(row: number, column: number): boolean;
}

const MAX_RULINGS = 4_000;
const MAX_LINES = 300;
/** Lines at most this far apart, about three points, count as one. */
const NEAR = 3;

/** Finds tables in lines that touch or cross. `near` is the maximum distance of touching lines. */
export function gridsOf(rulings: readonly Ruling[], near = NEAR): Grid[] {
  const long = rulings
    .filter(({ x1, y1, x2, y2 }) => Math.abs(x2 - x1) + Math.abs(y2 - y1) > near * 2)
    .slice(0, MAX_RULINGS);
  return groupsOf(long, near).flatMap((group) => {
    const grid = gridOf(group, near);
    return grid ? [grid] : [];
  });
}

const isFlat = ({ x1, y1, x2, y2 }: Ruling): boolean => Math.abs(y2 - y1) <= Math.abs(x2 - x1);

/** Groups rulings that touch. */
function groupsOf(rulings: readonly Ruling[], near: number): Ruling[][] {
  const parent = rulings.map((_, i) => i);
  const root = (i: number): number => {
    let at = i;
    while (parent[at] !== at) at = parent[at] = parent[parent[at] ?? at] ?? at;
    return at;
  };
  // Sorted by upper end, so that each is compared only with those that start before it ends.
  const order = rulings
    .map((ruling, i) => ({
      i,
      from: Math.min(ruling.y1, ruling.y2),
      to: Math.max(ruling.y1, ruling.y2),
      left: Math.min(ruling.x1, ruling.x2),
      right: Math.max(ruling.x1, ruling.x2),
    }))
    .toSorted((a, b) => a.from - b.from);
  for (const [n, one] of order.entries()) {
    for (let m = n + 1; m < order.length; m++) {
      const two = order[m];
      if (!two || two.from > one.to + near) break;
      if (two.left <= one.right + near && two.right >= one.left - near) parent[root(one.i)] = root(two.i);
    }
  }
  return [...grouped(rulings, (_, i) => root(i)).values()];
}

function gridOf(group: readonly Ruling[], near: number): Grid | undefined {
  const flat = group.filter(isFlat);
  const steep = group.filter((ruling) => !isFlat(ruling));
  const ys = merged(
    flat.map(({ y1, y2 }) => (y1 + y2) / 2),
    near,
  );
  const xs = merged(
    steep.map(({ x1, x2 }) => (x1 + x2) / 2),
    near,
  );
  if (ys.length < 2 || xs.length < 2 || ys.length > MAX_LINES || xs.length > MAX_LINES || ys.length * xs.length < 6)
    return undefined;
  const [rows, columns] = [ys.length - 1, xs.length - 1];
  const at = (list: readonly number[], i: number): number => list[i] ?? 0;
  const covers = ({
    from,
    to,
    low,
    high,
  }: {
    readonly from: number;
    readonly to: number;
    readonly low: number;
    readonly high: number;
  }): boolean => Math.min(from, to) <= low + (high - low) * 0.35 && Math.max(from, to) >= high - (high - low) * 0.35;
  /** The positions with a line on their left or upper side. */
  const walls = { left: new Set<number>(), above: new Set<number>() };
  for (const { x1, x2, y1, y2 } of steep) {
    const column = nearest(xs, (x1 + x2) / 2);
    for (let row = 0; row < rows; row++)
      if (covers({ from: y1, to: y2, low: at(ys, row), high: at(ys, row + 1) }))
        walls.left.add(row * (columns + 1) + column);
  }
  for (const { x1, x2, y1, y2 } of flat) {
    const row = nearest(ys, (y1 + y2) / 2);
    for (let column = 0; column < columns; column++)
      if (covers({ from: x1, to: x2, low: at(xs, column), high: at(xs, column + 1) }))
        walls.above.add(row * (columns + 1) + column);
  }
  const begin = (row: number, column: number): { row: number; column: number } => {
    let [r, c] = [row, column];
    while (c > 0 && !walls.left.has(r * (columns + 1) + c)) c -= 1;
    while (r > 0 && !walls.above.has(r * (columns + 1) + c)) r -= 1;
    while (c > 0 && !walls.left.has(r * (columns + 1) + c)) c -= 1;
    return { row: r, column: c };
  };
  return {
    left: at(xs, 0),
    right: at(xs, columns),
    top: at(ys, 0),
    bottom: at(ys, rows),
    rows,
    columns,
    cellAt: (x, y) =>
      begin(Math.max(0, Math.min(rows - 1, lastAtMost(ys, y))), Math.max(0, Math.min(columns - 1, lastAtMost(xs, x)))),
    begins: (row, column) => {
      const cell = begin(row, column);
      return cell.row === row && cell.column === column;
    },
  };
}

/** Sorts the coordinates and merges close ones. */
function merged(places: readonly number[], near: number): number[] {
  const kept: number[] = [];
  for (const place of places.toSorted((a, b) => a - b)) {
    const last = kept.at(-1);
    if (last === undefined || place - last > near) kept.push(place);
  }
  return kept;
}

const nearest = (places: readonly number[], place: number): number =>
  places.reduce((best, one, i) => (Math.abs(one - place) < Math.abs((places[best] ?? 0) - place) ? i : best), 0);
const lastAtMost = (places: readonly number[], place: number): number =>
  Math.max(
    0,
    places.findLastIndex((one) => one <= place),
  );

export function grouped<T>(items: readonly T[], by: (item: T, i: number) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const [i, item] of items.entries()) {
    const group = groups.get(by(item, i));
    if (group) group.push(item);
    else groups.set(by(item, i), [item]);
  }
  return groups;
}
