import { STEERING, UNSEEN } from '../names.js';

const OBEYED = `[${STEERING}${UNSEEN}]`;
const steering = new RegExp(`(?!\\n)${OBEYED}`, 'gu');
const breaking = new RegExp(OBEYED, 'gu');
const ofFile = new RegExp(`(?![\\t\\n]|\\r\\n|\\r$)${OBEYED}`, 'gu');

/**
 * A text that is safe to print on a terminal: control and invisible characters are escaped, such as `\u202e`, which
 * means the same within JSON. Line breaks stay.
 */
export const printable = (text: string): string => text.replaceAll(steering, escaped);

/** The same on one line, so that a value cannot imitate further lines of output. */
export const printableLine = (text: string): string => text.replaceAll(breaking, escaped);

/** The same for a piece of a file, whose tabs and line endings stay. */
export const printablePiece = (text: string): string => text.replaceAll(ofFile, escaped);

/** Escapes each UTF-16 unit, as JSON does. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
