/**
 * What is under way just now, of which there is always something else. Not a plain `Set` of it: V8 moves a `Set` or `Map`
 * to another table each few additions, and the former table refers to the next and still lists what was under way then.
 * Once such a table is in the old generation, each later one survives until the next full garbage collection, and with it
 * all that it lists.
 */
export class InFlight<T> implements Iterable<T> {
  private readonly places = new Set<{ item: T | undefined }>();

  /** Returns what removes it again, which must be called. */
  add(item: T): () => void {
    const place: { item: T | undefined } = { item };
    this.places.add(place);
    return () => {
      // A former table of the `Set` may list the place for a while.
      place.item = undefined;
      this.places.delete(place);
    };
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const { item } of this.places) if (item !== undefined) yield item;
  }
}
