/** mulberry32: sufficient for test data, and the same numbers on every machine. */
export function randomFrom(seed: number): () => number {
  let state = (seed + 1) * 0x9e37_79b9;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const pick = <T>(list: readonly T[], i: number): T => {
  const chosen = list[i % list.length];
  if (chosen === undefined) throw new RangeError('nothing to choose from');
  return chosen;
};

export const drawn = <T>(list: readonly T[], random: () => number): T => pick(list, Math.floor(random() * list.length));
