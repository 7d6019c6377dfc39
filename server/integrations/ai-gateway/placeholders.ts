import type { FindingType } from './finding-types.js';

/** A part of the input, and what it says in normalised form. */
export interface Masked {
  readonly type: FindingType;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The input with placeholders such as `<EMAIL_1>` in place of these parts, which are in their order. The same value has
 * the same placeholder, however it is written. Numbers of placeholders that the input already has are left out, so that
 * the parts of a conversation that were masked before keep their meaning.
 */
export function withPlaceholders(input: string, parts: readonly Masked[]): string {
  const taken = new Set([...input.matchAll(PLACEHOLDER)].map(([placeholder]) => placeholder));
  const known = new Map<string, string>();
  const counts = new Map<FindingType, number>();
  const placeholderOf = ({ type, text }: Masked): string => {
    const value = `${type} ${valueOf(text)}`;
    const before = known.get(value);
    if (before !== undefined) return before;
    let placeholder: string;
    do {
      const number = (counts.get(type) ?? 0) + 1;
      counts.set(type, number);
      placeholder = `<${type}_${number}>`;
    } while (taken.has(placeholder));
    known.set(value, placeholder);
    return placeholder;
  };
  let masked = '';
  let from = 0;
  for (const part of parts) {
    masked += input.slice(from, part.start) + placeholderOf(part);
    from = part.end;
  }
  return masked + input.slice(from);
}

const PLACEHOLDER = /<[A-Z_]{2,20}_\d{1,5}>/g;

/** Without the separators within a number. */
const valueOf = (text: string): string => text.toLowerCase().replaceAll(/[\s()\-./_·•]/g, '');
