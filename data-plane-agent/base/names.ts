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
