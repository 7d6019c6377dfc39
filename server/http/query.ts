import type { TObject, TProperties } from '../../data-plane-agent/base/schema.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import type { Issue } from '../../data-plane-agent/base/issue.js';

/** Parses the query of a request into a value and a list of issues. */
export type QueryReader = (text: string) => {
  readonly value: Record<string, unknown>;
  readonly issues: readonly Issue[];
};

const MAX_PARAMETERS = 200;

/**
 * Compiles the parser of a query. Strings are converted to the types of the schema (`page=2`, `overdue=true`,
 * `ids=a,b`); a string that cannot be converted is kept, so that the schema refuses it with one message per field. An
 * empty value of an optional field means no value. `open` ignores unknown keys instead of refusing them.
 */
export function queryReader(schema: TObject<TProperties> | undefined, { open }: { open: boolean }): QueryReader {
  const fields = new Map(Object.entries(schema?.properties ?? {}).map(([key, property]) => [key, fieldOf(property)]));
  const check = schema && checker(schema);
  return (text) => {
    const sent = text === '' ? NOTHING : grouped(text);
    if (sent.size > MAX_PARAMETERS)
      return refuse([{ path: 'query', problem: `must have at most ${MAX_PARAMETERS} parameters` }]);
    const issues: Issue[] = [];
    // Without a prototype, so that a key such as `__proto__` is an ordinary key.
    const value: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const [key, texts] of sent) {
      const field = fields.get(key);
      if (!field) {
        if (!open) issues.push({ path: key.slice(0, MAX_NAME), problem: 'is not a known parameter' });
      } else if (field.list) {
        const parts = texts.flatMap((part) => part.split(',')).filter((part) => part !== '');
        if (parts.length > 0 || field.required) value[key] = parts.map(field.read);
      } else if (texts.length > 1) issues.push({ path: key, problem: 'must be given once' });
      else if (texts[0] !== undefined && (texts[0] !== '' || field.required)) value[key] = field.read(texts[0]);
    }
    const repeated = new Set(issues.map(({ path }) => path));
    for (const [key, { fallback }] of fields) if (fallback !== undefined && !(key in value)) value[key] = fallback;
    const checked = check?.(value);
    if (checked?.ok === false) issues.push(...checked.issues.filter(({ path }) => !repeated.has(path)));
    return { value: checked?.ok === true ? (checked.value as Record<string, unknown>) : value, issues };
  };
}

interface Field {
  readonly list: boolean;
  readonly required: boolean;
  readonly fallback: unknown;
  read(text: string): unknown;
}

type Json = Readonly<Record<string, unknown>>;

const NOTHING: ReadonlyMap<string, string[]> = new Map();
const MAX_NAME = 100;

function fieldOf(schema: unknown): Field {
  const json = schema as Json;
  const types = [json['type']].flat();
  const list = types.includes('array');
  const required = !types.includes('null');
  return {
    list,
    required,
    fallback: json['default'],
    read: list ? reader([(json['items'] as Json)['type']].flat()) : reader(types),
  };
}

function reader(types: readonly unknown[]): (text: string) => unknown {
  if (types.includes('integer') || types.includes('number'))
    return (text) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text);
  if (types.includes('boolean')) return (text) => (text === 'true' ? true : text === 'false' ? false : text);
  return (text) => text;
}

function grouped(text: string): ReadonlyMap<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(text)) {
    const known = groups.get(key);
    if (known) known.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

const refuse = (issues: readonly Issue[]) => ({ value: {}, issues });
