import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { attachmentDisposition } from '../../../base/content-disposition.js';
import { unlessAborted } from '../../../base/unless-aborted.js';
import type { FileLinks, Permit } from './file-system-links.js';
import type { FileSystemStore } from './file-system-store.js';
import { ObjectStoreError, WrongLengthError } from './object-store.js';

/** Why a request was refused; the caller formats it as its own kind of error. */
export interface FileRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Serves the signed URLs of a file-system store. Everything but a valid signed PUT or GET is refused alike, so that
 * nothing about stored objects is disclosed.
 */
export interface FileUrls {
  /** The path prefix of all URLs. */
  readonly path: string;
  /**
   * Responds, or returns the refusal without having written anything. `onUpload` receives the maximum duration of an
   * upload that starts, in milliseconds.
   */
  serve(
    request: IncomingMessage,
    answer: ServerResponse,
    hooks?: { readonly onUpload?: (ms: number) => void },
  ): Promise<FileRefusal | undefined>;
}

export function createFileUrls({
  store,
  links,
  idleMs = 30_000,
}: {
  readonly store: FileSystemStore;
  readonly links: FileLinks;
  /** A client idle for this long is disconnected. */ readonly idleMs?: number;
}): FileUrls {
  const uploads = new Map<string, number>();
  return {
    path: links.path,
    serve: async (request, answer, { onUpload } = {}) => {
      const permit = links.permitOf(request.method ?? '', request.url ?? '');
      if (!permit) return { status: 403, message: 'The link is not valid or has expired' };
      try {
        if (permit.method === 'GET') return await send(permit, { request, answer, service: { store, idleMs } });
        const refusal = refusalOf(permit, request);
        if (refusal) return refusal;
        const active = uploads.get(permit.key) ?? 0;
        if (active >= MAX_CONCURRENT)
          return {
            status: 503,
            message: 'Too many uploads with this link are in progress',
            headers: { 'Retry-After': '5' },
          };
        uploads.set(permit.key, active + 1);
        try {
          const longestMs = MINIMUM_MS + permit.sizeBytes / SLOWEST_BYTES_PER_MS;
          onUpload?.(longestMs);
          return await take(permit, { request, answer, service: { store, idleMs, longestMs } });
        } finally {
          const left = (uploads.get(permit.key) ?? 1) - 1;
          if (left > 0) uploads.set(permit.key, left);
          else uploads.delete(permit.key);
        }
      } catch (error) {
        if (error instanceof ObjectStoreError)
          return { status: 503, message: 'The files are unavailable', headers: { 'Retry-After': '5' } };
        throw error;
      }
    },
  };
}

/**
 * Concurrent uploads with one link, since each uses disk space until it ends. A client that retries while its broken
 * connection is still open needs a second one.
 */
const MAX_CONCURRENT = 2;
/** Slower uploads are treated as an attempt to keep connections busy. */
const SLOWEST_BYTES_PER_MS = 16;
const MINIMUM_MS = 60_000;

type Upload = Permit & { readonly method: 'PUT' };
type Download = Permit & { readonly method: 'GET' };

/** Checks the headers before any content is read. */
function refusalOf({ contentType, sizeBytes }: Upload, { headers }: IncomingMessage): FileRefusal | undefined {
  const announced = headers['content-length'];
  if (announced === undefined) return { status: 411, message: `The upload must have a Content-Length of ${sizeBytes}` };
  if (Number(announced) > sizeBytes) return { status: 413, message: `The upload must have exactly ${sizeBytes} bytes` };
  if (Number(announced) !== sizeBytes)
    return { status: 400, message: `The upload must have exactly ${sizeBytes} bytes` };
  if (headers['content-encoding'] !== undefined)
    return { status: 415, message: 'The upload must not have a Content-Encoding' };
  if (headers['content-type'] !== contentType)
    return { status: 415, message: `The upload must have the Content-Type ${contentType}` };
  return undefined;
}

