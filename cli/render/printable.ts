import { STEERING, UNSEEN } from '../../data-plane-agent/base/names.js';

const OBEYED = `[${STEERING}${UNSEEN}]`;
const steering = new RegExp(`(?!\\n)${OBEYED}`, 'gu');
const breaking = new RegExp(OBEYED, 'gu');
const ofFile = new RegExp(`(?![\\t\\n]|\\r\\n|\\r$)${OBEYED}`, 'gu');

/**
 * A text as a terminal may have it: what it would obey or hide instead of showing it is written as `\u202e`. Within
 * JSON that is the same value. Line breaks stay.
 */
export const printable = (text: string): string => text.replaceAll(steering, escaped);

/** The same on one line: a value must not look like lines of our own. */
export const printableLine = (text: string): string => text.replaceAll(breaking, escaped);

/** The same of a piece of a file, whose tabs and line ends are its own. */
export const printablePiece = (text: string): string => text.replaceAll(ofFile, escaped);

/** Beyond the first plane two units, as JSON spells it. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
