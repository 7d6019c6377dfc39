import type { Readable } from 'node:stream';
import type { WarningCode } from '../../../base/warnings.js';

/**
 * What a document says, page by page: of a workbook each sheet is a page, of other documents that have no pages there
 * is one.
 */
export interface DocumentText {
  readonly pages: readonly PageText[];
  readonly warnings: readonly TextWarning[];
}

export interface PageText {
  /** From 1. */
  readonly number: number;
  /** Lines parted by `\n`, the cells of a table by tabs, no form feeds. */
  readonly text: string;
  /** `ocr`: the page is a picture, which was read by character recognition. */
  readonly source: 'text' | 'ocr';
  /** Of recognised pages: how sure the recognition is, from 0 to 1. */
  readonly confidence?: number;
}

/** What was left out or doubtful, for people: the codes stay, the words may change. */
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

/** Why a document gives no text. `message` is for people and holds nothing of the document. */
export class UnreadableDocument extends Error {
  override readonly name = 'UnreadableDocument';
  readonly code: UnreadableCode;

  constructor(code: UnreadableCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * `unsupported`: no kind of document that is read; `encrypted`: needs a password; `damaged`: not what its type says;
 * `too_large`: beyond the limits, as bombs are; `too_slow`: not read within the deadline; `busy`: too many wait (try
 * again later); `closed`: the reader was closed.
 */
export type UnreadableCode = 'unsupported' | 'encrypted' | 'damaged' | 'too_large' | 'too_slow' | 'busy' | 'closed';

export interface DocumentReader {
  /**
   * Reads the text of a document. Documents are read one at a time, those of different tenants by turns; the bytes are
   * asked for when their turn comes, where a function is given that opens them. Rejects with an `UnreadableDocument`,
   * with the signal's reason when it aborts, or with the error of the content. Does not touch the network.
   */
  textOf(content: Readable | ((signal: AbortSignal) => Promise<Readable>), about: TextRequest): Promise<DocumentText>;
  /** Ends the thread; what is being read rejects with `closed`. */
  close(): Promise<void>;
}

export interface TextRequest {
  /** As the file's record has it; parameters such as `; charset=` are passed over. */
  readonly contentType: string;
  readonly signal: AbortSignal;
  /** Whose turn it is: the tenant's id. Those who give none wait as one. */
  readonly reader?: string;
}

/** The document as one text, its pages parted by form feeds: what the rules of extraction read. */
export const joinedText = ({ pages }: Pick<DocumentText, 'pages'>): string =>
  pages.map(({ text }) => text).join('\n\f');
