import { beyond, type Beyond, type JsonLimits } from './json-limits.js';
import { yielding, type YieldIfDue } from './yielding.js';

/** Characters parsed at once, which takes a millisecond or two; between pieces the event loop runs. */
const PIECE = 32 * 1024;

/** In addition to the limits: an overlong key, or an overlong run of blanks or digits. Serialisers produce neither. */
export type BeyondText = Beyond | { readonly field: string | undefined; readonly limit: 'key' | 'filler' };
export type ParsedJson = { readonly value: unknown } | { readonly beyond: BeyondText };

/**
 * `JSON.parse` with limits, which regularly yields to the event loop. Throws SyntaxError for invalid JSON. `piece` is
 * for tests.
 */
export async function parseJsonYielding(text: string, limits: JsonLimits, piece = PIECE): Promise<ParsedJson> {
  if (text.length <= 2 * piece) {
    const found = beyond(text, limits);
    return found ? { beyond: found } : { value: JSON.parse(text) as unknown };
  }
  const yieldIfDue = yielding();
  const outline = new Outline(text, limits, piece);
  while (outline.scan(PIECE)) await yieldIfDue();
  if (outline.beyond) return { beyond: outline.beyond };
  const [value, ...more] = (await built(text, outline.root(), yieldIfDue)) as readonly unknown[];
  if (more.length > 0) throw new SyntaxError('the JSON has more than one value');
  return { value };
}

/**
 * A value that is too long to be parsed at once. The parts of a list or an object are its elements, several short ones
 * together; those of a string are pieces of it.
 */
interface Long {
  readonly kind: 'list' | 'object' | 'text';
  readonly start: number;
  /** The position of the closing bracket or quote. */
  end: number;
  readonly parts: Part[];
}

interface Part {
  readonly from: number;
  readonly to: number;
  /** The only value of the part, if it is long. */
  readonly long?: Long | undefined;
}

/** A value whose end has not been reached. */
interface Open extends Long {
  /** Where the current part begins, and where its last element begins. */
  from: number;
  element: number;
  long: Long | undefined;
  /** In an object: the key of this element has been read. */
  keyed: boolean;
  keys: number;
}

const [QUOTE, COLON, COMMA, BRACE, BRACE_END, BRACKET, BRACKET_END, BACKSLASH, LETTER_U] = [
  0x22, 0x3a, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d, 0x5c, 0x75,
] as const;
/** The maximum length of a key or of a run of blanks or digits, which could only be parsed at once. */
const LONGEST = 2 * PIECE;

const SIGNS: ReadonlySet<number> = new Set([QUOTE, COLON, COMMA, BRACE, BRACE_END, BRACKET, BRACKET_END]);
const MAX_NAME = 100;

/**
 * Finds in one pass where a long text can be split, and checks the limits. It does not validate the parts; the parser,
 * which sees each of them, does.
 */
class Outline {
  beyond: BeyondText | undefined;
  private at = 0;
  private values = 1;
  private field: string | undefined;
  private last = '';
  /** The whole text is treated as the only element of a list. */
  private readonly open: Open[] = [opened('list', -1)];
  private text: Open | undefined;
  /** The position of the last quote, bracket, comma or colon. */
  private sign = 0;

  constructor(
    private readonly json: string,
    private readonly limits: JsonLimits,
    private readonly piece: number,
  ) {}

  /** Scans up to so many characters. Returns whether there are more. */
  scan(characters: number): boolean {
    const until = Math.min(this.json.length, this.at + characters);
    while (this.at < until && !this.beyond) {
      if (this.text) this.inText(this.text, until);
      else this.between();
    }
    if (!this.text && this.at - this.sign > LONGEST) this.stop('filler');
    return this.at < this.json.length && !this.beyond;
  }

  root(): Long {
    const [root, ...more] = this.open;
    if (!root || more.length > 0 || this.text) throw new SyntaxError('the JSON ends too early');
    ended(root, this.json.length);
    return root;
  }

