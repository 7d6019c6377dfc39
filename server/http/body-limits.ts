import type { JsonLimits } from '../../data-plane-agent/base/json-limits.js';
import type { Endpoint } from './endpoint.js';

/** What the body of an endpoint may be, before its fields are looked at. */
export interface BodyLimits extends JsonLimits {
  /** Of the body when it is unpacked. */
  readonly bytes: number;
}

const KB = 1024;
/** Whom anybody may send to: passwords and tokens, and no documents. */
const PUBLIC_BYTES = 64 * KB;
const BYTES = 16 * KB * KB;
const LEVELS = 32;
/** Of one object: free ones have at most 256 KB. */
const KEYS = 10_000;
/**
 * As many as any body may have, and as many as an import may need: five thousand contracts of all fields, with a year's
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

/** How many values a body can have that the schema takes. */
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
