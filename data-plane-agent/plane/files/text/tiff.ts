import { UnreadableDocument } from './document-text.js';
import { MAX_OCR_PAGES } from './ocr.js';
import { readPdf } from './pdf.js';
import type { Reading } from './reading.js';
import { directoriesOf } from './tiff-directories.js';
import { isPage, pageOf, type TiffPage } from './tiff-page.js';
import { pdfOfPages } from './tiff-pdf.js';

/**
 * Reads a TIFF page by page. PDF supports the compression methods of TIFF documents, so the pages are wrapped in a PDF
 * unchanged and read as a scan: one library does the unpacking, one page at a time.
 */
export async function readTiff(bytes: Uint8Array, reading: Reading): Promise<void> {
  const pages = pagesOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const [firstError] = pages.filter((page) => page instanceof UnreadableDocument);
  if (firstError && pages.every((page) => page instanceof UnreadableDocument)) throw firstError;
  for (const [i, page] of pages.entries())
    if (page instanceof UnreadableDocument)
      reading.warn('PAGE_UNREADABLE', `Page ${i + 1} was left out: ${page.message}.`);
  await readPdf(pdfOfPages(pages.map((page) => (page instanceof UnreadableDocument ? undefined : page))), reading);
}

/**
 * Its pages in order, up to one more than is recognised, so that the limit is reported. Pages in an unsupported format
 * are errors.
 */
export function pagesOf(file: Buffer): (TiffPage | UnreadableDocument)[] {
  const pages: (TiffPage | UnreadableDocument)[] = [];
  try {
    for (const directory of directoriesOf(file)) {
      if (!isPage(directory)) continue;
      pages.push(readable(() => pageOf(directory, file)));
      if (pages.length > MAX_OCR_PAGES) break;
    }
  } catch (error) {
    throw error instanceof UnreadableDocument
      ? error
      : new UnreadableDocument('damaged', 'the TIFF is damaged, or is no TIFF', { cause: error });
  }
  if (pages.length === 0) throw new UnreadableDocument('damaged', 'the TIFF has no page');
  // No program writes pages that share data, and each would be copied.
  if (pages.reduce((sum, page) => sum + (page instanceof UnreadableDocument ? 0 : page.bytes), 0) > file.length)
    throw new UnreadableDocument('damaged', 'the pages of the TIFF overlap in the file');
  return pages;
}

function readable(page: () => TiffPage): TiffPage | UnreadableDocument {
  try {
    return page();
  } catch (error) {
    if (error instanceof UnreadableDocument && error.code === 'unsupported') return error;
    throw error;
  }
}