  private between(): void {
    const { at } = this;
    const code = this.json.charCodeAt(at);
    this.at += 1;
    if (!SIGNS.has(code)) return;
    this.sign = at;
    const open = this.open.at(-1);
    if (!open) throw new SyntaxError('the JSON has an unexpected closing bracket');
    switch (code) {
      case QUOTE:
        this.text = opened('text', at);
        return;
      case COLON:
        open.keyed = true;
        open.keys += 1;
        if (this.open.length === 2) this.field = this.last;
        if (open.keys > this.limits.keys) this.stop('keys');
        return;
      case COMMA:
        this.count();
        if (open.long || at - open.from >= this.piece) part(open, at);
        open.element = at + 1;
        open.keyed = false;
        return;
      case BRACE:
      case BRACKET:
        this.open.push(opened(code === BRACE ? 'object' : 'list', at));
        if (this.open.length - 1 > this.limits.levels) this.stop('levels');
        this.count();
        return;
      case BRACE_END:
      case BRACKET_END:
        if ((open.kind === 'object') !== (code === BRACE_END))
          throw new SyntaxError('the JSON has mismatched brackets');
        this.open.pop();
        this.close(open, at);
        return;
      default:
    }
  }

  private inText(text: Open, until: number): void {
    while (this.at < until) {
      const code = this.json.charCodeAt(this.at);
      if (code === QUOTE) {
        const end = this.at;
        this.at += 1;
        this.sign = end;
        this.text = undefined;
        if (this.open.length === 2)
          this.last = this.json.slice(text.start + 1, Math.min(end, text.start + 1 + MAX_NAME));
        const holder = this.open.at(-1);
        // A key is parsed together with its element.
        if (holder?.kind === 'list' || holder?.keyed) this.close(text, end);
        else if (end - text.start > LONGEST) this.stop('key');
        return;
      }
      // Escape sequences are not split.
      this.at += code !== BACKSLASH ? 1 : this.json.charCodeAt(this.at + 1) === LETTER_U ? 6 : 2;
      if (this.at - text.from >= this.piece) part(text, this.at, this.at);
    }
  }

  /** A short value stays in the part of its container. */
  private close(value: Open, end: number): void {
    if (end - value.start <= this.piece) return;
    ended(value, end);
    const holder = this.open.at(-1);
    if (!holder || holder.long) throw new SyntaxError('the JSON has an unexpected bracket or value');
    if (holder.element > holder.from) part(holder, holder.element - 1);
    holder.long = value;
  }

  private count(): void {
    this.values += 1;
    if (this.values > this.limits.values) this.stop('values');
  }

  private stop(limit: BeyondText['limit']): void {
    this.beyond ??= { field: this.field, limit } as BeyondText; // TypeScript does not match the limit to its variant
  }
}

const opened = (kind: Long['kind'], start: number): Open => ({
  kind,
  start,
  end: start,
  parts: [],
  from: start + 1,
  element: start + 1,
  long: undefined,
  keyed: false,
  keys: 0,
});

function part(open: Open, to: number, next = to + 1): void {
  open.parts.push({ from: open.from, to, long: open.long });
  open.from = next;
  open.long = undefined;
}

function ended(open: Open, end: number): void {
  part(open, end);
  open.end = end;
}

/** Parses a long value, part by part. */
async function built(text: string, { kind, parts }: Long, yieldIfDue: YieldIfDue): Promise<unknown> {
  const list: unknown[] = [];
  const object: Record<string, unknown> = {};
  for (const { from, to, long } of parts) {
    await yieldIfDue();
    const [open, close] = BRACKETS[kind];
    const piece =
      open +
      (long ? `${text.slice(from, long.start)} 0 ${text.slice(long.end + 1, to)}` : text.slice(from, to)) +
      close;
    const read = JSON.parse(piece) as string | unknown[] | Record<string, unknown>;
    const keys = typeof read === 'string' ? [read] : Object.keys(read);
    // An empty part is invalid between commas, but is an empty list by itself.
    if (long ? keys.length !== 1 : keys.length === 0 && parts.length > 1)
      throw new SyntaxError('the JSON has an unexpected comma');
    const whole: unknown = long && (await built(text, long, yieldIfDue));
    if (typeof read === 'string') list.push(read);
    else if (Array.isArray(read)) for (const value of read) list.push(long ? whole : value);
    // Like JSON.parse: `__proto__` is an ordinary key.
    else
      for (const key of keys)
        Object.defineProperty(object, key, {
          value: long ? whole : read[key],
          writable: true,
          enumerable: true,
          configurable: true,
        });
  }
  return kind === 'object' ? object : kind === 'text' ? list.join('') : list;
}

const BRACKETS = { list: ['[', ']'], object: ['{', '}'], text: ['"', '"'] } as const;
