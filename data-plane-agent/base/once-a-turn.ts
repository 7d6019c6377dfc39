/** Changes with each turn of the event loop, and whenever this process changes what is read. */
let epoch = 0;
let ends = false;

/**
 * Reads a value that others than this process may change, at most once in a turn of the event loop. Everything that the
 * event loop received in a turn was sent before the turn began, so that a value read in that turn is later than all of
 * it. Whoever changes such a value in this process calls `readAnew`.
 */
export function onceATurn<T>(read: () => T): () => T {
  let known: { readonly epoch: number; readonly value: T } | undefined;
  return () => {
    if (known?.epoch === epoch) return known.value;
    const value = read();
    known = { epoch, value };
    if (!ends) setImmediate(readAnew);
    ends = true;
    return value;
  };
}

export function readAnew(): void {
  epoch += 1;
  ends = false;
}
