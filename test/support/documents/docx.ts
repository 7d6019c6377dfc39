import { strToU8, zipSync } from 'fflate';
import { acrossOf, textOfCell, type Block, type Page } from './blocks.js';

const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

/** A DOCX like that of a word processor: text split into runs, tables with cells that span several columns. */
export function docxOf(
  { blocks }: Page,
  { header, body }: { readonly header?: string; readonly body?: string } = {},
): Buffer {
  return docxParts({
    'word/document.xml': `${HEAD}<w:document xmlns:w="${W}"><w:body>${blocks.map(blockXml).join('')}${body ?? ''}<w:sectPr/></w:body></w:document>`,
    ...(header === undefined
      ? {}
      : { 'word/header1.xml': `${HEAD}<w:hdr xmlns:w="${W}">${paragraphXml(header)}</w:hdr>` }),
  });
}

export function docxParts(parts: Readonly<Record<string, string>>): Buffer {
  const all = {
    '[Content_Types].xml': `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    '_rels/.rels': `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    ...parts,
  };
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(all).map(([name, xml]) => [name, strToU8(xml)]))));
}

function blockXml(block: Block): string {
  switch (block.kind) {
    case 'title':
    case 'heading':
    case 'paragraph':
      return paragraphXml(block.text);
    case 'break':
      return '<w:p><w:r><w:br w:type="page"/></w:r></w:p>';
    case 'table':
      return `<w:tbl>${block.rows.map((row) => `<w:tr>${row.map((cell) => `<w:tc><w:tcPr>${acrossOf(cell) > 1 ? `<w:gridSpan w:val="${acrossOf(cell)}"/>` : ''}</w:tcPr>${textOfCell(cell).split('\n').map(paragraphXml).join('')}</w:tc>`).join('')}</w:tr>`).join('')}</w:tbl>`;
  }
}

/** Split in the middle, as after revisions and spell checking. */
function paragraphXml(text: string): string {
  const middle = Math.floor(text.length / 2);
  return `<w:p>${[text.slice(0, middle), text.slice(middle)].map((part) => `<w:r><w:t xml:space="preserve">${escaped(part)}</w:t></w:r>`).join('<w:proofErr w:type="spellStart"/>')}</w:p>`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
