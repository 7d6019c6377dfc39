import { _, Ajv2020, str } from 'ajv/dist/2020.js';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TSchema } from 'typebox';
import { isAddress } from './addresses.js';
import { isDay, isTimeZone } from './day.js';
import { isCurrency } from './money.js';
import { isCalendar, isLanguageTag, isLocaleOrRegion, isName, isPlain } from './names.js';
import { onFirstUse } from './on-first-use.js';
import { hasLongRun, isCleanText, TOO_MANY_MARKS } from './text.js';

type Json = Record<string, unknown>;

/**
 * A compiler of schemas with the formats and keywords that ours have. `ownProperties`: whether a property that an object inherits is none of its own, such as one that a request names
 * `constructor`. An answer has been made by a program, and its check is faster without it.
 */
export function createAjv({ ownProperties }: { readonly ownProperties: boolean }): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    allowUnionTypes: true,
    ownProperties,
    // What a schema defines is a function of its own: see `answerChecker`.
    inlineRefs: false,
    // Takes 50 ms at the first schema, in the midst of a request. Tests check the schemas of all endpoints and operations.
    validateSchema: false,
  });
  ajv.addFormat('date', { type: 'string', validate: isDay });
  ajv.addFormat('currency', { type: 'string', validate: isCurrency });
  for (const [name, validate] of Object.entries({
    'time-zone': isTimeZone,
    'language-tag': isLanguageTag,
    'locale-or-region': isLocaleOrRegion,
    calendar: isCalendar,
  }))
    ajv.addFormat(name, { type: 'string', validate });
  ajv.addFormat('email', { type: 'string', validate: isAddress });
  ajv.addFormat('date-time', { type: 'string', validate: (text: string) => !Number.isNaN(Date.parse(text)) });
  // Ajv's own keywords count the characters of megabytes of text, although only texts close to the limit need counting.
  for (const keyword of ['minLength', 'maxLength'] as const) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      errors: false,
      compile: (limit: number) => (text: string) => isWithin(text, keyword, limit),
      error: { message: '', params: ({ schemaCode }) => _`{ limit: ${schemaCode} }` },
    });
  }
  // Texts that are refused for their length are not scanned.
  ajv.addKeyword({
    keyword: 'x-text',
    type: 'string',
    errors: false,
    compile: (on: boolean, parent: Json) => (text: string) =>
      !on || text.length > longest(parent) || textProblem(text) === undefined,
    error: { message: ({ gen, data }) => _`${gen.scopeValue('func', { ref: textProblem })}(${data})` },
  });
  ajv.addKeyword({
    keyword: 'x-name',
    type: 'string',
    errors: false,
    validate: (on: boolean, text: string) => !on || isName(text),
    error: {
      message: 'must be one line without control characters, bidirectional controls and invisible characters',
    },
  });
  ajv.addKeyword({
    keyword: 'x-plain',
    type: 'string',
    errors: false,
    validate: (on: boolean, text: string) => !on || isPlain(text),
    error: { message: 'must not contain control characters and bidirectional controls' },
  });
  ajv.addKeyword({
    keyword: 'x-verbatim',
    type: 'string',
    errors: false,
    validate: (on: boolean, text: string) => !on || text.isWellFormed(),
    error: { message: 'must not contain broken Unicode' },
  });
  ajv.addKeyword({
    keyword: 'x-document',
    type: 'string',
    errors: false,
    validate: (on: boolean, text: string) => !on || !DOCUMENT_CONTROL.test(text),
    error: { message: 'must not contain control characters except tabs, line ends and form feeds' },
  });
  ajv.addKeyword({
    keyword: 'x-json',
    type: 'string',
    errors: false,
    compile: (on: boolean, parent: Json) => {
      const isValid = onFirstUse(() => knowing(ajv.compile(parent['contentSchema'] as TSchema)));
      return (text: string) => !on || isValid()(text);
    },
    error: { message: 'must be JSON text that matches its schema' },
  });
  ajv.addKeyword({
    keyword: 'x-characters',
    type: 'object',
    schemaType: 'number',
    errors: false,
    compile: (most: number) => (value: object) => unitsIn(value, most) <= most,
    error: { message: ({ schemaCode }) => str`must have at most ${schemaCode} characters in its lists` },
  });
  // Not validated here: the operation does, with an error that names the fields.
  ajv.addVocabulary(['x-one-of', 'x-some-of']);
  ajv.addKeyword({
    keyword: 'x-free',
    type: 'object',
    schemaType: 'number',
    errors: false,
    compile: (kilobytes: number) => (value: object) => isFreeObject(value, kilobytes * 1024),
    error: { message: ({ schemaCode }) => str`must be plain JSON of at most ${schemaCode} KB and eight levels` },
  });

  // Says what to do instead, before the plain message of `exclusiveMinimum`.
  ajv.addKeyword({
    keyword: 'x-above-zero',
    type: 'number',
    schemaType: 'string',
    before: 'exclusiveMinimum',
    errors: false,
    validate: (_instead: string, amount: number) => amount > 0,
    error: { message: ({ schema }) => `must be > 0; ${String(schema)}` },
  });
  return ajv;
}

