/** The values that a text may have, by the style in which it may be written; none when it is no such value at all. */
export type Readings<Style extends string, Value> = Readonly<Partial<Record<Style, Value>>>;

/** What the cells of a file show together about how its numbers, or its days, are written. */
export interface Evidence<Style extends string> {
  /** The style of the file; `null` when the file does not show it. */
  readonly style: Style | null;
  /** Some cells can only have been written in one style and some only in another. */
  readonly isMixed: boolean;
  /** Some cells have several values, of which the style decides. */
  readonly isNeeded: boolean;
  /** The first row that shows each style. */
  readonly seen: Readonly<Partial<Record<Style, number>>>;
}

export type ReadInStyle<Style extends string, Value> =
  | { readonly ok: true; readonly value: Value }
  /** No style gives the text a value. */
  | { readonly ok: false; readonly why: 'unreadable' }
  /** The text has several values, and the file does not show which is meant. */
  | { readonly ok: false; readonly why: 'ambiguous'; readonly readings: Readings<Style, Value> }
  /** The text can only have been written in another style than the rest of the file. */
  | { readonly ok: false; readonly why: 'contradicts'; readonly style: Style };

/** Collects the evidence of a file, cell by cell. A text with the same value in every style shows nothing. */
export class Tally<Style extends string> {
  private readonly votes = new Map<Style, { count: number; readonly row: number }>();
  private readonly declared = new Map<Style, number>();
  private isNeeded = false;
  private isUnknown = false;

  add(row: number, readings: Readings<Style, unknown>): void {
    const style = onlyStyle(readings);
    if (style === undefined) this.isNeeded ||= hasSeveralValues(readings);
    if (style === undefined) return;
    const vote = this.votes.get(style);
    if (vote) vote.count += 1;
    else this.votes.set(style, { count: 1, row });
  }

  /** The file itself names its style: a cell that is written in another one contradicts it. */
  declare(row: number, readings: Readings<Style, unknown>): void {
    const style = onlyStyle(readings);
    if (style !== undefined && !this.declared.has(style)) this.declared.set(style, row);
  }

  /** The file itself says that its style is not known: then no cell of it shows the style. */
  declareUnknown(): void {
    this.isUnknown = true;
  }

  /**
   * The style that the file names, or else that of all cells which show one, or of most of them, or else `assumed`. When
   * as many cells show one style as another, there is none.
   */
  evidence(assumed: Style | null): Evidence<Style> {
    const [first, second] = [...this.votes].toSorted(([, a], [, b]) => b.count - a.count);
    const [declared, ...others] = this.declared.keys();
    const seen = Object.fromEntries([
      ...[...this.votes].map(([style, { row }]) => [style, row]),
      ...this.declared,
    ]) as Partial<Record<Style, number>>;
    const styles = new Set([...this.declared.keys(), ...this.votes.keys()]);
    const most = first && first[1].count !== second?.[1].count ? first[0] : null;
    const shown = first ? most : assumed;
    const style = this.isUnknown || others.length > 0 ? null : (declared ?? shown);
    return { style, isMixed: styles.size > 1, isNeeded: this.isNeeded, seen };
  }
}

/** Reads a text by the evidence of its file. A text with several values is never read by a guess. */
export function readByEvidence<Style extends string, Value>(
  readings: Readings<Style, Value>,
  { style, isMixed }: Evidence<Style>,
): ReadInStyle<Style, Value> {
  const [first, ...others] = Object.entries(readings) as [Style, Value][];
  if (!first) return { ok: false, why: 'unreadable' };
  const [only, value] = first;
  if (others.length === 0)
    return isMixed && style !== only ? { ok: false, why: 'contradicts', style: only } : { ok: true, value };
  if (others.every(([, other]) => other === value)) return { ok: true, value };
  const meant = style === null || isMixed ? undefined : readings[style];
  return meant === undefined ? { ok: false, why: 'ambiguous', readings } : { ok: true, value: meant };
}

export const hasSeveralValues = (readings: Readings<string, unknown>): boolean =>
  new Set(Object.values(readings)).size > 1;

/** The one style in which the text has a value; `undefined` when it has one in several or in none. */
function onlyStyle<Style extends string>(readings: Readings<Style, unknown>): Style | undefined {
  const [style, ...others] = Object.keys(readings) as Style[];
  return others.length === 0 ? style : undefined;
}
