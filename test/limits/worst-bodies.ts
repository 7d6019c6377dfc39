import { newId } from '../../data-plane-agent/base/ids.js';
import { ENDPOINTS } from '../../server/endpoints/index.js';
import { bodyLimits, type BodyLimits } from '../../server/http/body-limits.js';
import type { Endpoint } from '../../server/http/endpoint.js';
import {
  bodyFields,
  namesRecord,
  queryFields,
  typesOf,
  validOf,
  withValue,
  type Field,
  type Json,
} from '../support/schemas.js';
import type { Sample } from '../guarantees/requests.js';

/** A body or query that is as expensive as possible for its endpoint. */
export interface Worst {
  readonly label: string;
  /** Created when it is sent, because all of them together are gigabytes. */
  text(): string;
}

const ACUTE = '\u0301';
/**
 * Expensive characters: marks that are reordered, letters whose case folding depends on neighbours or expands,
 * characters of two code units, characters that JSON escapes, whitespace that is trimmed.
 */
const UNITS: Readonly<Record<string, string>> = {
  marks: `a${'\u0316\u0301'.repeat(15)}`,
  ligatures: '\ufdfa',
  sigmas: 'AΣ',
  emoji: '💶',
  quotes: '"\\',
  lines: 'x\n',
};

/**
 * All known ways to make a body of this endpoint expensive within its limits, without those that another endpoint handles
 * in the same way.
 */
export function worstBodies(endpoint: Endpoint, { body = {} }: Sample): Worst[] {
  const limits = bodyLimits(endpoint);
  const schema = (endpoint.body ?? { type: 'object', properties: {} }) as unknown as Json;
  const full = Object.entries(UNITS).map(([name, unit]): Worst => ({
    label: `texts of ${name}`,
    text: () => whole(schema, body, { unit, bytes: limits.bytes }),
  }));
  const lists = bodyFields(endpoint).filter(({ schema: field }) => typesOf(field).includes('array'));
  const objects = bodyFields(endpoint).filter(({ schema: field }) => typesOf(field).includes('object'));
  const put = ({ parts }: Pick<Field, 'parts'>, json: string): string =>
    JSON.stringify(withValue(body, { parts, schema }, HERE)).replace(`"${HERE}"`, () => json);
  const room = (field: Pick<Field, 'parts'>): number => limits.bytes - Buffer.byteLength(put(field, '""'));
  const filled = (field: Field, unit: string): string =>
    put(field, `"${unit.repeat(Math.floor(room(field) / Buffer.byteLength(unit)))}"`);
  const longest = longestText(endpoint);
  const documents = textFields(endpoint).filter(({ schema: field }) => field['x-document'] === true);
  const root: Pick<Field, 'parts' | 'path'> = { parts: [], path: 'the body' };
  return [
    ...full,
    {
      label: 'as many of everything as it takes',
      text: () => whole(schema, body, { unit: undefined, bytes: limits.bytes }),
    },
    { label: 'runs of marks', text: () => whole(schema, body, { unit: ACUTE, bytes: limits.bytes }) },
    ...longest
      .filter((field) => isFirst(endpoint, TEXT_RULES, rulesOf(endpoint, field)))
      .flatMap((field) =>
        Object.entries({ marks: ACUTE, 'line ends': '\\r\\n', letters: 'a', escapes: '\\u0301', emoji: '💶' }).map(
          ([name, unit]): Worst => ({ label: `a text of ${name} at ${field.path}`, text: () => filled(field, unit) }),
        ),
      ),
    ...documents.flatMap((field) =>
      TEXTS_FOR_EXTRACTION.map((text): Worst => ({
        label: `a document of ${JSON.stringify(text)} at ${field.path}`,
        text: () =>
          put(field, JSON.stringify(text.repeat(Math.floor(Number(field.schema['maxLength']) / text.length)))),
      })),
    ),
    ...[root, ...objects].map((field): Worst => ({
      label: `keys at ${field.path}`,
      text: () => put(field, keys(limits)),
    })),
    ...lists.flatMap((field) =>
      ['1', '{}', '""', '[]'].map((item): Worst => ({
        label: `${item} at ${field.path}`,
        text: () =>
          put(
            field,
            `[${Array.from({ length: Math.min(limits.values - 100, Math.floor(room(field) / (item.length + 1))) / (item.length > 1 ? 2 : 1) }, () => item).join(',')}]`,
          ),
      })),
    ),
    ...(isFirst(endpoint, LIMITS, JSON.stringify(limits)) ? malformed(limits) : []),
  ];
}

