import type { MailTemplate, MailValues } from './values.js';

/** The content of a mail before layout. All texts are plain: `layout` escapes them. */
export interface MailText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Labelled values, shown as a table below the paragraphs. */
  readonly facts?: readonly { readonly label: string; readonly value: string }[];
  /** A link, shown as a button and in full below it. */
  readonly action?: { readonly label: string; readonly link: string };
  /** Digits to copy. */
  readonly code?: string;
  /** What to do if the recipient did not request the mail. */
  readonly caution?: string;
}

/** Each template in one language. */
export type Wording = { readonly [T in MailTemplate]: (values: MailValues[T], productName: string) => MailText };
