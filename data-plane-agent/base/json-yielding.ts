import { beyond, type Beyond, type JsonLimits } from './json-limits.js';
import { yielding } from './yielding.js';

/** Characters that are parsed at once, a millisecond or two; between such pieces others get their turn. */
const PIECE = 32 * 1024;

/**
 * Beside the limits: the length of a key, and of blanks or digits in a row, neither of which a serialiser makes long.
 */
export type BeyondText = Beyond | { readonly field: string | undefined; readonly limit: 'key' | 'filler' };
export type ParsedJson = { readonly value: unknown } | { readonly beyond: BeyondText };

/**
 * `JSON.parse` under limits, which keeps nobody waiting however long the text is. Throws SyntaxError for what is no
 * JSON. `piece`: for tests.
 */
export async function parseJsonYielding(text: string, limits: JsonLimits, piece = PIECE): Promise<ParsedJson> {
  if (text.length <= 2 * piece) {
    const found = beyond(text, limits);
    return found ? { beyond: found } : { value: JSON.parse(text) as unknown };
  }
  const turn = yielding();
  const outline = new Outline(text, limits, piece);
  while (outline.goOn(PIECE)) await turn();
  if (outline.beyond) return { beyond: outline.beyond };
  const [value, ...more] = (await built(text, outline.root(), turn)) as readonly unknown[];
  if (more.length > 0) throw new SyntaxError('the JSON has more than one value');
  return { value };
}

/**
 * A value that is too long to be parsed at once. Of a list or an object the parts are its elements, several short ones
 * together; of a text its pieces.
 */
interface Long {
  readonly kind: 'list' | 'object' | 'text';
  readonly start: number;
  /** Of the bracket or quote that ends it. */
  end: number;
  readonly parts: Part[];
}

interface Part {
  readonly from: number;
  readonly to: number;
  /** The only value in it. */
  readonly long?: Long | undefined;
}

/** A value that has been begun and not ended. */
interface Open extends Long {
  /** Where the part begins that has not been ended, and the element that it ends with. */
  from: number;
  element: number;
  long: Long | undefined;
  /** Of an object: the key of this element stands before. */
  keyed: boolean;
  keys: number;
}

const [QUOTE, COLON, COMMA, BRACE, BRACE_END, BRACKET, BRACKET_END, BACKSLASH, LETTER_U] = [
  0x22, 0x3a, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d, 0x5c, 0x75,
] as const;
/** Characters of a key, and of blanks or digits: longer ones are no serialiser's, and could only be parsed at once. */
const LONGEST = 2 * PIECE;

const SIGNS: ReadonlySet<number> = new Set([QUOTE, COLON, COMMA, BRACE, BRACE_END, BRACKET, BRACKET_END]);
const MAX_NAME = 100;

/**
 * Finds in one pass, piece by piece, where a long text can be taken apart, and whether it stays within the limits. What
 * stands in the parts is not looked at: that is for the parser, which sees each of them.
 */
class Outline {
  beyond: BeyondText | undefined;
  private at = 0;
  private values = 1;
  private field: string | undefined;
  private last = '';
  /** The whole text is looked upon as the only element of a list. */
  private readonly open: Open[] = [opened('list', -1)];
  private text: Open | undefined;
  /** The last character that is neither blank nor of a number or a word. */
  private sign = 0;

  constructor(
    private readonly json: string,
    private readonly limits: JsonLimits,
    private readonly piece: number,
  ) {}

  /** Whether there is more to look at. */
  goOn(characters: number): boolean {
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
    if (!open) throw new SyntaxError('the JSON has a bracket too many');
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
          throw new SyntaxError('the JSON has brackets that do not match');
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
        // A key is read with its element.
        if (holder?.kind === 'list' || holder?.keyed) this.close(text, end);
        else if (end - text.start > LONGEST) this.stop('key');
        return;
      }
      // What an escape consists of stays together.
      this.at += code !== BACKSLASH ? 1 : this.json.charCodeAt(this.at + 1) === LETTER_U ? 6 : 2;
      if (this.at - text.from >= this.piece) part(text, this.at, this.at);
    }
  }

  /** What is short is left to the part in which it stands. */
  private close(value: Open, end: number): void {
    if (end - value.start <= this.piece) return;
    ended(value, end);
    const holder = this.open.at(-1);
    if (!holder || holder.long) throw new SyntaxError('the JSON has a bracket or a value too many');
    if (holder.element > holder.from) part(holder, holder.element - 1);
    holder.long = value;
  }

  private count(): void {
    this.values += 1;
    if (this.values > this.limits.values) this.stop('values');
  }

  private stop(limit: BeyondText['limit']): void {
    this.beyond ??= { field: this.field, limit } as BeyondText; // of either kind, as the limit is
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

/** The value of a long stretch, part by part. */
async function built(text: string, { kind, parts }: Long, turn: () => Promise<void>): Promise<unknown> {
  const list: unknown[] = [];
  const object: Record<string, unknown> = {};
  for (const { from, to, long } of parts) {
    await turn();
    const [open, close] = BRACKETS[kind];
    const piece =
      open +
      (long ? `${text.slice(from, long.start)} 0 ${text.slice(long.end + 1, to)}` : text.slice(from, to)) +
      close;
    const read = JSON.parse(piece) as string | unknown[] | Record<string, unknown>;
    const keys = typeof read === 'string' ? [read] : Object.keys(read);
    // Nothing between two commas is no element; nothing at all is an empty list.
    if (long ? keys.length !== 1 : keys.length === 0 && parts.length > 1)
      throw new SyntaxError('the JSON has a comma too many');
    const whole: unknown = long && (await built(text, long, turn));
    if (typeof read === 'string') list.push(read);
    else if (Array.isArray(read)) for (const value of read) list.push(long ? whole : value);
    // As the parser makes it: `__proto__` is a key like any other.
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
