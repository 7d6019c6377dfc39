import { findAddresses } from './find-addresses.js';
import { findNumbers } from './find-numbers.js';
import { findSecrets } from './find-secrets.js';
import { FINDING_TYPES, isSecret, type Match } from './finding-types.js';
import type { NormalText } from './normalise.js';
import type { OwnNumbers } from './own-numbers.js';
import { tokensOf } from './tokens.js';

/** How often a text is searched: in practice twice at most, because few values end where others begin. */
const MOST_SEARCHES = 4;

/**
 * The matches in a normalised text, in their order, without overlaps. What is found is taken out and the rest is
 * searched again: a value that is written directly after another one has no boundary before that, and would be found in
 * the masked text.
 */
export function findingsIn({ text, from }: NormalText, own: OwnNumbers): Match[] {
  const whole = (match: Match): Match => wholeCharacters(match, from);
  let found: Match[] = [];
  let rest = text;
  for (let searches = 0; searches < MOST_SEARCHES; searches++) {
    const tokens = tokensOf(rest);
    const more = withoutOverlaps(
      [...findSecrets(rest), ...findNumbers({ text: rest, tokens, own }), ...findAddresses(rest)].map(whole),
    );
    if (more.length === 0) break;
    rest = without(rest, more);
    found = searches === 0 ? more : [...found, ...more].toSorted((a, b) => a.start - b.start);
  }
  return found;
}

/**
 * A character of the input of which two units were made, as `am` of `㏂`, is masked as a whole: a match that has one of
 * them has both. Otherwise the other one would still be next to what is searched afterwards, and not in the masked text.
 */
const wholeCharacters = (match: Match, from: NormalText['from']): Match => ({
  ...match,
  start: from[match.start - 1] === from[match.start] ? match.start - 1 : match.start,
  end: from[match.end] === from[match.end - 1] ? match.end + 1 : match.end,
});

/** The text of the same length, with a character that is part of no match in place of each match. */
function without(text: string, matches: readonly Match[]): string {
  let rest = '';
  let from = 0;
  for (const { start, end } of matches) {
    rest += text.slice(from, start) + TAKEN_OUT.repeat(end - start);
    from = end;
  }
  return rest + text.slice(from);
}

const TAKEN_OUT = '\ufffc';

/**
 * Overlapping matches become one, which covers all of them, so that no part of any remains in a masked text. It has the
 * type of the match that comes first: a secret before other types, then the longest, then by the order of the types.
 */
export function withoutOverlaps(matches: readonly Match[]): Match[] {
  const joined: Match[] = [];
  let strongest: Match | undefined;
  for (const match of matches.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (!last || !strongest || match.start >= last.end) {
      joined.push(match);
      strongest = match;
      continue;
    }
    if (precedence(match, strongest) < 0) strongest = match;
    joined[joined.length - 1] = {
      type: strongest.type,
      start: last.start,
      end: Math.max(last.end, match.end),
    };
  }
  return joined;
}

const precedence = (a: Match, b: Match): number =>
  Number(isSecret(b.type)) - Number(isSecret(a.type)) ||
  b.end - b.start - (a.end - a.start) ||
  FINDING_TYPES.indexOf(a.type) - FINDING_TYPES.indexOf(b.type);
