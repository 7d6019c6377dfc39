/** What is dear to make, made once for each key: also when it fails, for it would fail the next time as well. */
export function once<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}
