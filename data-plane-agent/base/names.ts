/** Checks of names that require the runtime's own data or character classes. */
import { onFirstUse } from './on-first-use.js';

/** BCP 47, of a language that the runtime knows: `klingon` is a well-formed tag too. */
export function isLanguageTag(tag: string): boolean {
  // Schema checks report all errors at once, so texts beyond the schema's maximum length also get here.
  if (tag.length > 100) return false;
  try {
    const { language } = new Intl.Locale(tag);
    return language !== 'und' && languages().of(language) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

// The runtime loads the names of all languages for it.
const languages = onFirstUse(() => new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }));

/** BCP 47, or only a region in its notation: `CN`, `419`. */
export const isLocaleOrRegion = (text: string): boolean => /^([A-Z]{2}|\d{3})$/.test(text) || isLanguageTag(text);

/** A calendar name of CLDR. */
export const isCalendar = (name: string): boolean => Intl.supportedValuesOf('calendar').includes(name);

/** Bidirectional marks, embeddings, overrides and isolates. */
const DIRECTIONS = String.raw`\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;
/**
 * Characters that a terminal or browser interprets instead of displaying, as the content of a character class: control
 * characters, bidirectional controls, line and paragraph separators. Joiners are not included, because scripts and
 * emoji need them.
 */
export const STEERING = String.raw`\p{Cc}\u2028\u2029${DIRECTIONS}`;
/**
 * Invisible characters that make two names look the same: zero-width spaces and joiners, invisible operators,
 * deprecated format controls, annotations, tags. The only emoji that need tags are flags of some regions.
 */
export const UNSEEN = String.raw`\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;
const dropped = new RegExp(`[${DIRECTIONS}${UNSEEN}]`, 'gu');
const breaks = /[\p{Cc}\u2028\u2029]+/gu;
const unfit = new RegExp(`[${STEERING}${UNSEEN}]`, 'u');
const steersLines = new RegExp(`(?![\t\n\u2028\u2029])[${STEERING}]`, 'u');

/** Whether the text is usable as a name: one line, without control or invisible characters. */
export const isName = (text: string): boolean => !unfit.test(text);

/**
 * Whether a text, which may have tabs and line breaks, has no control characters. Zero-width spaces are allowed, since
 * spreadsheet cells often contain them.
 */
export const isPlain = (text: string): boolean => !steersLines.test(text);

/** Cleans a name from an external source, such as a single sign-on provider, so that it is usable here. */
export const asName = (text: string): string => text.replaceAll(dropped, '').replaceAll(breaks, ' ');
