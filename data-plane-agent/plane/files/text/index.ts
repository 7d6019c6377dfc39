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
  /**
   * What the whole process holds of memory, in bytes (`process.memoryUsage.rss`): a document that blows it up is given
   * up on.
   */
  readonly residentBytes: () => number;
  /** For one document, from its turn on: 120 000 ms. */
  readonly deadlineMs?: number;
  /** The thread is ended after so long without a document: 60 000 ms. */
  readonly idleMs?: number;
  /** Bytes of one document: 50 MB. */
  readonly maxBytes?: number;
  /** Documents that wait: 50. */
  readonly maxWaiting?: number;
  /** What reading one may add to the memory of the process: 1 GB. */
  readonly maxGrowth?: number;
}

const MB = 1024 * 1024;

/** What reads the text of documents, in a thread of its own. One for a process. */
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
        if (!kind) throw new UnreadableDocument('unsupported', 'documents of this kind are not read');
        signal.throwIfAborted();
        if (waiting >= maxWaiting)
          throw new UnreadableDocument('busy', 'too many documents wait to be read; try again later');
        waiting += 1;
        const turn = take(reader, () => read(content, kind, signal)).finally(() => {
          waiting -= 1;
        });
        return await unlessAborted(signal, turn); // the turn of who gives up passes by itself
      } finally {
        if (typeof content !== 'function') content.destroy();
      }
    },
    close: async () => {
      closing.abort(new UnreadableDocument('closed', 'documents are no longer read'));
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
        throw new UnreadableDocument(
          'too_large',
          `documents of more than ${Math.floor(maxBytes / MB)} MB are not read`,
        );
      parts.push(part);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stream.destroy();
  }
  // A buffer of its own, which can be given away.
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