const textProblem = (text: string): string | undefined =>
  !isCleanText(text)
    ? 'must not contain control characters or broken Unicode'
    : hasLongRun(text)
      ? TOO_MANY_MARKS
      : undefined;

/**
 * In UTF-16 units: decomposed, a character has up to four code points of up to two units each; blanks around the text
 * are trimmed.
 */
export const longest = ({ maxLength }: Json): number =>
  8 * (typeof maxLength === 'number' ? maxLength : LONGEST_WORD) + BLANKS;
/** For texts without a maximum length, because their values are enumerated. */
const LONGEST_WORD = 500;
const BLANKS = 1_000;

// oxlint-disable-next-line no-control-regex -- those of `isCleanText`; a document may also have carriage returns and form feeds
const DOCUMENT_CONTROL = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/;

/**
 * Remembers the digests of texts that were valid, and no text: a list has mostly contracts that have not changed since
 * it was read last, and parsing and validating one again takes five times as long as its digest.
 */
function knowing(isValid: (value: unknown) => boolean): (text: string) => boolean {
  const known = new LRUCache<string, true>({ max: KNOWN_TEXTS });
  return (text) => {
    const digest = hash('sha256', text, 'base64url');
    if (known.get(digest)) return true;
    const isJson = isJsonOf(text, isValid);
    if (isJson) known.set(digest, true);
    return isJson;
  };
}

/** Of one schema; they take about 4 MB. */
const KNOWN_TEXTS = 20_000;

function isJsonOf(text: string, isValid: (value: unknown) => boolean): boolean {
  try {
    return isValid(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function isWithin(text: string, bound: 'minLength' | 'maxLength', limit: number): boolean {
  const { length } = text;
  if (bound === 'maxLength') return length <= limit || (length <= 2 * limit && charactersIn(text) <= limit);
  return length >= 2 * limit || (length >= limit && charactersIn(text) >= limit);
}

/** A lone surrogate counts as one character, as in JSON Schema. */
function charactersIn(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) if (!isSecondHalf(text, i)) count++;
  return count;
}

const isSecondHalf = (text: string, i: number): boolean =>
  (text.charCodeAt(i) & 0xfc00) === 0xdc00 && i > 0 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800;

/** Counts the UTF-16 units of the texts in an object's lists of objects; stops beyond `most`. */
function unitsIn(value: object, most: number): number {
  let units = 0;
  for (const list of Object.values(value) as readonly unknown[]) {
    for (const item of Array.isArray(list) ? (list as readonly unknown[]) : []) {
      if (typeof item !== 'object' || item === null) continue;
      for (const text of Object.values(item) as readonly unknown[]) if (typeof text === 'string') units += text.length;
      if (units > most) return units;
    }
  }
  return units;
}

const FREE_DEPTH = 8;

function isFreeObject(root: object, bytes: number): boolean {
  const open: [unknown, number][] = [[root, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value === 'string' && !isCleanText(value)) return false;
    // `1e400` is parsed as Infinity, which would be stored as null.
    if (typeof value === 'number' && !Number.isFinite(value)) return false;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > FREE_DEPTH) return false;
    for (const [key, child] of Object.entries(value)) {
      if (key === '__proto__' || !isCleanText(key)) return false;
      open.push([child, depth + 1]);
    }
  }
  return Buffer.byteLength(JSON.stringify(root)) <= bytes;
}
