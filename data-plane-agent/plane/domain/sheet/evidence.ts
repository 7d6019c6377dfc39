/** The values that a text may have, by style; empty if the text is invalid in every style. */
export type Readings<Style extends string, Value> = Readonly<Partial<Record<Style, Value>>>;

/** The style of the numbers, or of the dates, of a file, as decided by all its cells together. */
export interface Evidence<Style extends string> {
  /** The style of the file; `null` if nothing decides it. */
  readonly style: Style | null;
  /** The file states that an earlier import could not decide its style. */
  readonly isUnknown: boolean;
  /** Some cells are valid only in one style, and some only in another. */
  readonly isMixed: boolean;
  /** Some cells have different values in different styles. */
  readonly isNeeded: boolean;
  /** The first row with evidence of each style. */
  readonly seen: Readonly<Partial<Record<Style, number>>>;
}

export type ReadInStyle<Style extends string, Value> =
  | { readonly ok: true; readonly value: Value }
  /** The text is invalid in every style. */
  | { readonly ok: false; readonly why: 'unreadable' }
  /** The text has several values, and nothing in the file decides between them. */
  | { readonly ok: false; readonly why: 'ambiguous'; readonly readings: Readings<Style, Value> }
  /** The text is valid only in another style than that of the file. */
  | { readonly ok: false; readonly why: 'contradicts'; readonly style: Style };

/** Collects the evidence of a file, cell by cell. A text that is valid in every style is no evidence. */
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

  /** Sets the style that the file states; cells that are valid only in another one contradict it. */
  declare(row: number, readings: Readings<Style, unknown>): void {
    const style = onlyStyle(readings);
    if (style !== undefined && !this.declared.has(style)) this.declared.set(style, row);
  }

  /** Records that the file states an unknown style; then its cells do not decide it either. */
  declareUnknown(): void {
    this.isUnknown = true;
  }

  /**
   * The style that the file states; otherwise that of most cells with evidence; without any, `assumed`. If two styles
   * have the same number of cells, or the file states two styles, the style is `null`.
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
    return { style, isUnknown: this.isUnknown, isMixed: styles.size > 1, isNeeded: this.isNeeded, seen };
  }
}

/** Reads a text in the style of its file. A text with several values is never guessed. */
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
