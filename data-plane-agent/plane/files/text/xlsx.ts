import { openArchive, walkXml, type Archive } from './archive.js';
import { UnreadableDocument } from './document-text.js';
import type { Reading } from './reading.js';
import { shownNumber } from './xlsx-formats.js';

const MAX_SHEETS = 50;
const MAX_CELLS = 200_000;
const MAX_COLUMNS = 200;

/**
 * Reads an XLSX: each visible sheet is a page, with rows as lines and tabs between cells. Values are formatted as
 * displayed; formulas have their last result. Hidden sheets are omitted.
 */
export function readXlsx(bytes: Uint8Array, reading: Reading): void {
  const archive = openArchive(bytes);
  if (archive.names.includes('xl/workbook.bin'))
    throw new UnreadableDocument('unsupported', 'binary workbooks are not read; save it as .xlsx');
  const workbook = workbookOf(archive);
  const strings = stringsOf(archive.xml('xl/sharedStrings.xml'));
  const formats = formatsOf(archive.xml('xl/styles.xml'));
  let left = MAX_CELLS;
  for (const { part, isHidden } of workbook.sheets.slice(0, MAX_SHEETS)) {
    if (isHidden) {
      reading.warn('HIDDEN_CONTENT', 'The workbook has hidden sheets, which were left out.');
      continue;
    }
    const xml = archive.xml(part);
    if (xml === undefined || reading.isFull()) continue;
    const sheet = new Sheet({ strings, formats, date1904: workbook.date1904, left });
    walkXml(xml, sheet);
    left = sheet.left;
    const text = sheet.lines().join('\n');
    if (text !== '') reading.page({ text, source: 'text' });
    if (left <= 0) reading.warn('TEXT_CUT', `Only the first ${MAX_CELLS} cells of the workbook were read.`);
  }
}

interface Workbook {
  readonly sheets: readonly { readonly part: string; readonly isHidden: boolean }[];
  readonly date1904: boolean;
}

function workbookOf(archive: Archive): Workbook {
  const xml = archive.xml('xl/workbook.xml');
  if (xml === undefined) throw new UnreadableDocument('damaged', 'the workbook is damaged, or is no XLSX');
  const parts = new Map<string, string>();
  walkXml(archive.xml('xl/_rels/workbook.xml.rels') ?? '<none/>', {
    open: (_name, { Id = '', Target = '' }) => parts.set(Id, Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`),
    close: () => undefined,
    text: () => undefined,
  });
  const sheets: { part: string; isHidden: boolean }[] = [];
  let date1904 = false;
  walkXml(xml, {
    open: (name, attributes) => {
      const { id = '', state = 'visible' } = attributes;
      if (name === 'sheet')
        sheets.push({
          part: parts.get(id) ?? `xl/worksheets/sheet${sheets.length + 1}.xml`,
          isHidden: state !== 'visible',
        });
      else if (name === 'workbookPr') date1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
    },
    close: () => undefined,
    text: () => undefined,
  });
  return { sheets, date1904 };
}

function stringsOf(xml: string | undefined): string[] {
  const strings: string[] = [];
  let text = '';
  let [isText, isReading] = [false, false];
  walkXml(xml ?? '<none/>', {
    open: (name) => {
      if (name === 'si') text = '';
      else if (name === 'rPh') isReading = true;
      else if (name === 't') isText = true;
    },
    close: (name) => {
      if (name === 'si') strings.push(text);
      else if (name === 'rPh') isReading = false;
      else if (name === 't') isText = false;
    },
    text: (part) => {
      // Phonetic guides are not part of the text.
      if (isText && !isReading) text += part;
    },
  });
  return strings;
}

/** Number formats by cell style: a format code, or `#` with the number of a built-in format. */
function formatsOf(xml: string | undefined): string[] {
  const codes = new Map<string, string>();
  const formats: string[] = [];
  let inCells = false;
  walkXml(xml ?? '<none/>', {
    open: (name, { numFmtId = '0', formatCode = '' }) => {
      if (name === 'numFmt') codes.set(numFmtId, formatCode);
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) formats.push(codes.get(numFmtId) ?? `#${numFmtId}`);
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false;
    },
    text: () => undefined,
  });
  return formats;
}

interface Context {
  readonly strings: readonly string[];
  readonly formats: readonly string[];
  readonly date1904: boolean;
  /** How many more cells are read. */
  readonly left: number;
}

class Sheet {
  left: number;
  private readonly rows = new Map<number, Map<number, string>>();
  private row = 0;
  private column = 0;
  private type = '';
  private style = 0;
  private value = '';
  private isValue = false;
  private isHidden = false;

  constructor(private readonly context: Context) {
    this.left = context.left;
  }

  open(name: string, { r, t, s, hidden }: Readonly<Record<string, string>>): void {
    if (name === 'row') {
      this.row = Number(r ?? this.row + 1);
      this.column = 0;
      this.isHidden = /^(?:1|true)$/.test(hidden ?? '');
    } else if (name === 'c') {
      const letters = /^[A-Z]{1,3}(?=\d)/.exec(r ?? '')?.[0];
      this.column =
        letters === undefined
          ? this.column + 1
          : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
      [this.type, this.style, this.value] = [t ?? 'n', Number(s ?? 0), ''];
    } else if (name === 'v' || name === 't') this.isValue = true;
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.isValue = false;
    else if (name === 'c') this.endCell();
  }

  text(text: string): void {
    if (this.isValue) this.value += text;
  }

  /** The rows, starting at the first used column of the sheet, so that columns align. */
  lines(): string[] {
    const first = Math.min(...this.rows.values().map((cells) => Math.min(...cells.keys())));
    const lines: string[] = [];
    let before = 0;
    for (const [row, cells] of [...this.rows].toSorted(([a], [b]) => a - b)) {
      // A larger gap between rows becomes an empty line.
      if (before > 0 && row - before > 2) lines.push('');
      const last = Math.max(...cells.keys());
      const texts = Array.from({ length: last - first + 1 }, (_, i) => cells.get(first + i) ?? '');
      const filled = texts.filter((text) => text !== '');
      lines.push(filled.length === 1 ? (filled[0] ?? '') : texts.join('\t'));
      before = row;
    }
    return lines;
  }

  private endCell(): void {
    if (this.value === '' || this.isHidden || this.column > MAX_COLUMNS || this.left <= 0) return;
    const text = this.shown()
      .replaceAll(/[\t\f\r]/g, ' ')
      .replaceAll('\n', ' ')
      .trim();
    if (text === '') return;
    this.left -= 1;
    const cells = this.rows.get(this.row) ?? new Map<number, string>();
    this.rows.set(this.row, cells.set(this.column, text));
  }

  private shown(): string {
    const { strings, formats, date1904 } = this.context;
    switch (this.type) {
      case 's':
        return strings[Number(this.value)] ?? '';
      case 'b':
        return this.value === '1' ? 'TRUE' : 'FALSE';
      case 'n':
        return shownNumber(this.value, formats[this.style] ?? '#0', { date1904 });
      default:
        return this.value;
    }
  }
}
