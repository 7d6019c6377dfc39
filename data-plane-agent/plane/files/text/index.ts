import type { Readable } from 'node:stream';
import { createFairQueue } from '../../../base/fair-queue.js';
import { unlessAborted } from '../../../base/unless-aborted.js';
import { UnreadableDocument, type DocumentReader, type DocumentText, type TextRequest } from './document-text.js';
import { kindOf, type Kind } from './kinds.js';
import { ReadingThread } from './thread.js';

export {
  joinedText,
  UnreadableDocument,
  type DocumentReader,
  type DocumentText,
  type PageText,
  type TextRequest,
  type TextWarning,
  type UnreadableCode,
} from './document-text.js';
export { READABLE_TYPES } from './kinds.js';

export interface ReaderOptions {
  /** The memory of the whole process in bytes (`process.memoryUsage.rss`), to abort documents that use too much. */
  readonly residentBytes: () => number;
  /** The timeout of one document, without its wait in the queue: 120 000 ms. */
  readonly deadlineMs?: number;
  /** The thread is stopped after this time without a document: 60 000 ms. */
  readonly idleMs?: number;
  /** The maximum size of one document: 50 MB. */
  readonly maxBytes?: number;
  /** The maximum number of waiting documents: 50. */
  readonly maxWaiting?: number;
  /** The maximum memory growth of the process while one is read: 1 GB. */
  readonly maxGrowth?: number;
}

const MB = 1024 * 1024;

/** Creates a reader of documents in a separate thread. Use one per process. */
export function documentReader({
  residentBytes,
  deadlineMs = 120_000,
  idleMs = 60_000,
  maxBytes = 50 * MB,
  maxWaiting = 50,
  maxGrowth = 1024 * MB,
}: ReaderOptions): DocumentReader {
  const take = createFairQueue();
  const thread = new ReadingThread({ deadlineMs, idleMs, maxGrowth, residentBytes });
  const closing = new AbortController();
  let waiting = 0;

  const read = async (content: Content, kind: Kind, own: AbortSignal): Promise<DocumentText> => {
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new UnreadableDocument('too_slow', 'the document takes too long to read')),
      deadlineMs,
    );
    const signal = AbortSignal.any([own, late.signal]);
    try {
      signal.throwIfAborted();
      return await thread.read({ kind, bytes: await bytesOf(content, maxBytes, signal) }, signal);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    textOf: async (content, { contentType, signal: own, reader = '' }: TextRequest) => {
      const signal = AbortSignal.any([own, closing.signal]);
      try {
        const kind = kindOf(contentType);
        if (!kind) throw new UnreadableDocument('unsupported', 'documents of this type are not supported');
        signal.throwIfAborted();
        if (waiting >= maxWaiting)
          throw new UnreadableDocument('busy', 'too many documents are waiting to be read; try again later');
        waiting += 1;
        const queued = take(reader, () => read(content, kind, signal)).finally(() => {
          waiting -= 1;
        });
        return await unlessAborted(signal, queued); // the queued read of an aborted call ends early
      } finally {
        if (typeof content !== 'function') content.destroy();
      }
    },
    close: async () => {
      closing.abort(new UnreadableDocument('closed', 'the document reader was closed'));
      await thread.end();
    },
  };
}

type Content = Readable | ((signal: AbortSignal) => Promise<Readable>);

async function bytesOf(content: Content, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  const stream = typeof content === 'function' ? await content(signal) : content;
  const stop = () => stream.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes)
        throw new UnreadableDocument('too_large', `documents larger than ${Math.floor(maxBytes / MB)} MB are not read`);
      parts.push(part);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stream.destroy();
  }
  // A separate buffer, which can be transferred to the thread.
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
