import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createWorker, OEM, PSM, type Worker } from 'tesseract.js';
import { erased, greyPng, rulingsIn } from './bitmap.js';
import { UnreadableDocument } from './document-text.js';
import type { Ruling } from './grids.js';
import { layOut, type Piece } from './layout.js';
import type { Reading } from './reading.js';

/** The maximum number of recognised pages per document. */
export const MAX_OCR_PAGES = 50;
/**
 * Other characters than letters and digits below this confidence (percent) are dropped as dirt. Letters and digits are
 * always kept, since a gap would be worse.
 */
const MIN_CONFIDENCE = 30;
/** A page with a lower mean confidence gets a warning. */
const DOUBTFUL = 0.7;

/** Reads an image (PNG, JPEG, WebP, BMP or a portable map) as a page. */
export async function readPicture(picture: Buffer, number: number, reading: Reading): Promise<void> {
  if (reading.ocr.left <= 0) {
    reading.warn(
      'PAGES_LEFT_OUT',
      `Only ${MAX_OCR_PAGES} pages are read from images; page ${number} and later ones were left out.`,
    );
    return;
  }
  reading.ocr.left -= 1;
  const { words, rulings } = await recognised(picture);
  const kept = words.filter(({ text, confidence }) => confidence >= MIN_CONFIDENCE || /[\p{L}\p{N}]/u.test(text));
  const weight = kept.reduce((sum, { text }) => sum + text.length, 0);
  const confidence =
    weight === 0
      ? 0
      : Math.round(kept.reduce((sum, word) => sum + word.confidence * word.text.length, 0) / weight) / 100;
  if (confidence < DOUBTFUL)
    reading.warn(
      'LOW_RECOGNITION',
      `The image of page ${number} is hard to read: compare the extracted values with it.`,
    );
  reading.page({ text: corrected(layOut(kept, rulings)), source: 'ocr', confidence });
}

/** Corrects characters confused with similar ones where only one of them makes sense. */
const corrected = (text: string): string =>
  text
    .replaceAll(/[〈《]([^〈《〉》()（）\n]{0,40}?)[)）]/g, '($1)')
    .replaceAll(/[(（]([^〈《〉》()（）\n]{0,40}?)[〉》]/g, '($1)')
    .replaceAll(/半(?=\d{1,3}(?:,\d{3})+)/g, '¥')
    .replaceAll(/(?<=[壹贰叁肆伍陆柒捌玖])[什任]/g, '仟')
    .replaceAll(/(?<=^|[\s])[”’](?=[\u4e00-\u9fff])/gm, '');

interface Word extends Piece {
  readonly confidence: number;
}

async function recognised(
  picture: Buffer,
): Promise<{ readonly words: readonly Word[]; readonly rulings: readonly Ruling[] }> {
  const engine = await (started ??= start());
  const failed = (error: unknown) => {
    throw new UnreadableDocument('damaged', 'the image cannot be read', { cause: error });
  };
  // First the page is deskewed; then table lines are erased, because they disturb the recognition.
  const { data: deskewed } = await engine
    .recognize(picture, { rotateAuto: true }, { text: false, blocks: false, imageGrey: true })
    .catch(failed);
  const page = deskewed.imageGrey ? greyPng(Buffer.from(deskewed.imageGrey.split(',')[1] ?? '', 'base64')) : undefined;
  const drawn = page ? rulingsIn(page) : [];
  const { data } = await engine
    .recognize(page ? erased(page, drawn) : picture, {}, { blocks: true, text: false })
    .catch(failed);
  // Scaled to the width of an A4 page, whatever the resolution.
  const scale = 595 / (page?.width ?? 1654);
  const words = (data.blocks ?? []).flatMap(({ paragraphs }) =>
    paragraphs.flatMap(({ lines }) =>
      lines.flatMap((line) =>
        line.words.map((word): Word => {
          // Uses the height of the line: a comma alone would look like small print.
          const { y0, y1 } = line.bbox;
          return {
            text: word.text.replace(BARS, ''),
            confidence: word.confidence,
            left: word.bbox.x0 * scale,
            right: word.bbox.x1 * scale,
            top: y0 * scale,
            bottom: y1 * scale,
          };
        }),
      ),
    ),
  );
  return {
    words,
    rulings: drawn.map(({ x1, x2, y1, y2 }) => ({ x1: x1 * scale, x2: x2 * scale, y1: y1 * scale, y2: y2 * scale })),
  };
}

/** Table lines recognised as characters. */
const BARS = /^[|｜[\]]+(?=.)|(?<=.)[|｜[\]]+$|^[|｜[\]_]+$/g;

let started: Promise<Worker> | undefined;

/**
 * Starts the engine with the languages of installed packages; nothing is downloaded or written. The library expects all
 * languages in one directory, so the second is copied into its in-memory file system.
 */
async function start(): Promise<Worker> {
  const { resolve } = createRequire(import.meta.url);
  const folder = (code: string) => dirname(resolve(`@tesseract.js-data/${code}/4.0.0_best_int/${code}.traineddata.gz`));
  const langs = ['chi_sim'];
  const engine = await createWorker(langs as never, OEM.LSTM_ONLY, {
    langPath: folder('chi_sim'),
    cacheMethod: 'none',
    errorHandler: () => undefined,
  });
  await engine.FS('writeFile', [
    'eng.traineddata',
    gunzipSync(await readFile(join(folder('eng'), 'eng.traineddata.gz'))),
  ]);
  // The library keeps this list, and now treats the second language as loaded.
  langs.push('eng');
  await engine.reinitialize(langs.join('+'), OEM.LSTM_ONLY);
  await engine.setParameters({ tessedit_pageseg_mode: PSM.AUTO, preserve_interword_spaces: '0' });
  return engine;
}
