import type { MailTemplate, MailValues } from './values.js';

/** What a template says, before it is set. Every text is plain: `layout` escapes it. */
export interface MailText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** A link that is shown as a button, and in full below it. */
  readonly action?: { readonly label: string; readonly link: string };
  /** Digits to be copied. */
  readonly code?: string;
  /** What to do when one did not ask for it. */
  readonly caution?: string;
}

/** Each template in one language. */
export type Wording = { readonly [T in MailTemplate]: (values: MailValues[T], productName: string) => MailText };
