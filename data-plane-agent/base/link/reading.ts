import type { Static, TSchema } from '../schema.js';
import { checker, type Check } from '../validation.js';
import { PublicKey } from './keys.js';
import { Component } from './messages.js';

/**
 * The check of a message that is exchanged before both sides know each other's version, or independently of it: fields
 * that this program does not know are left out, because a newer one may have added them. A new field must therefore be
 * one that older programs may ignore.
 */
export function newerToo<T extends TSchema>(schema: T): Check<Static<T>> {
  const check = checker(schema);
  return (input, at) => check(known(schema as Json, input), at);
}

type Json = Readonly<Record<string, unknown>>;

const COMPONENT: unknown = Component;
/** Its fields are those of a standard; a private one is a fault that must be noticed. */
const PUBLIC_KEY: unknown = PublicKey;

function known(schema: Json, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || schema === PUBLIC_KEY) return value;
  if (Array.isArray(value)) {
    const items = schema['items'] as Json | undefined;
    if (!items) return value;
    const all = value.map((item) => known(items, item));
    // Of a kind or a provider that this program does not know it can state nothing: a declaration of that kind differs.
    return items === COMPONENT ? all.filter((component) => !isOfNewer(component)) : all;
  }
  const properties = schema['properties'] as Readonly<Record<string, Json>> | undefined;
  if (!properties) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => Object.hasOwn(properties, name))
      .map(([name, field]) => [name, known(properties[name] ?? {}, field)]),
  );
}

/** Of a kind or a provider that this program does not know. What lacks one is malformed, and refused. */
function isOfNewer(component: unknown): boolean {
  const checked = checker(Component)(component);
  if (checked.ok || typeof component !== 'object' || component === null) return false;
  return checked.issues.some(
    ({ path }) =>
      (path === 'kind' || path === 'provider') &&
      typeof (component as Readonly<Record<string, unknown>>)[path] === 'string',
  );
}
