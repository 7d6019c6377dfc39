import { isInjectionSuspected } from './find-injection.js';
import { findingsIn } from './findings.js';
import type { FindingType } from './finding-types.js';
import { normalise } from './normalise.js';
import type { OwnNumbers } from './own-numbers.js';
import { withPlaceholders } from './placeholders.js';

export interface InspectedText {
  /** Positions in the text as it was sent, in UTF-16 units; `end` is exclusive. */
  readonly findings: readonly { readonly type: FindingType; readonly start: number; readonly end: number }[];
  /** The text with a placeholder in place of every finding. */
  readonly redacted: string;
  readonly isInjectionSuspected: boolean;
}

/** Searches a text. The work is linear in its length, whatever the text is. */
export function inspectText(input: string, own: OwnNumbers): InspectedText {
  const normal = normalise(input);
  const { text, from, to } = normal;
  const findings = findingsIn(normal, own).map(({ type, start, end }) => ({
    type,
    start: from[start] ?? 0,
    end: to[end - 1] ?? input.length,
    text: text.slice(start, end),
  }));
  return {
    findings: findings.map(({ type, start, end }) => ({ type, start, end })),
    redacted: withPlaceholders(input, findings),
    isInjectionSuspected: isInjectionSuspected(text),
  };
}
