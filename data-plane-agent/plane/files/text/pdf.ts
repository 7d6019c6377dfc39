import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import { UnreadableDocument } from './document-text.js';
import { layOut, type Piece } from './layout.js';
import { drawnOn, type Drawn } from './pdf-drawing.js';
import { pictureOf } from './pdf-picture.js';
import { readPicture } from './ocr.js';
import { pdfjs, pdfResources } from './pdfjs.js';
import { MAX_PIXELS } from './picture-size.js';
import type { Reading } from './reading.js';

/** Fits a contract with its annexes; later pages are left out with a warning. */
export const MAX_PDF_PAGES = 500;
/** A page with images and fewer text characters than this is a scan. */
const MIN_TEXT_LENGTH = 24;

/**
 * Reads a PDF page by page: its text layer, or the images of a scan. No scripts, forms or links are executed, and no
 * fonts are loaded.
 */
export async function readPdf(bytes: Uint8Array, reading: Reading): Promise<void> {
  const document = await opened(bytes);
  try {
    const pages = Math.min(document.numPages, MAX_PDF_PAGES);
    if (document.numPages > pages)
      reading.warn('PAGES_LEFT_OUT', `The document has ${document.numPages} pages; only the first ${pages} were read.`);
    for (let number = 1; number <= pages && !reading.isFull(); number++) {
      const page = await document.getPage(number);
      await readPage(page, number, reading);
      page.cleanup();
    }
  } finally {
    await document.loadingTask.destroy();
  }
}

export async function opened(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  const { getDocument, VerbosityLevel } = await pdfjs();
  try {
    return await getDocument({
      data: bytes,
      enableXfa: false,
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      isOffscreenCanvasSupported: false,
      isImageDecoderSupported: false,
      stopAtErrors: false,
      maxImageSize: MAX_PIXELS,
      verbosity: VerbosityLevel.ERRORS - 1,
      ...pdfResources(),
    }).promise;
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException')
      throw new UnreadableDocument('encrypted', 'the PDF is protected by a password', { cause: error });
    throw new UnreadableDocument('damaged', 'the PDF is damaged, or is no PDF', { cause: error });
  }
}

async function readPage(page: PDFPageProxy, number: number, reading: Reading): Promise<void> {
  let drawn: Drawn;
  let pieces: Piece[];
  try {
    pieces = await piecesOf(page);
    drawn = await drawnOn(page);
  } catch (error) {
    reading.warn('PAGE_UNREADABLE', `Page ${number} is damaged and was left out.`, error);
    reading.page({ text: '', source: 'text' });
    return;
  }
  const length = pieces.reduce((sum, { text }) => sum + text.trim().length, 0);
  if (length >= MIN_TEXT_LENGTH || drawn.pictures.length === 0) {
    // Private use and replacement characters indicate a font without a character mapping.
    const garbled = pieces.reduce((sum, { text }) => sum + (text.match(/[\ufffd\ue000-\uf8ff]/g)?.length ?? 0), 0);
    if (garbled > length * 0.3 && length > 0)
      reading.warn('PAGE_UNREADABLE', `The font of page ${number} does not tell which characters its text has.`);
    reading.page({ text: layOut(pieces, drawn.rulings), source: 'text' });
    return;
  }
  const picture = await pictureOf(page, drawn);
  if (picture) await readPicture(picture, number, reading);
  else {
    reading.warn('PAGE_UNREADABLE', `The images of page ${number} cannot be read.`);
    reading.page({ text: layOut(pieces, drawn.rulings), source: 'text' });
  }
}

async function piecesOf(page: PDFPageProxy): Promise<Piece[]> {
  const { Util } = await pdfjs();
  const { transform } = page.getViewport({ scale: 1 });
  const { items } = await page.getTextContent({ includeMarkedContent: false });
  const pieces: Piece[] = [];
  for (const item of items) {
    if (!('str' in item) || item.str.trim() === '') continue;
    const [a, b, c, d, x, y] = Util.transform(transform, item.transform) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const size = Math.hypot(c, d);
    // Rotated text is a stamp or a watermark.
    if (size === 0 || Math.abs(b) > Math.abs(a) * 0.1) continue;
    const left = Math.min(x, x + item.width * Math.sign(a));
    pieces.push({
      text: item.str.replaceAll(/[\t\n\f\r]/g, ' '),
      left,
      right: left + item.width,
      top: y - size * 0.85,
      bottom: y + size * 0.15,
    });
  }
  return pieces;
}
