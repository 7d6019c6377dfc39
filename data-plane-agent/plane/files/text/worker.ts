import { parentPort } from 'node:worker_threads';
import { UnreadableDocument, type PageText, type TextWarning, type UnreadableCode } from './document-text.js';
import { readDocx } from './docx.js';
import { readHeic } from './heic.js';
import type { Kind } from './kinds.js';
import { MAX_OCR_PAGES } from './ocr.js';
import { readPdf } from './pdf.js';
import { readPictureFile } from './picture.js';
import { readCsvText, readPlain } from './plain.js';
import { MAX_TEXT, type Reading } from './reading.js';
import { readTiff } from './tiff.js';
import { readXlsx } from './xlsx.js';

/*
 * The worker thread that reads documents. Documents are untrusted and the libraries parse them synchronously, so one
 * that exhausts memory or time ends only this thread. It has no environment, and needs no network and no files but its
 * own packages.
 */

export interface Job {
  readonly kind: Kind;
  readonly bytes: Uint8Array;
}

export type Message =
  | { readonly page: PageText }
  | { readonly warning: TextWarning }
  | { readonly failed: { readonly code: UnreadableCode; readonly message: string } }
  | { readonly done: true };

const READERS: Readonly<Record<Kind, (bytes: Uint8Array, reading: Reading) => Promise<void> | void>> = {
  pdf: readPdf,
  docx: readDocx,
  xlsx: readXlsx,
  csv: readCsvText,
  plain: readPlain,
  picture: readPictureFile,
  tiff: readTiff,
  heic: readHeic,
};

parentPort?.on('message', (job: Job) => void read(job));

async function read({ kind, bytes }: Job): Promise<void> {
  try {
    await READERS[kind](bytes, readingOf());
    post({ done: true });
  } catch (error) {
    post({
      failed:
        error instanceof UnreadableDocument
          ? { code: error.code, message: error.message }
          : { code: 'damaged', message: 'the document is damaged, or is not what its type says' },
    });
  }
}

const post = (message: Message): void => parentPort?.postMessage(message);

function readingOf(): Reading {
  let number = 0;
  let left = MAX_TEXT;
  const reported = new Set<string>();
  return {
    ocr: { left: MAX_OCR_PAGES },
    isFull: () => left <= 0,
    page: ({ text, ...rest }) => {
      number += 1;
      // Form feeds separate pages, so they are removed here; a truncated surrogate pair is replaced.
      const clean = text.replaceAll('\f', '\n').slice(0, Math.max(0, left)).toWellFormed();
      left -= text.length;
      post({ page: { number, text: clean, ...rest } });
      if (left <= 0 && !reported.has('TEXT_CUT')) {
        reported.add('TEXT_CUT');
        post({
          warning: { code: 'TEXT_CUT', message: `Only the first ${MAX_TEXT} characters of the document were read.` },
        });
      }
    },
    warn: (code, message) => {
      if (
        reported.has(code + message) ||
        reported.size >= MAX_WARNINGS ||
        (code === 'PAGES_LEFT_OUT' && reported.has(code))
      )
        return;
      reported.add(code + message).add(code);
      post({ warning: { code, message } });
    },
  };
}

const MAX_WARNINGS = 60;
