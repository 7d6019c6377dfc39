import { normalCut } from '../../../base/text.js';
import type { WarningCode } from '../../../base/warnings.js';
import type { ReadAmount } from './amounts.js';
import { pageAt, rawText, type Document, type Span } from './document.js';

/** A reading of one field: what a rule took the words at a place to say. */
export interface Candidate extends Span {
  readonly value: unknown;
  /** From 0 to 1. */
  readonly confidence: number;
  /** Codes of what makes the reading doubtful in itself. */
  readonly doubts: readonly WarningCode[];
  /** Of an amount, what the words beside its digits say. */
  readonly inWords?: string | undefined;
}

/** What was read, field by field; each field's readings by confidence, those of the same value as one. */
export class Readings {
  private readonly byKey = new Map<string, Candidate[]>();

  /**
   * `recognition`: how sure the signs of each page are, from 0 to 1; of a page that was not recognised from a picture
   * nothing.
   */
  constructor(
    private readonly document: Document,
    private readonly recognition: readonly (number | undefined)[] = [],
  ) {}

  /** A field is no surer than the signs that it is read from: both have to be right. */
  private certaintyAt(at: number): number {
    return this.recognition[pageAt(this.document, at) - 1] ?? 1;
  }

  add(key: string, candidate: Omit<Candidate, 'doubts'> & { readonly doubts?: readonly WarningCode[] }): void {
    const { start, end, value, confidence, doubts = [], inWords } = candidate;
    const known = this.byKey.get(key) ?? [];
    this.byKey.set(key, known);
    const same = known.findIndex((other) => isSame(other.value, value));
    const fresh: Candidate = {
      start,
      end,
      value,
      confidence: Math.min(confidence, SUREST) * this.certaintyAt(start),
      doubts,
      inWords,
    };
    if (same < 0) known.push(fresh);
    else {
      const other = known[same] ?? fresh;
      // Said twice is surer than said once; where it stands is where it is said best.
      const better = fresh.confidence > other.confidence ? fresh : other;
      known[same] = {
        ...better,
        inWords: better.inWords ?? fresh.inWords ?? other.inWords,
        confidence: this.bounded(better, REPEATED),
      };
    }
  }

  /** An amount, and the currency that stands with it. */
  addAmount(
    key: string,
    amount: ReadAmount,
    { confidence, doubts = [] }: { confidence: number; doubts?: readonly WarningCode[] },
  ): void {
    const { start, end, inWords, currency } = amount;
    this.add(key, { value: Number(amount.value), start, end, confidence, doubts, inWords });
    if (currency)
      this.add('currencyCode', {
        value: currency.code,
        start,
        end,
        confidence: (currency.surely ? 0.92 : 0.7) * (key === 'totalAmount' ? 1 : 0.97),
      });
  }

  keys(): string[] {
    return [...this.byKey.keys()];
  }

  /** The readings of a field, the surest first; of two as sure, the one that stands first. */
  of(key: string): Candidate[] {
    return (this.byKey.get(key) ?? []).toSorted((a, b) => b.confidence - a.confidence || a.start - b.start);
  }

  best(key: string): Candidate | undefined {
    return this.of(key)[0];
  }

  /** A check spoke for the best reading. */
  strengthen(key: string, by: number): void {
    const best = this.best(key);
    const list = this.byKey.get(key);
    if (best && list) list[list.indexOf(best)] = { ...best, confidence: this.bounded(best, by) };
  }

  /** What speaks for a reading makes the words surer, and the signs no surer than they are. */
  private bounded({ start, confidence }: Candidate, by: number): number {
    return Math.min(SUREST * this.certaintyAt(start), confidence + by);
  }

  /** Only these fields, where their best reading is as sure as `from`; none stays surer than `most`. */
  keep(
    keys: ReadonlySet<string>,
    { doubt, from, most }: { readonly doubt: WarningCode; readonly from: number; readonly most: number },
  ): void {
    for (const key of this.keys()) {
      if (!keys.has(key) || (this.best(key)?.confidence ?? 0) < from) this.byKey.delete(key);
      else
        this.byKey.set(
          key,
          this.of(key).map((reading) => ({
            ...reading,
            confidence: Math.min(most, reading.confidence),
            doubts: [...reading.doubts, doubt],
          })),
        );
    }
  }

  /** The only account that a document names is the payee's. */
  clear(key: string, doubt: WarningCode, confidence: number): void {
    const readings = this.byKey.get(key) ?? [];
    const [only] = readings;
    if (only && readings.length === 1 && only.doubts.includes(doubt))
      this.byKey.set(key, [
        {
          ...only,
          confidence: confidence * this.certaintyAt(only.start),
          doubts: only.doubts.filter((one) => one !== doubt),
        },
      ]);
  }

  /** A check spoke against what was read of a field: all of it, so that their order stays. */
  weaken(key: string, by: number, doubt: WarningCode): void {
    const weaker = (this.byKey.get(key) ?? []).map((reading) => ({
      ...reading,
      confidence: Math.max(LEAST, reading.confidence - by),
      doubts: [...reading.doubts, doubt],
    }));
    this.byKey.set(key, weaker);
  }

  raw(span: Span): string {
    return rawText(this.document, span);
  }
}

const SUREST = 0.99;
const LEAST = 0.05;
const REPEATED = 0.02;

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'string' && typeof b === 'string' && squeezed(a) === squeezed(b));
const squeezed = (text: string): string =>
  normalCut(text, { max: 10_000, form: 'NFKC' })
    .toLowerCase()
    .replaceAll(/[\s.,]+/g, '');
