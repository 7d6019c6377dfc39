/** Names that only the runtime knows: what is asked of them no pattern can say. */

/** BCP 47. */
export function isLanguageTag(tag: string): boolean {
  // A schema tells all that is wrong at once, so that its own bound does not keep a megabyte from coming here.
  if (tag.length > 100) return false;
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** BCP 47, or a region alone as it writes it: `CN`, `419`. */
export const isLocaleOrRegion = (text: string): boolean => /^([A-Z]{2}|\d{3})$/.test(text) || isLanguageTag(text);

/** As CLDR names calendars. */
export const isCalendar = (name: string): boolean => Intl.supportedValuesOf('calendar').includes(name);

/** Marks, embeddings, overrides and isolates of the writing direction. */
const DIRECTIONS = String.raw`\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;
/**
 * What a terminal or a browser obeys instead of showing it, as the inside of a character class: control characters,
 * controls of the writing direction, separators of lines and paragraphs. Joiners are none of them: scripts and emoji
 * need those.
 */
export const STEERING = String.raw`\p{Cc}\u2028\u2029${DIRECTIONS}`;
/**
 * What nobody sees, so that two names look like one: spaces and joiners of no width, invisible operators, deprecated
 * controls of digits and shapes, annotations, tags. Of emoji only the flags of some regions are made with tags.
 */
export const UNSEEN = String.raw`\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;
const dropped = new RegExp(`[${DIRECTIONS}${UNSEEN}]`, 'gu');
const breaks = /[\p{Cc}\u2028\u2029]+/gu;
const unfit = new RegExp(`[${STEERING}${UNSEEN}]`, 'u');
const steersLines = new RegExp(`(?![\t\n\u2028\u2029])[${STEERING}]`, 'u');

/** Fit to be a name: one line, read as it is written, and seen whole. */
export const isName = (text: string): boolean => !unfit.test(text);

/**
 * Of a text that may have tabs and line breaks: read as it is written. Cells of spreadsheets often bring spaces of no
 * width along.
 */
export const isPlain = (text: string): boolean => !steersLines.test(text);

/** A name that somebody else has made, such as a provider of single sign-on, made fit to be one here. */
export const asName = (text: string): string => text.replaceAll(dropped, '').replaceAll(breaks, ' ');