/** Bodies that are refused before any field is looked at, or for a single unknown field. */
function malformed(limits: BodyLimits): Worst[] {
  return [
    {
      label: 'as many values as a body may have',
      text: () => `{"a":[${'1,'.repeat(Math.min(limits.values, limits.bytes / 2) - 100)}1]}`,
    },
    {
      label: 'objects',
      text: () => `{"a":[${`{"b":"${'x'.repeat(20)}"},`.repeat(Math.min(limits.values, limits.bytes / 16) / 3)}1]}`,
    },
    {
      label: 'levels',
      text: () =>
        `{"a":${'['.repeat(limits.levels - 1)}${'{},'.repeat(Math.min(limits.values, limits.bytes / 3) / 2 - 100)}1${']'.repeat(limits.levels - 1)}}`,
    },
    { label: 'open brackets', text: () => '['.repeat(limits.bytes) },
    { label: 'no JSON at its end', text: () => `{"a":"${'x\\n'.repeat(limits.bytes / 3 - 10)}"` },
  ];
}

const textFields = (endpoint: Endpoint): Field[] =>
  bodyFields(endpoint).filter(({ schema }) => typesOf(schema).includes('string'));

const longestText = (endpoint: Endpoint): Field[] =>
  textFields(endpoint)
    .toSorted((a, b) => Number(b.schema['maxLength'] ?? 0) - Number(a.schema['maxLength'] ?? 0))
    .slice(0, 1);

/**
 * What decides how a text is refused that fills the whole body. It is read and refused alike by all endpoints with these
 * limits and this field, so one of them is enough.
 */
function rulesOf(endpoint: Endpoint, { schema }: Field): string {
  const { description: _, title: __, examples: ___, ...rules } = schema;
  return JSON.stringify([bodyLimits(endpoint), rules]);
}

/** The route of the first endpoint with these limits of bodies, and with these rules of its longest text. */
const LIMITS = new Map<string, string>();
const TEXT_RULES = new Map<string, string>();
for (const endpoint of Object.values<Endpoint>(ENDPOINTS).toReversed()) {
  if (endpoint.route.startsWith('GET ') || !endpoint.body) continue;
  LIMITS.set(JSON.stringify(bodyLimits(endpoint)), endpoint.route);
  for (const field of longestText(endpoint)) TEXT_RULES.set(rulesOf(endpoint, field), endpoint.route);
}

const isFirst = ({ route }: Endpoint, first: ReadonlyMap<string, string>, key: string): boolean =>
  first.get(key) === route;

/** Queries as long as a request line can be. */
export function worstQueries(endpoint: Endpoint): Worst[] {
  const fields = queryFields(endpoint).filter(
    ({ schema }) => typesOf(schema).includes('string') || typesOf(schema).includes('array'),
  );
  const of = (path: string, unit: string): Worst => ({
    label: `${path} of ${encodeURIComponent(unit)}`,
    text: () => `${path}=${encodeURIComponent(unit).repeat(Math.floor(12_000 / encodeURIComponent(unit).length))}`,
  });
  return [
    ...fields.flatMap(({ path }) =>
      [ACUTE, '\u0316\u0301', UNITS['marks'] ?? '', '%', 'Σ', ','].map((unit) => of(path, unit)),
    ),
    { label: 'parameters', text: () => 'a=&'.repeat(4_000) },
  ];
}

