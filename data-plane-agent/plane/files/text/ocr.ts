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

/** Recognised pages of one document: a scan of that many is a book. */
export const MAX_OCR_PAGES = 50;
/**
 * Signs that are less sure than this, in hundredths, are dirt on the page; letters, digits and characters are kept in
 * any case: a gap would be worse.
 */
const LEAST_SURE = 30;
/** A page that is less sure than this in the mean is told. */
const DOUBTFUL = 0.7;

/** Reads a picture (PNG, JPEG, WebP, BMP or a portable map) as a page. */
export async function readPicture(picture: Buffer, number: number, reading: Reading): Promise<void> {
  if (reading.ocr.left <= 0) {
    reading.warn(
      'PAGES_LEFT_OUT',
      `Only ${MAX_OCR_PAGES} pages are read from pictures; page ${number} and later ones were left out.`,
    );
    return;
  }
  reading.ocr.left -= 1;
  const { words, rulings } = await recognised(picture);
  const sure = words.filter(({ text, confidence }) => confidence >= LEAST_SURE || /[\p{L}\p{N}]/u.test(text));
  const weight = sure.reduce((sum, { text }) => sum + text.length, 0);
  const confidence =
    weight === 0
      ? 0
      : Math.round(sure.reduce((sum, word) => sum + word.confidence * word.text.length, 0) / weight) / 100;
  if (confidence < DOUBTFUL)
    reading.warn('LOW_RECOGNITION', `The picture of page ${number} is hard to read: hold what was read against it.`);
  reading.page({ text: mended(layOut(sure, rulings)), source: 'ocr', confidence });
}

/** Signs that are taken for others of their shape, where only one of the two makes sense. */
const mended = (text: string): string =>
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
    throw new UnreadableDocument('damaged', 'the picture cannot be read', { cause: error });
  };
  // First the page is set straight; then the lines of its tables are taken out, which character recognition stumbles
  // over.
  const { data: straight } = await engine
    .recognize(picture, { rotateAuto: true }, { text: false, blocks: false, imageGrey: true })
    .catch(failed);
  const page = straight.imageGrey ? greyPng(Buffer.from(straight.imageGrey.split(',')[1] ?? '', 'base64')) : undefined;
  const drawn = page ? rulingsIn(page) : [];
  const { data } = await engine
    .recognize(page ? erased(page, drawn) : picture, {}, { blocks: true, text: false })
    .catch(failed);
  // Laid out as on a page of A4, whatever its resolution.
  const scale = 595 / (page?.width ?? 1654);
  const words = (data.blocks ?? []).flatMap(({ paragraphs }) =>
    paragraphs.flatMap(({ lines }) =>
      lines.flatMap((line) =>
        line.words.map((word): Word => {
          // A word is as high as its line: a comma is no line of small print.
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

/** The lines of a table, taken for signs. */
const BARS = /^[|｜[\]]+(?=.)|(?<=.)[|｜[\]]+$|^[|｜[\]_]+$/g;

let started: Promise<Worker> | undefined;

/**
 * The engine and the languages come out of the installed packages: nothing is fetched, and nothing is written. The
 * library takes its languages out of one folder, and they lie in two: the second is laid beside the first in the
 * engine's own memory.
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
  // The library keeps this list, and so takes the second for loaded.
  langs.push('eng');
  await engine.reinitialize(langs.join('+'), OEM.LSTM_ONLY);
  await engine.setParameters({ tessedit_pageseg_mode: PSM.AUTO, preserve_interword_spaces: '0' });
  return engine;
}
