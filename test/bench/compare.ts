import type { Running } from '../support/process.js';
import { ask, WrongAnswer, type Asked } from './load.js';

/**
 * Fails unless both sides answer the same: the same fields with the same values, and as many bytes. Ids and instants
 * that a write made differ.
 */
export async function sameAnswers(
  { ours, raw }: { readonly ours: Running; readonly raw: Running },
  probes: readonly Asked[],
  { name, token, rawToken = token }: { readonly name: string; readonly token: string; readonly rawToken?: string },
): Promise<void> {
  for (const probe of probes) {
    const what = `${name}, ${probe.method} ${probe.path}`;
    const [a, b] = [await ask(ours.origin, probe, { token }), await ask(raw.origin, probe, { token: rawToken })];
    const [first, second] = [comparable(a), comparable(b)];
    if (first !== second) throw different(first, second, what);
    const sizes = [a, b].map((text) => Buffer.byteLength(text));
    if (sizes[0] !== sizes[1])
      throw new WrongAnswer(`${what}: the product answers ${sizes[0]} bytes, the raw program ${sizes[1]}`);
  }
}

function different(ours: string, raw: string, what: string): WrongAnswer {
  const from = [...ours].findIndex((character, i) => character !== raw[i]);
  const at = from === -1 ? ours.length : from;
  const excerpt = (text: string) => text.slice(Math.max(0, at - 80), at + 140);
  return new WrongAnswer(
    `${what}: the product answers …${excerpt(ours)}… where the raw program answers …${excerpt(raw)}…`,
  );
}

/** The order of fields has no meaning in JSON. */
function comparable(text: string): string {
  const isNew = new Map<string, string>();
  const named = (id: string) => isNew.get(id) ?? (isNew.set(id, `<id ${isNew.size}>`), `<id ${isNew.size - 1}>`);
  return JSON.stringify(inOrder(JSON.parse(text)))
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, named)
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>');
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, of]) => [name, inOrder(of)]),
  );
}
