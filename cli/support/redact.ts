/** Replaces what must not leave the installation in a text. */
export type Redact = (text: string) => string;

const REPLACED = '[redacted]';
/** Shorter texts would be found everywhere. */
const MIN_LENGTH = 3;

/** Words of our own that settings have too. */
const OURS = new Set(
  'localhost 127.0.0.1 0.0.0.0 [::1] ::1 duebook sqlite postgres postgresql data platform.db tenant.db files true false off all none production tcp unix file'.split(
    ' ',
  ),
);

/**
 * A function that replaces the texts of these values, the parts of those that are URLs or paths, and everything that
 * looks like an address of a person or machine, or like a secret.
 */
export function redactor(values: unknown, { kept }: { readonly kept: ReadonlySet<string> }): Redact {
  const words = new Set<string>();
  for (const text of textsIn(values)) for (const part of partsOf(text)) words.add(part);
  const literal = [...words]
    .filter((word) => word.length >= MIN_LENGTH && !OURS.has(word.toLowerCase()) && !kept.has(word))
    .sort((one, other) => other.length - one.length)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const named = literal.length === 0 ? undefined : new RegExp(literal.join('|'), 'gi');
  return (text) => {
    const without = named ? text.replaceAll(named, REPLACED) : text;
    return PATTERNS.reduce((left, pattern) => left.replaceAll(pattern, REPLACED), without);
  };
}

const PATTERNS: readonly RegExp[] = [
  // User and password of a URL.
  /(?<=:\/\/)[^\s/@]+(?=@)/g,
  // Addresses of mail.
  /[^\s<>"'(),;:]+@[^\s<>"'(),;]+/g,
  // Tokens: three parts of base64url, and ours.
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /\bdp[a-z]_[\w-]{20,}/g,
  // Keys and hashes.
  /(?<![\w/+-])[\w/+-]{40,}={0,2}/g,
  // Addresses of machines, but not of this one.
  /\b(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}\b/g,
];

function* textsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null && depth < 8)
    for (const part of Object.values(value)) yield* textsIn(part, depth + 1);
}

function* partsOf(text: string): Generator<string> {
  yield text;
  if (URL.canParse(text)) {
    const { host, hostname, username, password, pathname, searchParams } = new URL(text);
    for (const part of [host, hostname, username, password, ...searchParams.values()]) {
      yield part;
      yield decoded(part);
    }
    yield* pathname.split('/').map(decoded);
  } else yield* text.split(/[\s/<>,;]+/);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a % that is none of an encoding
  }
}
