import type { IncomingMessage } from 'node:http';
import { addAbortSignal, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Client, S3Error, type BucketItem } from 'minio';
import { attachmentDisposition } from '../../base/content-disposition.js';
import type { Clock } from '../../base/clock.js';
import { PATIENCE_MS, patienceFor, within } from './deadline.js';
import type { S3Address } from './object-store-address.js';
import { ObjectStoreError, WrongLengthError, type ListedObject, type ObjectStore, type StoredObject } from './object-store.js';
import { probeS3 } from './s3-probe.js';
import { createS3Signer } from './s3-signature.js';
import { createS3Transport, type Ask, type S3Transport } from './s3-transport.js';

/**
 * Objects in a bucket of an S3 server. The `minio` client asks and copies; it cannot sign the length of an upload, and holds what it puts
 * in memory: so URLs, and our own uploads with them, are signed by ourselves. Each object is one PUT (5 GiB at most): no parts stay behind.
 */
export function createS3Store({ address, publicOrigin, clock, patienceMs = PATIENCE_MS }: {
  readonly address: S3Address;
  /** Where clients reach the same server, when not under the address that we use. */
  readonly publicOrigin?: string | undefined;
  readonly clock: Clock;
  /** For tests. */
  readonly patienceMs?: number;
}): ObjectStore {
  const { bucket, host, port, tls, region, style, accessKey, secretKey } = address;
  const origin = new URL(`${tls ? 'https' : 'http'}://${host}:${port}`).origin;
  const transport = createS3Transport({ tls, patienceMs });
  const client = new Client({ endPoint: host.replace(/^\[|\]$/g, ''), port, useSSL: tls, accessKey, secretKey, region, pathStyle: style === 'path', transport, retryOptions: { disableRetry: true } });
  const signForClients = createS3Signer(address, { origin: publicOrigin ?? origin, clock });
  const signForUs = createS3Signer(address, { origin, clock });
  /** A question to the server, within its time and in the words of a store. */
  const ask: Ask = async (question, ms = patienceMs) => {
    try {
      return await within(ms, question);
    } catch (error) {
      throw storeError(error, bucket);
    }
  };

  const store: ObjectStore = {
    provider: 's3',
    bucket,

    uploadUrl: async ({ key, contentType, sizeBytes, expiresAt }) => ({
      url: await signForClients({ method: 'PUT', key, headers: { 'content-type': contentType, 'content-length': String(sizeBytes) }, expiresAt }),
      headers: { 'Content-Type': contentType },
    }),

    downloadUrl: ({ key, fileName, contentType, expiresAt }) =>
      signForClients({ method: 'GET', key, expiresAt, query: { 'response-content-disposition': attachmentDisposition(fileName), 'response-content-type': contentType, 'response-cache-control': 'private, no-store' } }),

    head: (key) =>
      ask(() => unlessAbsent(async () => {
        const { size, etag, lastModified } = await client.statObject(bucket, key);
        return { key, sizeBytes: size, etag, modifiedAt: lastModified.getTime() };
      })),

    read: async (key, signal) => {
      signal.throwIfAborted();
      const content = await ask(() => unlessAbsent(() => client.getObject(bucket, key)));
      return content && addAbortSignal(signal, content);
    },

    write: async (key, content, { sizeBytes, contentType }) => {
      const headers = { 'content-type': contentType, 'content-length': String(sizeBytes) };
      try {
        const url = await signForUs({ method: 'PUT', key, headers, expiresAt: clock.now() + UPLOAD_MS });
        const etag = await put(transport, { url, headers, content: metered(content, sizeBytes), ms: patienceFor(sizeBytes) });
        return { key, sizeBytes, etag, modifiedAt: clock.now() };
      } catch (error) {
        content.destroy();
        throw storeErrorOfWrite(error, bucket);
      }
    },

    copy: (from, to, ifMatch) =>
      ask(() => unlessAbsent(async (): Promise<StoredObject | undefined> => {
        // Ceph's gateway knows the condition by the second name alone, and would copy whatever is there now.
        const condition = { 'x-amz-copy-source-if-match': ifMatch, 'x-amz-copy-if-match': ifMatch };
        const answer = await client.makeRequestAsync({ method: 'PUT', bucketName: bucket, objectName: to, headers: { 'x-amz-copy-source': `/${bucket}/${from}`, ...condition } });
        // A copy that fails after it began says so in an answer of 200.
        if (!(await text(answer)).includes('<ETag>')) throw new ObjectStoreError('unavailable', 'the object store did not finish a copy');
        const { size, etag, lastModified } = await client.statObject(bucket, to);
        return { key: to, sizeBytes: size, etag, modifiedAt: lastModified.getTime() };
      }), patienceMs * 3),

    remove: async (key) => {
      await ask(() => unlessAbsent(() => client.removeObject(bucket, key)));
    },
    list: (prefix) => listed(client, { bucket, prefix }, ask),
    tidy: () => Promise.resolve(), // one PUT is there or is not: nothing breaks off half done
    probe: ({ makes } = { makes: true }) => probeS3(store, { address, origin, client, clock, transport, ask, makes }),
    close: () => Promise.resolve(transport.close()),
  };
  return store;
}