/** Texts that are expensive for the patterns of extraction. */
const TEXTS_FOR_EXTRACTION: readonly string[] = [
  '1',
  '1 ',
  '1,234.56 ',
  '壹',
  '壹拾万',
  '2026-01-01 ',
  '合同编号：',
  '合同金额：1',
  '租赁',
  'a',
  'a ',
  ' ',
  '\n',
  '\f',
  'paid by ',
  'payable monthly in advance ',
  'for the premises known as ',
  'purchase two (2) units of the crane, ',
  'landlord account with ',
  '$1 per unit ',
  '(',
  '________',
  '|',
  'Party A: x\n',
  'Tel: 1\n',
  '% vat ',
];

const HERE = 'b8d1-here';

/** As many unknown fields as are read. */
const keys = ({ keys: most, bytes }: { readonly keys: number; readonly bytes: number }): string =>
  `{${Array.from({ length: Math.min(most, Math.floor(bytes / 12) - 100) }, (_, i) => `"k${i}":1`).join(',')}}`;

interface Filling {
  /** The content of all texts; without it texts are short and lists long. */
  readonly unit: string | undefined;
  readonly bytes: number;
}

/** The sample with texts as long and lists as large as the limits of schema and body allow. */
function whole(schema: Json, sample: unknown, { unit, bytes }: Filling): string {
  const of = (items: number): string => JSON.stringify(filledIn(schema, sample, { unit, items }));
  const roomFor = (size: (json: string) => number, most: number): number => {
    const [none, one] = [size(of(0)), size(of(1))];
    return one === none ? 0 : Math.max(0, Math.floor((most - none) / (one - none)) - 1);
  };
  const characters = Number(schema['x-characters'] ?? Infinity);
  return of(
    Math.min(
      roomFor(Buffer.byteLength, bytes),
      characters === Infinity ? 100_000 : roomFor((json) => json.replaceAll('\\', '').length, characters),
    ),
  );
}

function filledIn(
  schema: Json,
  sample: unknown,
  { unit, items }: { readonly unit: string | undefined; readonly items: number },
  name = '',
): unknown {
  const types = typesOf(schema);
  if (types.includes('object') && schema['properties'] !== undefined) {
    const given = (sample ?? {}) as Readonly<Record<string, unknown>>;
    const properties = Object.entries(schema['properties'] as Readonly<Record<string, Json>>);
    return Object.fromEntries(
      properties.flatMap(([key, child]) => {
        // Lists of plain values that the sample does not have would refer to nonexistent records.
        const isFillable =
          isFree(key, child) ||
          (child['items'] as Json | undefined)?.['properties'] !== undefined ||
          child['properties'] !== undefined;
        return key in given || isFillable ? [[key, filledIn(child, given[key], { unit, items }, key)]] : [];
      }),
    );
  }
  if (types.includes('array') && !types.includes('string')) {
    const [first] = (Array.isArray(sample) ? sample : []) as readonly unknown[];
    const item = schema['items'] as Json;
    const isIds = /ids?$/i.test(name);
    return Array.from({ length: Math.min(items, Number(schema['maxItems'] ?? 1_000)) }, () =>
      isIds ? newId() : filledIn(item, first ?? validOf(item), { unit, items }),
    );
  }
  if (!isFree(name, schema)) return sample ?? validOf(schema);
  const max = Number(schema['maxLength'] ?? 1);
  if (max > 1_000_000) return sample ?? validOf(schema);
  // Invoice numbers and similar values must be unique.
  return [...`${(++made).toString(36)}${unit === undefined ? '' : unit.repeat(max).slice(0, 2 * max)}`]
    .slice(0, max)
    .join('');
}

let made = 0;

/** Whether the schema is a text without a fixed format. */
const isFree = (name: string, schema: Json): boolean =>
  typesOf(schema).includes('string') &&
  schema['enum'] === undefined &&
  schema['format'] === undefined &&
  schema['pattern'] === undefined &&
  Number(schema['maxLength'] ?? 0) >= 200 &&
  !namesRecord({ parts: [name] });
