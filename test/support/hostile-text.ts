import { typesOf, validOf, type Json } from './schemas.js';

/** A value that a field must refuse, as JSON text, because no serialiser would write some of them. */
export interface HostileText {
  readonly label: string;
  readonly json: string;
  /**
   * Set if the error names another path than the field: its outermost parent if it is refused before validation, or its
   * first element.
   */
  readonly names?: 'outermost' | 'element';
}

/** All known kinds of invalid values for a field of this schema. */
export function hostileTextFor(schema: Json): HostileText[] {
  const types = typesOf(schema);
  const nullable = types.includes('null');
  const all: HostileText[] = [...wrongTypes(types), DEEP];
  if (!nullable) all.push({ label: 'null', json: 'null' });
  if (types.includes('string')) all.push(...nastyTexts(schema, nullable));
  if (types.includes('number') || types.includes('integer'))
    all.push(...nastyNumbers(schema, types.includes('integer')));
  if (types.includes('array')) all.push(...nastyLists(schema));
  if (types.includes('object')) all.push(...nastyObjects(schema));
  return all;
}

/** 50 000 nested lists, which overflow the stack of a recursive parser. */
const DEEP: HostileText = {
  label: '50 000 levels',
  json: `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  names: 'outermost',
};

function wrongTypes(types: readonly unknown[]): HostileText[] {
  const others: readonly (readonly [type: string, label: string, json: string])[] = [
    ['string', 'a text', '"text"'],
    ['string', 'a number as text', '"12"'],
    ['string', 'a flag as text', '"true"'],
    ['string', 'the text NaN', '"NaN"'],
    ['number', 'a number', '12.5'],
    ['boolean', 'a flag', 'true'],
    ['array', 'a list', '[1]'],
    ['array', 'an empty list', '[]'],
    ['array', 'lists in a list', '[[[[null]]]]'],
    ['object', 'an object', '{"a":1}'],
    ['object', 'an empty object', '{}'],
    ['object', 'an object with __proto__', '{"__proto__":{"admin":true}}'],
    ['object', 'an object that looks like a text', '{"length":3,"toString":"x"}'],
  ];
  return others
    .filter(([type]) => !types.includes(type) && !(type === 'number' && types.includes('integer')))
    .map(([, label, json]) => ({ label, json }));
}

const MILLION = JSON.stringify('x'.repeat(1_000_000));

function nastyTexts(schema: Json, nullable: boolean): HostileText[] {
  const verbatim = schema['x-verbatim'] === true;
  const min = Number(schema['minLength'] ?? 0);
  const max = Number(schema['maxLength'] ?? 1_000);
  const fill = 'a'.repeat(Math.max(min, 1));
  const values: [string, string][] = [
    ['one character too many', JSON.stringify('x'.repeat(max + 1))],
    ['a million characters', MILLION],
    ['half a surrogate pair', `"${fill}\\ud800"`],
    ['a surrogate pair the wrong way round', `"${fill}\\udc00\\ud800${fill}"`],
    ['a surrogate before a letter', `"\\udbffa${fill}"`],
  ];
  if (!verbatim)
    for (const code of ['0000', '0007', '000b', '001b', '007f'])
      values.push([`the control character U+${code}`, `"${fill}\\u${code}${fill}"`]);
  // Characters that affect how a text is displayed: bidirectional control characters, C1 controls, line separators.
  if (schema['x-name'] === true || schema['x-plain'] === true)
    for (const code of ['0085', '009b', '061c', '200e', '200f', '202a', '202e', '2066', '2069'])
      values.push([`the control U+${code}`, `"${fill}\\u${code}${fill}"`]);
  if (schema['x-name'] === true)
    for (const code of ['0009', '000a', '000d\\u000a', '2028', '2029'])
      values.push([`the break U+${code}`, `"${fill}\\u${code}${fill}"`]);
  if (!nullable && min > 0)
    values.push(['nothing', '""'], ...(verbatim ? [] : ([['blanks', '"  \\t "']] as [string, string][])));
  if (min > 1) values.push(['too few characters', JSON.stringify('x'.repeat(min - 1))]);
  if (Array.isArray(schema['enum']))
    values.push(
      ...[`${String(schema['enum'][0])}s`, String(schema['enum'][0]).toUpperCase(), 'constructor', '__proto__'].map(
        (text): [string, string] => [`the unknown word ${text}`, JSON.stringify(text)],
      ),
    );
  for (const text of FORMATS[String(schema['format'])] ?? []) values.push([text, JSON.stringify(text)]);
  if (schema['pattern'] !== undefined)
    values.push(
      ...['Not A Match!', '-leading', 'trailing-', 'ümlaut', `ok\\nok`]
        .filter((text) => !new RegExp(String(schema['pattern']), 'u').test(text))
        .map((text): [string, string] => [`what does not match (${text})`, JSON.stringify(text)]),
    );
  return values.map(([label, json]) => ({ label, json }));
}

/** Almost valid values of a format. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  date: [
    '2026-02-30',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-04-00',
    '0000-00-00',
    '2026-1-1',
    '20260101',
    '01.02.2026',
    '2026-02-30T10:00:00.000Z',
    '2026-05-01T25:00:00Z',
    '+012026-01-01',
    '-000001-01-01',
    'tomorrow',
    '２０２６-01-01',
    '2026-05-01 OR 1=1',
  ],
  currency: ['QQQ', 'EURO', 'EU', '€', '978', 'ＥＵＲ'],
  'time-zone': ['Mars/Olympus', '+08:00', '../UTC'],
  'language-tag': ['not a language', 'e', 'zh_CN', 'klingon', 'xx', 'und', `en-${'a'.repeat(40)}`],
  'locale-or-region': ['12', 'zh_CN', 'C'],
  calendar: ['mayan', 'Gregory'],
  email: [
    'nobody',
    'nobody@',
    '@example.test',
    'a b@example.test',
    'a@b@example.test',
    'a@example..test',
    'a@<b>.test',
    `a@${'x'.repeat(260)}.test`,
  ],
};

function nastyNumbers(schema: Json, whole: boolean): HostileText[] {
  const [min, max] = [Number(schema['minimum']), Number(schema['maximum'])];
  const values = [
    ...(['1e400', '-1e400', '1e308', '-1e308'] as const),
    ...(Number.isFinite(max) ? [String(max + 1), '9007199254740993000'] : []),
    ...(Number.isFinite(min) ? [String(min - 1)] : []),
    // More decimals than any currency (at most four) or a unit price (six) may have.
    ...(whole ? ['1.5', '0.1', '1e-7'] : ['1.23456789', '0.0000001']),
  ];
  return values.map((json) => ({ label: json, json }));
}

function nastyLists(schema: Json): HostileText[] {
  const max = Number(schema['maxItems']);
  const items: HostileText[] = Number.isFinite(max)
    ? [
        {
          label: 'one element too many',
          json: `[${Array.from({ length: max + 1 }, () => JSON.stringify(validOf(schema['items'] as Json))).join(',')}]`,
        },
      ]
    : [];
  return [...items, { label: 'a list with a hole', json: '[null]', names: 'element' }];
}

function nastyObjects(schema: Json): HostileText[] {
  if (schema['x-free'] !== true) return [];
  return [
    { label: 'a key __proto__', json: '{"__proto__":{"admin":true}}' },
    { label: 'a key __proto__ further in', json: '{"a":{"b":[{"__proto__":1}]}}' },
    { label: 'a key with a control character', json: '{"a\\u0000":1}' },
    { label: 'a text with a control character', json: '{"a":["\\u0000"]}' },
    { label: 'half a surrogate pair within', json: '{"a":{"b":"\\ud800"}}' },
    { label: 'half a surrogate pair as a key', json: '{"\\ud800":1}' },
    { label: 'nine levels', json: `${'{"a":'.repeat(9)}1${'}'.repeat(9)}` },
    { label: '17 KB', json: `{"a":"${'x'.repeat(17 * 1024)}"}` },
    { label: 'a number beyond all numbers', json: '{"a":1e400}' },
  ];
}

/** Values that a query parameter must refuse; `undefined` if no value is malformed. */
export function hostileParameters(schema: Json): readonly string[] {
  const types = typesOf(schema);
  if (types.includes('integer'))
    return ['abc', '1.5', '-1', '1e3', '0x10', 'NaN', 'Infinity', '99999999999', '١', '%001', '+1', '1,2', 'null'];
  if (types.includes('boolean')) return ['yes', '1', '0', 'TRUE', 'truefalse', 'null'];
  if (Array.isArray(schema['enum']))
    return ['nonsense', '__proto__', String(schema['enum'][0]).toUpperCase(), `${String(schema['enum'][0])}%00`];
  return ['a%00b', 'a%1Bb', 'x'.repeat(Number(schema['maxLength'] ?? 1_000) + 1)];
}