const UPLOAD_MS = 900_000;

/** Streams the content into a signed URL; answers the entity tag. */
function put(transport: S3Transport, { url, headers, content, ms }: { url: string; headers: Readonly<Record<string, string>>; content: AsyncIterable<Buffer>; ms: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = transport.request(Object.assign(requestOptions(url), { method: 'PUT', headers }), (answer) => void etagOf(answer).then(resolve, reject));
    // Only what comes after the last byte has a limit as a whole; until then the content sets the pace, and silence ends it.
    request.once('finish', () => {
      const late = setTimeout(() => request.destroy(new ObjectStoreError('unavailable', 'the object store did not confirm the upload')), ms);
      request.once('close', () => clearTimeout(late));
    });
    request.on('error', reject);
    pipeline(content, request).catch(reject);
  });
}

function requestOptions(url: string): { protocol: string; hostname: string; port: string; path: string } {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  return { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port, path: `${pathname}${search}` };
}

async function etagOf(answer: IncomingMessage): Promise<string> {
  const said = await text(answer);
  const { etag } = answer.headers;
  if (answer.statusCode === 200 && etag !== undefined) return etag.replaceAll('"', '');
  throw Object.assign(new S3Error(`the object store answered ${answer.statusCode ?? 0}`), { code: /<Code>([A-Za-z]{1,80})<\/Code>/.exec(said)?.[1] ?? `Http${answer.statusCode ?? 0}` });
}

/** A PUT with too few bytes would wait for the rest, and one with too many would be cut off without a word. */
async function* metered(content: Readable, sizeBytes: number): AsyncIterable<Buffer> {
  let size = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > sizeBytes) throw new WrongLengthError('longer');
    yield chunk;
  }
  if (size < sizeBytes) throw new WrongLengthError('shorter');
}

/** A page at a time: the next is asked for when the one before has been taken. */
async function* listed(client: Client, { bucket, prefix }: { bucket: string; prefix: string }, ask: Ask): AsyncIterable<ListedObject> {
  const items = client.listObjectsV2(bucket, prefix, true)[Symbol.asyncIterator]() as AsyncIterator<BucketItem>;
  for (;;) {
    const next = await ask(() => items.next());
    if (next.done === true) return;
    const { name, size, lastModified } = next.value;
    if (name !== undefined && lastModified !== undefined) yield { key: name, sizeBytes: size, modifiedAt: lastModified.getTime() };
  }
}

/** Nothing is there, or another version than was asked for. A HEAD has no body, so that its code comes from its status alone. */
async function unlessAbsent<T>(question: () => Promise<T>): Promise<T | undefined> {
  try {
    return await question();
  } catch (error) {
    if (['NotFound', 'NoSuchKey', 'PreconditionFailed'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

const DENIED = ['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch', 'AllAccessDisabled', 'AccountProblem', 'InvalidToken', 'ExpiredToken'];

function storeError(error: unknown, bucket: string): ObjectStoreError {
  if (error instanceof ObjectStoreError) return error;
  const code = codeOf(error);
  if (code === 'NoSuchBucket') return new ObjectStoreError('unavailable', `the bucket ${bucket} is not there`, { cause: error });
  if (DENIED.includes(code)) return new ObjectStoreError('denied', `the object store does not allow it (${code})`, { cause: error });
  return new ObjectStoreError('unavailable', `the object store cannot be used (${code || 'no answer that can be read'})`, { cause: error });
}

/** Content that fails is not the store's failure. */
function storeErrorOfWrite(error: unknown, bucket: string): unknown {
  const ofStore = error instanceof S3Error || (error instanceof Error && 'syscall' in error) || ['ETIMEDOUT', 'ECONNRESET', 'EPIPE'].includes(codeOf(error)) || codeOf(error).startsWith('ERR_TLS') || codeOf(error).startsWith('CERT_');
  return ofStore ? storeError(error, bucket) : error;
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '');
