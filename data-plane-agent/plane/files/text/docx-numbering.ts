import { walkXml } from './archive.js';

interface Level {
  format: string;
  /** A pattern such as `第%1条` or `%1.%2`. */
  text: string;
  start: number;
}

interface List {
  readonly levels: Map<number, Level>;
  /** The current numbers by level, shared by lists of the same kind. */
  readonly counters: number[];
}

/**
 * Computes the numbers of list paragraphs. They are not part of the text, but clauses are referred to by them (`第三条`).
 */
export class Numbering {
  private readonly lists = new Map<string, List>();
  private readonly styles = new Map<string, { id: string; level: number }>();

  constructor(numbering: string | undefined, styles: string | undefined) {
    if (numbering !== undefined) this.readLists(numbering);
    if (styles !== undefined) this.readStyles(styles);
  }

  /** The number of a paragraph with a trailing blank; empty outside lists. */
  mark(style: string | undefined, { id, level }: { readonly id: string | undefined; readonly level: number }): string {
    const ofStyle = style === undefined ? undefined : this.styles.get(style);
    const list = this.lists.get(id ?? ofStyle?.id ?? '');
    const depth = id === undefined ? (ofStyle?.level ?? level) : level;
    const own = list?.levels.get(depth);
    if (!list || !own || depth > 8) return '';
    list.counters[depth] = (list.counters[depth] ?? own.start - 1) + 1;
    list.counters.length = depth + 1;
    if (own.format === 'bullet') return '• ';
    if (own.format === 'none') return '';
    const text = own.text.replaceAll(/%([1-9])/g, (_all, digit: string) => {
      const other = Number(digit) - 1;
      const of = list.levels.get(other);
      return numeral(list.counters[other] ?? of?.start ?? 1, of?.format ?? 'decimal');
    });
    return text === '' ? '' : `${text} `;
  }

  private readLists(xml: string): void {
    const kinds = new Map<string, List>();
    let kind: List | undefined;
    let level: Level | undefined;
    let number: string | undefined;
    walkXml(xml, {
      open: (name, { val = '', abstractNumId = '', numId = '', ilvl = '0' }) => {
        if (name === 'abstractNum') kinds.set(abstractNumId, (kind = { levels: new Map(), counters: [] }));
        else if (name === 'num') number = numId;
        else if (name === 'abstractNumId' && number !== undefined) {
          const of = kinds.get(val);
          if (of) this.lists.set(number, of);
        } else if (name === 'lvl' && kind && number === undefined)
          kind.levels.set(Number(ilvl), (level = { format: 'decimal', text: '', start: 1 }));
        else if (level && name === 'numFmt') level.format = val;
        else if (level && name === 'lvlText') level.text = val.slice(0, 40);
        else if (level && name === 'start') level.start = Math.min(Math.max(0, Number(val) || 0), 10_000);
      },
      close: (name) => {
        if (name === 'lvl') level = undefined;
        if (name === 'num') number = undefined;
      },
      text: () => undefined,
    });
  }

  private readStyles(xml: string): void {
    let style: string | undefined;
    let found = { id: '', level: 0 };
    walkXml(xml, {
      open: (name, { val = '', styleId }) => {
        if (name === 'style') [style, found] = [styleId, { id: '', level: 0 }];
        else if (name === 'numId') found.id = val;
        else if (name === 'ilvl') found.level = Number(val);
      },
      close: (name) => {
        if (name === 'style' && style !== undefined && found.id !== '') this.styles.set(style, found);
      },
      text: () => undefined,
    });
  }
}

function numeral(value: number, format: string): string {
  switch (format) {
    case 'chineseCounting':
    case 'chineseCountingThousand':
    case 'chineseLegalSimplified':
    case 'ideographDigital':
    case 'japaneseCounting':
    case 'taiwaneseCountingThousand':
      return chinese(value);
    case 'upperRoman':
      return roman(value);
    case 'lowerRoman':
      return roman(value).toLowerCase();
    case 'upperLetter':
      return letters(value);
    case 'lowerLetter':
      return letters(value).toLowerCase();
    case 'decimalZero':
      return String(value).padStart(2, '0');
    default:
      return String(value);
  }
}

const DIGITS = '零一二三四五六七八九';

function chinese(value: number): string {
  if (value < 0 || value > 99) return String(value);
  const [tens, ones] = [Math.floor(value / 10), value % 10];
  return (
    (tens === 0 ? '' : tens === 1 ? '十' : `${DIGITS[tens]}十`) + (ones === 0 && tens > 0 ? '' : (DIGITS[ones] ?? ''))
  );
}

const ROMAN: readonly (readonly [number, string])[] = [
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
];

function roman(value: number): string {
  if (value > 399) return String(value);
  let left = value;
  let text = '';
  for (const [numeralValue, sign] of ROMAN) for (; left >= numeralValue; left -= numeralValue) text += sign;
  return text;
}

const letters = (value: number): string =>
  value < 1 ? '' : String.fromCharCode(65 + ((value - 1) % 26)).repeat(Math.min(4, Math.ceil(value / 26)));
