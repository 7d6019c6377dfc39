import type { JsonLimits } from '../../data-plane-agent/base/json-limits.js';
import type { Endpoint } from './endpoint.js';

/** The limits of an endpoint's body, checked before its fields. */
export interface BodyLimits extends JsonLimits {
  /** Of the uncompressed body. */
  readonly bytes: number;
}

const KB = 1024;
/** For endpoints without authentication: they take passwords and tokens, no documents. */
const PUBLIC_BYTES = 64 * KB;
const BYTES = 16 * KB * KB;
const LEVELS = 32;
/** Per object. Objects with free keys have at most 256 KB. */
const KEYS = 10_000;
/**
 * `least` is allowed for every body; `most` is enough for an import: five thousand contracts with all fields and twelve
 * lines each.
 */
const VALUES = { least: 20_000, most: 1_000_000 } as const;

export const bodyLimits = ({ needs, body }: Pick<Endpoint, 'needs' | 'body'>): BodyLimits => ({
  bytes: needs === 'public' ? PUBLIC_BYTES : BYTES,
  levels: LEVELS,
  keys: KEYS,
  values: Math.min(VALUES.most, Math.max(VALUES.least, body ? valuesOf(body) : 0)),
});

type Json = Readonly<Record<string, unknown>>;

/** The largest number of values in a body that the schema accepts. */
function valuesOf(schema: unknown): number {
  const json = schema as Json;
  const properties = Object.values((json['properties'] ?? {}) as Readonly<Record<string, Json>>);
  const own = properties.reduce<number>((sum, property) => sum + valuesOf(property), 1);
  if (json['items'] !== undefined) return own + atMost(json['maxItems']) * valuesOf(json['items']);
  if (typeof json['additionalProperties'] === 'object')
    return own + atMost(json['maxProperties']) * valuesOf(json['additionalProperties']);
  return json['x-free'] !== undefined ? own + KEYS : own;
}

const atMost = (bound: unknown): number => (typeof bound === 'number' ? bound : Infinity);
