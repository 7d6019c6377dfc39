import type { MailTemplate } from './values.js';
import { english } from './en.js';
import { page, plain } from './layout.js';
import type { MailText } from './wording.js';
import { simplifiedChinese } from './zh-cn.js';

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * Renders the mail in the available language nearest to `language`. Throws for an unknown template. `values` are those
 * stored in the outbox.
 */
export function renderMail({
  template,
  language,
  values,
  productName,
}: {
  template: string;
  language: string;
  values: unknown;
  productName: string;
}): RenderedMail {
  const [wording, tag] = isSimplifiedChinese(language) ? [simplifiedChinese, 'zh-CN'] : [english, 'en'];
  if (!Object.hasOwn(wording, template)) throw new Error(`there is no mail template ${template}`);
  // The row was written from a message whose values had this template's type.
  const write = wording[template as MailTemplate] as (values: unknown, productName: string) => MailText;
  const text = write(flattened(values), oneLine(productName));
  return { subject: text.subject, text: plain(text, productName), html: page(text, { productName, language: tag }) };
}

/** Any Chinese whose tag does not name the traditional script. */
export function isSimplifiedChinese(language: string): boolean {
  const [base, ...rest] = language.toLowerCase().split('-');
  return base === 'zh' && !rest.some((part) => ['hant', 'tw', 'hk', 'mo'].includes(part));
}

/**
 * Names may contain line breaks and tabs; in a subject they are invalid, and in a paragraph they would start another
 * one.
 */
function flattened(values: unknown): unknown {
  if (typeof values !== 'object' || values === null) return values;
  return Object.fromEntries(
    Object.entries(values).map(([key, value]: [string, unknown]) => [
      key,
      typeof value === 'string' ? oneLine(value) : value,
    ]),
  );
}

/** Also removes direction marks, with which a name could reorder the text around it. */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim();