interface Service {
  readonly store: FileSystemStore;
  readonly idleMs: number;
}

async function take(
  { key, contentType, sizeBytes }: Upload,
  {
    request,
    answer,
    service: { store, idleMs, longestMs },
  }: {
    readonly request: IncomingMessage;
    readonly answer: ServerResponse;
    readonly service: Service & { readonly longestMs: number };
  },
): Promise<FileRefusal | undefined> {
  // A client that sent `Expect: 100-continue` has waited until here.
  if (request.headers.expect !== undefined) answer.writeContinue();
  const timeouts = createTimeouts({ idleMs, longestMs });
  try {
    const stored = await store.write(key, Readable.from(timeouts.watch(request), { objectMode: false }), {
      sizeBytes,
      contentType,
    });
    answer.writeHead(200, { ETag: `"${stored.etag}"`, 'Content-Length': '0', 'Cache-Control': 'no-store' }).end();
    return undefined;
  } catch (error) {
    if (timeouts.isExpired())
      return { status: 408, message: 'The upload was too slow', headers: { Connection: 'close' } };
    if (error instanceof WrongLengthError)
      return {
        status: error.found === 'longer' ? 413 : 400,
        message: `The upload must have exactly ${sizeBytes} bytes`,
      };
    throw error;
  } finally {
    timeouts.end();
  }
}

/** Ends a slow request body without closing the connection, so that the response can still be sent. */
function createTimeouts({ idleMs, longestMs }: { idleMs: number; longestMs: number }): {
  watch(request: IncomingMessage): AsyncIterable<Buffer>;
  isExpired(): boolean;
  end(): void;
} {
  const over = new AbortController();
  const longest = setTimeout(() => over.abort(), longestMs);
  const idle = setTimeout(() => over.abort(), idleMs);
  return {
    watch: async function* (request) {
      const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
      for (;;) {
        const next = await unlessAborted(over.signal, chunks.next());
        if (next.done === true) return;
        idle.refresh();
        yield next.value;
      }
    },
    isExpired: () => over.signal.aborted,
    end: () => {
      clearTimeout(longest);
      clearTimeout(idle);
    },
  };
}

async function send(
  { key, contentType, fileName }: Download,
  {
    request,
    answer,
    service: { store, idleMs },
  }: { readonly request: IncomingMessage; readonly answer: ServerResponse; readonly service: Service },
): Promise<FileRefusal | undefined> {
  const object = await store.open(key);
  if (!object) return { status: 404, message: 'Not Found' };
  try {
    const { sizeBytes } = object;
    const range = rangeOf(request.headers.range, sizeBytes);
    if (range === 'beyond')
      return {
        status: 416,
        message: 'The file has no such range',
        headers: { 'Content-Range': `bytes */${sizeBytes}` },
      };
    answer.writeHead(range ? 206 : 200, {
      'Content-Type': contentType,
      'Content-Length': String(range ? range.end - range.start + 1 : sizeBytes),
      ...(range ? { 'Content-Range': `bytes ${range.start}-${range.end}/${sizeBytes}` } : {}),
      'Accept-Ranges': 'bytes',
      'Content-Disposition': attachmentDisposition(fileName),
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cache-Control': 'private, no-store',
    });
    if (request.method === 'HEAD') answer.end();
    else {
      answer.setTimeout(idleMs, () => answer.destroy());
      await pipeline(object.read(range), answer);
    }
  } catch (error) {
    // The response has started, so the connection is closed before the declared length.
    if (!answer.headersSent) throw error;
    answer.destroy();
  } finally {
    await object.close();
  }
  return undefined;
}

/** One byte range. Several ranges or an invalid header select the whole file, as HTTP allows. */
function rangeOf(
  header: string | undefined,
  sizeBytes: number,
): { readonly start: number; readonly end: number } | 'beyond' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (first !== '' && last !== '' && Number(last) < start) return undefined;
  return start <= end ? { start, end } : 'beyond';
}
