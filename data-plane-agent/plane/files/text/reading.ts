import type { PageText, TextWarning } from './document-text.js';

/** What no contract has more of, in UTF-16 units over all pages. */
export const MAX_TEXT = 2_000_000;

/** One document being read: pages are handed over as they come, so that they are there however the rest goes. */
export interface Reading {
  /** The next page. */
  page(page: Omit<PageText, 'number'>): void;
  /** `cause` is for the log. */
  warn(code: TextWarning['code'], message: string, cause?: unknown): void;
  /** There is as much text as is taken: what follows need not be read. */
  isFull(): boolean;
  /** How many pages may still be recognised from pictures. */
  readonly ocr: { left: number };
}
