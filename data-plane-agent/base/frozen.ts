/** Freezes a value with all its parts, so that it can be shared. */
export function frozen<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) frozen(part as object);
  return Object.freeze(value);
}
