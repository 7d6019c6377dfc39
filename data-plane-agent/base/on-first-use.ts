/** Returns a function that makes the value at its first call and returns the same one from then on. */
export function onFirstUse<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
