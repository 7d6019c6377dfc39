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
 * A reading that has not finished by then was lost with its process and is started again. Longer than the reader's
 * timeout.
 */
export const READING_LEASE_MS = 15 * 60_000;
/** Limits how often a reading is started, since a document may crash the process that reads it. */
const MOST_TRIES = 3;
/** How long a reading is retried while the store is unavailable or the reader is busy. */
const TIMEOUT_MS = 24 * 60 * 60_000;

type Read = Pick<ExtractionRunRow, 'status' | 'overallConfidence' | 'fields' | 'missingFields' | 'warnings'>;
export const NOTHING_READ: Read = {
  status: 'processing',
  overallConfidence: 0,
  fields: [],
  missingFields: [],
  warnings: [],
};

/** Reads the document of a run in status `processing`, and stores what was read or why it could not be read. */
export async function readDocument(work: MultiStepContext, call: Call, runId: string): Promise<void> {
  const { run, file } = await work.read(async ({ store }) => {
    const found = await store.extractions.byId(runId);
    return { run: found, file: found?.fileId ? await store.files.byId(found.fileId) : undefined };
  });
  if (run?.status !== 'processing') return;
  const read = file ? await readingOf(work, call, { run, file }) : failed('FILE_GONE', 'The file no longer exists.');
  if (!read) return work.upkeep(({ store, clock }) => store.extractions.putOffReading(run, retryAt(run, clock.now())));
  await work.write(async ({ store, clock }) => {
    const before = await store.extractions.byId(runId, { forUpdate: true });
    // A concurrent reading finished first.
    if (before?.status !== 'processing') return;
    // Nothing is disclosed of a file that was found infected while it was read.
    const isInfected = before.fileId !== null && (await store.files.byId(before.fileId))?.scanStatus === 'infected';
    await store.extractions.update(
      before,
      { ...before, ...(isInfected ? INFECTED : read), readingDueAt: null, updatedAt: clock.now() },
      {},
    );
  });
}

/** Waits half of the run's age again, between one and 15 minutes. */
const retryAt = ({ createdAt }: ExtractionRunRow, now: number): number =>
  now + Math.min(15 * 60_000, Math.max(60_000, (now - createdAt) / 2));

/** `undefined` when the reading is to be retried later. */
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
    return failed('DOCUMENT_UNREADABLE', `Reading the document was started ${MOST_TRIES} times and never finished.`);
  const signal = AbortSignal.any([AbortSignal.timeout(READING_LEASE_MS), ended]);
  try {
    if ((await objects.head(objectKey))?.etag !== etag) return failed('FILE_GONE', 'The file no longer exists.');
    const open = async (until: AbortSignal) => {
      const content = await objects.read(objectKey, { sizeBytes, signal: until });
      if (!content) throw new ObjectStoreError('unavailable', 'the object was deleted while it was read');
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
    const isTransient =
      error instanceof ObjectStoreError ||
      signal.aborted ||
      ended.aborted ||
      (error instanceof UnreadableDocument && (error.code === 'busy' || error.code === 'closed'));
    if (isTransient && clock.now() - run.createdAt < TIMEOUT_MS) return undefined;
    if (error instanceof ObjectStoreError)
      return failed('OBJECT_STORE_UNAVAILABLE', 'The file could not be read from the object store for a day.');
    if (error instanceof UnreadableDocument) return failed(UNREADABLE[error.code], sentence(error.message));
    log.error({ err: error, runId: run.id }, 'document not read');
    return failed('DOCUMENT_UNREADABLE', 'The document could not be read.');
  }
}

/** Character recognition makes errors, whatever the confidence of the fields. */
function recognised({ pages }: DocumentText): Warning[] {
  const numbers = pages.filter(({ source }) => source === 'ocr').map(({ number }) => number);
  if (numbers.length === 0) return [];
  return [
    warn('RECOGNISED', {
      message: `Read from images by character recognition: ${numbers.length === 1 ? `page ${numbers[0]}` : `pages ${numbers.join(', ')}`}.`,
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
