import { normalCut } from '../../../base/text.js';
import type { WarningCode } from '../../../base/warnings.js';
import type { ReadAmount } from './amounts.js';
import { pageAt, rawText, type Document, type Span } from './document.js';

/** A candidate value of one field, read by a rule at a place in the document. */
export interface Candidate extends Span {
  readonly value: unknown;
  /** From 0 to 1. */
  readonly confidence: number;
  /** Codes of the reasons to doubt this reading. */
  readonly doubts: readonly WarningCode[];
  /** For amounts: the amount in words next to the digits. */
  readonly inWords?: string | undefined;
}

/** The candidate values by field, ordered by confidence. Equal values are merged. */
export class Readings {
  private readonly byKey = new Map<string, Candidate[]>();

  /** `recognition`: the OCR confidence of each page, from 0 to 1; `undefined` for pages that are not images. */
  constructor(
    private readonly document: Document,
    private readonly recognition: readonly (number | undefined)[] = [],
  ) {}

  /** The confidence of a reading is limited by that of the recognition of its page. */
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
      confidence: Math.min(confidence, MAX_CONFIDENCE) * this.certaintyAt(start),
      doubts,
      inWords,
    };
    if (same < 0) known.push(fresh);
    else {
      const other = known[same] ?? fresh;
      // A repeated value is more likely; the location is that of the best reading.
      const better = fresh.confidence > other.confidence ? fresh : other;
      known[same] = {
        ...better,
        inWords: better.inWords ?? fresh.inWords ?? other.inWords,
        confidence: this.bounded(better, REPEATED),
      };
    }
  }

  /** Adds an amount, and the currency stated with it. */
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

  /** The readings of a field by confidence, then by position. */
  of(key: string): Candidate[] {
    return (this.byKey.get(key) ?? []).toSorted((a, b) => b.confidence - a.confidence || a.start - b.start);
  }

  best(key: string): Candidate | undefined {
    return this.of(key)[0];
  }

  /** Raises the confidence of the best reading after a successful check. */
  strengthen(key: string, by: number): void {
    const best = this.best(key);
    const list = this.byKey.get(key);
    if (best && list) list[list.indexOf(best)] = { ...best, confidence: this.bounded(best, by) };
  }

  /** Raises a confidence, limited by that of the recognition. */
  private bounded({ start, confidence }: Candidate, by: number): number {
    return Math.min(MAX_CONFIDENCE * this.certaintyAt(start), confidence + by);
  }

  /**
   * Keeps only these fields, if their best reading has at least the confidence `from`, and limits all confidences to
   * `most`.
   */
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

  /** Removes the readings of a field that overlap a span. */
  dropAt(key: string, { start, end }: Span): void {
    const kept = this.of(key).filter((reading) => reading.end <= start || reading.start >= end);
    if (kept.length > 0) this.byKey.set(key, kept);
    else this.byKey.delete(key);
  }

  /** Removes a doubt from the only reading of a field: the only account in a document is the payee's. */
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

  /** Lowers the confidence of all readings of a field after a failed check, keeping their order. */
  weaken(key: string, by: number, doubt: WarningCode): void {
    const weaker = (this.byKey.get(key) ?? []).map((reading) => ({
      ...reading,
      confidence: Math.max(MIN_CONFIDENCE, reading.confidence - by),
      doubts: [...reading.doubts, doubt],
    }));
    this.byKey.set(key, weaker);
  }

  raw(span: Span): string {
    return rawText(this.document, span);
  }
}

const MAX_CONFIDENCE = 0.99;
const MIN_CONFIDENCE = 0.05;
const REPEATED = 0.02;

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'string' && typeof b === 'string' && comparable(a) === comparable(b));
const comparable = (text: string): string =>
  normalCut(text, { max: 10_000, form: 'NFKC' })
    .toLowerCase()
    .replaceAll(/[\s.,]+/g, '');
