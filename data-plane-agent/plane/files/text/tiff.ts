import { UnreadableDocument } from './document-text.js';
import { MAX_OCR_PAGES } from './ocr.js';
import { readPdf } from './pdf.js';
import type { Reading } from './reading.js';
import { directoriesOf } from './tiff-directories.js';
import { isPage, pageOf, type TiffPage } from './tiff-page.js';
import { boundAsPdf } from './tiff-pdf.js';

/**
 * Reads a TIFF page by page. PDF knows each way of packing pictures that TIFFs of documents have, so its pages are
 * bound as a PDF of pictures, as they are, and read as any scan: what unpacks them is one library, and one page at a
 * time is unpacked.
 */
export async function readTiff(bytes: Uint8Array, reading: Reading): Promise<void> {
  const pages = pagesOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const [unread] = pages.filter((page) => page instanceof UnreadableDocument);
  if (unread && pages.every((page) => page instanceof UnreadableDocument)) throw unread;
  for (const [i, page] of pages.entries())
    if (page instanceof UnreadableDocument)
      reading.warn('PAGE_UNREADABLE', `Page ${i + 1} was left out: ${page.message}.`);
  await readPdf(boundAsPdf(pages.map((page) => (page instanceof UnreadableDocument ? undefined : page))), reading);
}

/**
 * Its pages in their order, and one more than are recognised, so that the rest is told; for one whose kind is not read,
 * why it is not.
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
      : new UnreadableDocument('damaged', 'the TIFF is damaged, or is none', { cause: error });
  }
  if (pages.length === 0) throw new UnreadableDocument('damaged', 'the TIFF has no page');
  // Pages that share their bytes with others are of no program's making, and would be copied for each.
  if (pages.reduce((sum, page) => sum + (page instanceof UnreadableDocument ? 0 : page.bytes), 0) > file.length)
    throw new UnreadableDocument('damaged', 'the pages of the TIFF lie over each other');
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
