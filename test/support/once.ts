/** Runs an expensive creation once per key. Failures are cached too, because a repetition would fail as well. */
export function once<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}
