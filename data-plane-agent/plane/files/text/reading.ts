import type { PageText, TextWarning } from './document-text.js';

/** The maximum text length over all pages, in UTF-16 units. */
export const MAX_TEXT = 2_000_000;

/** The output of one document being read. Pages are delivered immediately, so that they remain if a later one fails. */
export interface Reading {
  /** Adds the next page. */
  page(page: Omit<PageText, 'number'>): void;
  /** `cause` is logged. */
  warn(code: TextWarning['code'], message: string, cause?: unknown): void;
  /** Whether the maximum text length is reached, so that the rest can be skipped. */
  isFull(): boolean;
  /** How many more pages may be read by character recognition. */
  readonly ocr: { left: number };
}
