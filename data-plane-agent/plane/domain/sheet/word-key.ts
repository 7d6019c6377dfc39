import { normal } from '../../../base/text.js';

/** In UTF-16 units; names of custom fields have at most a hundred characters. */
const LONGEST = 1_000;

/**
 * The form in which words are compared: without case, spaces and punctuation, `#` as `no`. Signs of currencies and
 * percent are kept because they are part of the meaning. A text that cannot be normalized is returned unchanged.
 */
export function wordKey(text: string): string {
  const plain = normal(text, { max: LONGEST, form: 'NFKC' });
  if (!plain.ok) return text;
  return plain.text
    .toLowerCase()
    .replaceAll('#', 'no')
    .replaceAll(/[\s\p{Cf}]|(?![%])\p{P}/gu, '');
}
