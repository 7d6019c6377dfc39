import { openArchive, walkXml, type Archive } from './archive.js';
import { UnreadableDocument } from './document-text.js';
import { Numbering } from './docx-numbering.js';
import type { Reading } from './reading.js';

/**
 * Reads a DOCX: paragraphs become lines with their list numbers, table rows become lines with tabs between cells,
 * headers come first and notes last. Tracked deletions and hidden text are omitted; tracked insertions are included.
 * Only explicit page breaks end a page.
 */
export function readDocx(bytes: Uint8Array, reading: Reading): void {
  const archive = openArchive(bytes);
  const main = mainPart(archive);
  const xml = archive.xml(main);
  if (xml === undefined) throw new UnreadableDocument('damaged', 'the document is damaged, or is no DOCX');
  const numbering = new Numbering(archive.xml(beside(main, 'numbering.xml')), archive.xml(beside(main, 'styles.xml')));
  const parts = (kind: string) =>
    archive.names
      .filter((name) => new RegExp(`^${beside(main, kind)}\\d*\\.xml$`).test(name))
      .toSorted()
      .slice(0, 20);
  const body = new Body(numbering, reading);
  // The contract number is often in the header.
  const seen = new Set<string>();
  for (const name of parts('header')) {
    const text = textOf(archive.xml(name) ?? '', numbering, reading);
    if (text !== '' && !seen.has(text)) body.line(text);
    seen.add(text);
  }
  walkXml(xml, body);
  for (const name of [...parts('footnotes'), ...parts('endnotes')]) {
    const text = textOf(archive.xml(name) ?? '', numbering, reading);
    if (text !== '') body.line(text);
  }
  body.endPage();
  if (body.hasHidden) reading.warn('HIDDEN_CONTENT', 'The document contains hidden text, which was left out.');
}

const beside = (main: string, name: string): string => main.slice(0, main.lastIndexOf('/') + 1) + name;

function mainPart(archive: Archive): string {
  let target = 'word/document.xml';
  const relations = archive.xml('_rels/.rels');
  if (relations !== undefined) {
    walkXml(relations, {
      open: (_name, { Type = '', Target = '' }) => {
        if (Type.endsWith('/officeDocument') && Target !== '') target = Target.replace(/^\//, '');
      },
      close: () => undefined,
      text: () => undefined,
    });
  }
  return target;
}

function textOf(xml: string, numbering: Numbering, reading: Reading): string {
  const lines: string[] = [];
  const body = new Body(numbering, { ...reading, page: ({ text }) => lines.push(text) });
  walkXml(xml, body);
  body.endPage();
  return lines.join('\n').trim();
}

interface OpenTable {
  cells: string[];
  cell: string[];
}

/** Collects the lines of one document from its XML elements. */
class Body {
  hasHidden = false;
  private lines: string[] = [];
  private length = 0;
  private paragraph = '';
  private readonly tables: OpenTable[] = [];
  private path: string[] = [];
  private skipFrom = Infinity;
  private style: string | undefined;
  private list: { id: string | undefined; level: number } = { id: undefined, level: 0 };
  private inRun = false;
  private isHidden = false;
  private isText = false;

  constructor(
    private readonly numbering: Numbering,
    private readonly reading: Reading,
  ) {}

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.path.push(name);
    if (this.path.length >= this.skipFrom) return;
    const { val } = attributes;
    switch (name) {
      // Deleted text, field codes, and fallbacks of drawings for old programs.
      case 'del':
      case 'moveFrom':
      case 'instrText':
      case 'delText':
      case 'Fallback':
      case 'rPrChange':
      case 'pPrChange':
        this.skipFrom = this.path.length;
        break;
      case 'p':
        // Paragraphs of a text box are nested in another paragraph.
        this.endParagraph();
        this.style = undefined;
        this.list = { id: undefined, level: 0 };
        break;
      case 'pStyle':
        this.style = val;
        break;
      case 'ilvl':
        this.list.level = Number(val ?? 0);
        break;
      case 'numId':
        this.list.id = val;
        break;
      case 'r':
        this.inRun = true;
        this.isHidden = false;
        break;
      case 'vanish':
        if (this.inRun && val !== '0' && val !== 'false') this.isHidden = this.hasHidden = true;
        break;
      case 't':
        this.isText = true;
        break;
      case 'tab':
      case 'ptab':
        // Outside runs the same element declares tab stops.
        if (this.inRun) this.paragraph += '    ';
        break;
      case 'br':
        if (attributes['type'] === 'page') {
          this.endParagraph();
          if (this.tables.length === 0) this.endPage();
        } else this.paragraph += '\n';
        break;
      case 'cr':
        this.paragraph += '\n';
        break;
      case 'noBreakHyphen':
        this.paragraph += '-';
        break;
      case 'sym':
        // Check boxes are drawn with characters of symbol fonts.
        this.paragraph += /^f0(?:fe|fd|52|54|53)$/i.test(attributes['char'] ?? '')
          ? '☑'
          : /^f0a8|f06f$/i.test(attributes['char'] ?? '')
            ? '☐'
            : '';
        break;
      case 'tbl':
        this.endParagraph();
        this.tables.push({ cells: [], cell: [] });
        break;
      default:
    }
  }

  close(name: string): void {
    const isSkipped = this.path.length >= this.skipFrom;
    if (this.path.length === this.skipFrom) this.skipFrom = Infinity;
    this.path.pop();
    if (isSkipped) return;
    const table = this.tables.at(-1);
    if (name === 't') this.isText = false;
    else if (name === 'r') this.inRun = this.isHidden = false;
    else if (name === 'p') this.endParagraph();
    else if (name === 'tc' && table) {
      table.cells.push(cellText(table.cell));
      table.cell = [];
    } else if (name === 'tr' && table) {
      const row = table.cells;
      table.cells = [];
      if (row.some((cell) => cell !== '')) this.row(row);
    } else if (name === 'tbl') this.tables.pop();
  }

  text(text: string): void {
    if (this.isText && !this.isHidden && this.path.length < this.skipFrom) this.paragraph += text;
  }

  line(text: string): void {
    if (this.reading.isFull()) return;
    this.lines.push(text);
    this.length += text.length + 1;
  }

  endPage(): void {
    this.endParagraph();
    const text = this.lines.join('\n');
    if (text.trim() !== '') this.reading.page({ text, source: 'text' });
    this.lines = [];
    this.length = 0;
  }

  /** A row of a nested table becomes a line of the outer cell. */
  private row(cells: readonly string[]): void {
    const outer = this.tables.at(-2);
    if (outer) outer.cell.push(cells.join('    '));
    // A single cell is a frame: its lines are kept.
    else this.line(cells.length === 1 ? (cells[0] ?? '') : cells.map((cell) => cell.replaceAll('\n', ' ')).join('\t'));
  }

  private endParagraph(): void {
    const text = this.paragraph.replaceAll(/[\t\f\r]/g, ' ').trimEnd();
    this.paragraph = '';
    if (text.trim() === '') return;
    const numbered = this.numbering.mark(this.style, this.list) + text;
    const table = this.tables.at(-1);
    if (table) table.cell.push(numbered.trim());
    else this.line(numbered);
    this.list = { id: '0', level: 0 };
  }
}

const cellText = (lines: readonly string[]): string => lines.join('\n').trim();
