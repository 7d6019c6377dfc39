import { warn, type WarningCode } from '../../../base/warnings.js';
import type { Call } from '../../contract/call.js';
import type { Warning } from '../../contract/records/common.js';
import type { ExtractionRunRow } from '../../tables/extractions.js';
import type { FileRow } from '../../tables/files.js';
import { ObjectStoreError } from '../../files/objects/object-store.js';
import { joinedText, UnreadableDocument, type DocumentText } from '../../files/text/document-text.js';
import type { MultiStepContext } from '../operation-context.js';
import { readYielding } from '../../domain/extraction/read-yielding.js';

/**
 * A reading that has not come to an end by then was lost with its process: it is begun again. Longer than the reader's
 * own deadline.
 */
export const READING_LEASE_MS = 15 * 60_000;
/** Readings that were lost: a document with which processes end is not read for ever. */
const MOST_TRIES = 3;
/** So long a reading that cannot begin is put off, while the store is out of reach or too many wait. */
const TIMEOUT_MS = 24 * 60 * 60_000;

type Read = Pick<ExtractionRunRow, 'status' | 'overallConfidence' | 'fields' | 'missingFields' | 'warnings'>;
export const NOTHING_READ: Read = {
  status: 'processing',
  overallConfidence: 0,
  fields: [],
  missingFields: [],
  warnings: [],
};

/** Reads the document of a run that waits for it, and writes down what was read, or why nothing could be. */
export async function readDocument(work: MultiStepContext, call: Call, runId: string): Promise<void> {
  const { run, file } = await work.read(async ({ store }) => {
    const found = await store.extractions.byId(runId);
    return { run: found, file: found?.fileId ? await store.files.byId(found.fileId) : undefined };
  });
  if (run?.status !== 'processing') return;
  const read = file ? await readingOf(work, call, { run, file }) : failed('FILE_GONE', 'The file is no longer there.');
  if (!read) return work.upkeep(({ store, clock }) => store.extractions.putOffReading(run, againAt(run, clock.now())));
  await work.write(async ({ store, clock }) => {
    const before = await store.extractions.byId(runId, { forUpdate: true });
    // Another reading was quicker.
    if (before?.status !== 'processing') return;
    // What was found infected while it was read gives nothing away.
    const isInfected = before.fileId !== null && (await store.files.byId(before.fileId))?.scanStatus === 'infected';
    await store.extractions.update(
      before,
      { ...before, ...(isInfected ? INFECTED : read), readingDueAt: null, updatedAt: clock.now() },
      {},
    );
  });
}

/** Half of what it has waited already, and a minute at least, a quarter of an hour at most. */
const againAt = ({ createdAt }: ExtractionRunRow, now: number): number =>
  now + Math.min(15 * 60_000, Math.max(60_000, (now - createdAt) / 2));

/** `undefined`: not now, and worth another try. */
async function readingOf(
  { files: { objects, documents }, log, clock, signal: ended }: MultiStepContext,
  { tenantId, currencyCode }: Call,
  {
    run,
    file: { objectKey, etag, contentType, sizeBytes, scanStatus },
  }: { readonly run: ExtractionRunRow; readonly file: FileRow },
): Promise<Read | undefined> {
  if (scanStatus === 'infected') return INFECTED;
  if (sizeBytes === 0) return failed('DOCUMENT_EMPTY', 'The file is empty.');
  if (run.readingTries > MOST_TRIES)
    return failed(
      'DOCUMENT_UNREADABLE',
      `Reading the document was begun ${MOST_TRIES} times and never came to an end.`,
    );
  const signal = AbortSignal.any([AbortSignal.timeout(READING_LEASE_MS), ended]);
  try {
    if ((await objects.head(objectKey))?.etag !== etag) return failed('FILE_GONE', 'The file is no longer there.');
    const open = async (until: AbortSignal) => {
      const content = await objects.read(objectKey, { sizeBytes, signal: until });
      if (!content) throw new ObjectStoreError('unavailable', 'the object went while it was to be read');
      return content;
    };
    const document = await documents.textOf(open, { contentType, signal, reader: tenantId });
    const warnings = [
      ...document.warnings.map(({ code, message }) => warn(code, { message })),
      ...recognised(document),
    ];
    const text = joinedText(document);
    if (text.trim() === '')
      return {
        ...NOTHING_READ,
        status: 'failed',
        warnings: [warn('DOCUMENT_EMPTY', { message: 'The document has no text.' }), ...warnings],
      };
    const read = await readYielding(text, { currencyCode: run.currencyCode ?? currencyCode, pages: document.pages });
    return { ...read, warnings: [...warnings, ...read.warnings] };
  } catch (error) {
    const canPass =
      error instanceof ObjectStoreError ||
      signal.aborted ||
      ended.aborted ||
      (error instanceof UnreadableDocument && (error.code === 'busy' || error.code === 'closed'));
    if (canPass && clock.now() - run.createdAt < TIMEOUT_MS) return undefined;
    if (error instanceof ObjectStoreError)
      return failed('OBJECT_STORE_UNAVAILABLE', 'The file could not be had from the object store for a day.');
    if (error instanceof UnreadableDocument) return failed(UNREADABLE[error.code], sentence(error.message));
    log.error({ err: error, runId: run.id }, 'document not read');
    return failed('DOCUMENT_UNREADABLE', 'The document could not be read.');
  }
}

/** What stands on pictures may be misread, however sure a field is of its words. */
function recognised({ pages }: DocumentText): Warning[] {
  const numbers = pages.filter(({ source }) => source === 'ocr').map(({ number }) => number);
  if (numbers.length === 0) return [];
  return [
    warn('RECOGNISED', {
      message: `Read from pictures, by character recognition: ${numbers.length === 1 ? `page ${numbers[0]}` : `pages ${numbers.join(', ')}`}.`,
    }),
  ];
}

const sentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

const failed = (code: WarningCode, message: string): Read => ({
  ...NOTHING_READ,
  status: 'failed',
  warnings: [warn(code, { message })],
});

const UNREADABLE: Readonly<Record<UnreadableDocument['code'], WarningCode>> = {
  unsupported: 'DOCUMENT_UNSUPPORTED',
  encrypted: 'DOCUMENT_ENCRYPTED',
  damaged: 'DOCUMENT_DAMAGED',
  too_large: 'DOCUMENT_TOO_LARGE',
  too_slow: 'DOCUMENT_TOO_SLOW',
  busy: 'DOCUMENT_BUSY',
  closed: 'DOCUMENT_CLOSED',
};

const INFECTED = failed('FILE_INFECTED', 'Malware was found in the file.');
