import type { Readable } from 'node:stream';
import type { WarningCode } from '../../../base/warnings.js';

/** The text of a document by page. Each sheet of a workbook is a page; other documents without pages are one. */
export interface DocumentText {
  readonly pages: readonly PageText[];
  readonly warnings: readonly TextWarning[];
}

export interface PageText {
  /** Starts at 1. */
  readonly number: number;
  /** Lines separated by `\n`, table cells by tabs. Contains no form feeds. */
  readonly text: string;
  /** `ocr`: the page is an image, read by character recognition. */
  readonly source: 'text' | 'ocr';
  /** For `ocr` only: the confidence of the recognition, from 0 to 1. */
  readonly confidence?: number;
}

/** What was omitted or is uncertain. Codes are stable; messages may change. */
export interface TextWarning {
  readonly code: Extract<
    WarningCode,
    | 'PAGES_LEFT_OUT'
    | 'TEXT_CUT'
    | 'RECOGNISED'
    | 'LOW_RECOGNITION'
    | 'PAGE_UNREADABLE'
    | 'HIDDEN_CONTENT'
    | 'ENCODING_GUESSED'
  >;
  readonly message: string;
}

/** Why a document cannot be read. `message` is shown to people and contains nothing of the document. */
export class UnreadableDocument extends Error {
  override readonly name = 'UnreadableDocument';
  readonly code: UnreadableCode;

  constructor(code: UnreadableCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * `unsupported`: unknown format; `encrypted`: needs a password; `damaged`: does not match its type; `too_large`:
 * exceeds a limit, such as a decompression bomb; `too_slow`: exceeds the timeout; `busy`: too many are waiting (try
 * again later); `closed`: the reader was closed.
 */
export type UnreadableCode = 'unsupported' | 'encrypted' | 'damaged' | 'too_large' | 'too_slow' | 'busy' | 'closed';

export interface DocumentReader {
  /**
   * Reads the text of a document. Documents are read one at a time, alternating between tenants; a function that opens
   * the content is called when its turn comes. Rejects with an `UnreadableDocument`, the signal's reason, or an error
   * of the content. Makes no network requests.
   */
  textOf(content: Readable | ((signal: AbortSignal) => Promise<Readable>), about: TextRequest): Promise<DocumentText>;
  /** Stops the thread; pending documents reject with `closed`. */
  close(): Promise<void>;
}

export interface TextRequest {
  /** From the file's record; parameters such as `; charset=` are ignored. */
  readonly contentType: string;
  readonly signal: AbortSignal;
  /** The tenant's id, for fair queueing. Requests without one share a queue. */
  readonly reader?: string;
}

/** The document as one text, with pages separated by form feeds; the input of the extraction rules. */
export const joinedText = ({ pages }: Pick<DocumentText, 'pages'>): string =>
  pages.map(({ text }) => text).join('\n\f');
