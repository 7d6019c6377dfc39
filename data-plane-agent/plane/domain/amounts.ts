import { isAmountProblem, multiply, sumMinor, toMinor, unitPriceText, type AmountProblem } from '../../base/money.js';
import { invalid } from '../../base/failures.js';
import type { Issue } from '../../base/issue.js';

/** Reads the amounts of one request and collects all issues, so that one answer names every invalid field. */
export class AmountReader {
  private readonly issues = new Map<string, Issue>();

  /** Converts a JSON amount to minor units of `currency`. */
  minor(path: string, value: number, currency: string): number {
    return this.or(0, path, toMinor(value, currency));
  }

  /** An optional amount; `null` and `undefined` are no value. */
  optional(path: string, value: number | null | undefined, currency: string): number | null {
    return value === null || value === undefined ? null : this.minor(path, value, currency);
  }

  /** A unit price as decimal text with up to six decimals. */
  unitPrice(path: string, value: number): string {
    return this.or('0', path, unitPriceText(value));
  }

  product(
    path: string,
    {
      quantity,
      unitPrice,
      currency,
    }: { readonly quantity: number; readonly unitPrice: string; readonly currency: string },
  ): number {
    return this.or(0, path, multiply(quantity, unitPrice, currency));
  }

  /** Refuses amounts of a contract's lines whose sum exceeds the bounds, even though each single amount is valid. */
  fits(path: string, amounts: readonly number[], currency: string): void {
    const sum = sumMinor(amounts, currency);
    if (isAmountProblem(sum))
      this.refuse(path, `must leave the sum of the contract's lines in bounds: it ${sum.message}`);
  }

  refuse(path: string, problem: string): void {
    if (!this.issues.has(path)) this.issues.set(path, { path, problem });
  }

  /** The issues found so far. */
  found(): Issue[] {
    return [...this.issues.values()];
  }

  /** Throws a 400 that names every invalid field, if there is any. */
  done(): void {
    if (this.issues.size > 0) throw invalid(...this.issues.values());
  }

  private or<T>(otherwise: T, path: string, result: T | AmountProblem): T {
    if (!isAmountProblem(result)) return result;
    this.refuse(path, result.message);
    return otherwise;
  }
}
