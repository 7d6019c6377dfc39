import { IncomingMessage } from 'node:http';
import { addAbortSignal, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Client, S3Error, type BucketItemStat } from 'minio';
import { attachmentDisposition } from '../../../base/content-disposition.js';
import type { Clock } from '../../../base/clock.js';
import { TIMEOUT_MS, timeoutFor, within } from './deadline.js';
import type { S3Address } from './object-store-address.js';
import {
  ObjectStoreError,
  WrongLengthError,
  type ListedObject,
  type ObjectStore,
  type StoredObject,
} from './object-store.js';
import { storeError, unlessAbsent } from './s3-errors.js';
import { probeS3 } from './s3-probe.js';
import { createS3Signer } from './s3-signature.js';
import { createS3Transport, type Ask, type Requests } from './s3-transport.js';

/**
 * Objects in a bucket of an S3 server. The `minio` client asks and copies; it cannot sign the length of an upload, and
 * holds what it puts in memory: so URLs, and our own uploads with them, are signed by ourselves. Each object is one PUT
 * (5 GiB at most): no parts stay behind.
 */
export function createS3Store({
  address,
  publicOrigin,
  clock,
  timeoutMs = TIMEOUT_MS,
}: {
  readonly address: S3Address;
  /** Where clients reach the same server, when not under the address that we use. */
  readonly publicOrigin?: string | undefined;
  readonly clock: Clock;
  /** For tests. */
  readonly timeoutMs?: number;
}): ObjectStore {
  const { bucket, host, port, tls, region, style, accessKey, secretKey } = address;
  const origin = new URL(`${tls ? 'https' : 'http'}://${host}:${port}`).origin;
  const transport = createS3Transport({ tls, timeoutMs });
  const clientOver = (requests: Requests): Client =>
    new Client({
      endPoint: host.replace(/^\[|\]$/g, ''),
      port,
      useSSL: tls,
      accessKey,
      secretKey,
      region,
      pathStyle: style === 'path',
      transport: requests,
      retryOptions: { disableRetry: true },
    });
  const client = clientOver(transport.asking(timeoutMs * COPYING));
  const reader = clientOver(transport.reading);
  const signForClients = createS3Signer(address, { origin: publicOrigin ?? origin, clock });
  const signForUs = createS3Signer(address, { origin, clock });
  /** A question to the server, within its time and in the words of a store. */
  const ask: Ask = async (question, ms = timeoutMs) => {
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
      url: await signForClients({
        method: 'PUT',
        key,
        headers: { 'content-type': contentType, 'content-length': String(sizeBytes) },
        expiresAt,
      }),
      headers: { 'Content-Type': contentType },
    }),

    downloadUrl: ({ key, fileName, contentType, expiresAt }) =>
      signForClients({
        method: 'GET',
        key,
        expiresAt,
        query: {
          'response-content-disposition': attachmentDisposition(fileName),
          'response-content-type': contentType,
          'response-cache-control': 'private, no-store',
        },
      }),

    head: (key) => ask(() => unlessAbsent(async () => objectOf(key, await client.statObject(bucket, key)))),

    read: async (key, { sizeBytes, signal }) => {
      signal.throwIfAborted();
      const content = await ask(() => unlessAbsent(() => reader.getObject(bucket, key)));
      return content && addAbortSignal(signal, ofSize(content, sizeBytes));
    },

    write: async (key, content, { sizeBytes, contentType }) => {
      const headers = { 'content-type': contentType, 'content-length': String(sizeBytes) };
      try {
        const url = await signForUs({ method: 'PUT', key, headers, expiresAt: clock.now() + UPLOAD_MS });
        const etag = await put(transport.asking(timeoutFor(sizeBytes, timeoutMs)), {
          url,
          headers,
          content: metered(content, sizeBytes),
        });
        return { key, sizeBytes, etag, modifiedAt: clock.now() };
      } catch (error) {
        content.destroy();
        // Content that fails is not the store's failure.
        throw error instanceof WrongLengthError || error === content.errored ? error : storeError(error, bucket);
      }
    },

    copy: (from, to, ifMatch) =>
      ask(
        () =>
          unlessAbsent(async (): Promise<StoredObject | undefined> => {
            // Ceph's gateway knows the condition by the second name alone, and would copy whatever is there now.
            const condition = { 'x-amz-copy-source-if-match': ifMatch, 'x-amz-copy-if-match': ifMatch };
            const answer = await client.makeRequestAsync({
              method: 'PUT',
              bucketName: bucket,
              objectName: to,
              headers: { 'x-amz-copy-source': `/${bucket}/${from}`, ...condition },
            });
            // A copy that fails after it began says so in an answer of 200.
            if (!(await text(answer)).includes('<ETag>'))
              throw new ObjectStoreError('unavailable', 'the object store did not finish a copy');
            return objectOf(to, await client.statObject(bucket, to));
          }),
        timeoutMs * COPYING,
      ),

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
/** A copy may take so many times as long as other answers. */
const COPYING = 3;

function objectOf(
  key: string,
  { size, etag, lastModified }: Pick<BucketItemStat, 'size' | 'etag' | 'lastModified'>,
): StoredObject {
  // What an answer does not say must not be taken for what an upload lacks.
  if (!Number.isSafeInteger(size) || etag === '')
    throw new ObjectStoreError('unavailable', 'the object store does not say what it has');
  return { key, sizeBytes: size, etag, modifiedAt: lastModified.getTime() };
}

/** An answer of exactly so many bytes: the parser of HTTP holds the server to the length that it announces. */
function ofSize(content: Readable, sizeBytes: number): Readable {
  const announced = content instanceof IncomingMessage ? content.headers['content-length'] : undefined;
  if (announced === String(sizeBytes)) return content;
  content.destroy();
  throw new ObjectStoreError(
    'unavailable',
    `the object store gives ${announced ?? 'an unknown number of'} bytes of ${sizeBytes}`,
  );
}

/** Streams the content into a signed URL; answers the entity tag. The content sets the pace, and silence ends it. */
function put(
  requests: Requests,
  { url, headers, content }: { url: string; headers: Readonly<Record<string, string>>; content: AsyncIterable<Buffer> },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = requests.request(
      Object.assign(requestOptions(url), { method: 'PUT', headers }),
      (answer) => void etagOf(answer).then(resolve, reject),
    );
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
  throw Object.assign(new S3Error(`the object store answered ${answer.statusCode ?? 0}`), {
    code: /<Code>([A-Za-z]{1,80})<\/Code>/.exec(said)?.[1] ?? `Http${answer.statusCode ?? 0}`,
  });
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
async function* listed(
  client: Client,
  { bucket, prefix }: { bucket: string; prefix: string },
  ask: Ask,
): AsyncIterable<ListedObject> {
  for (let from = ''; ;) {
    const { objects, isTruncated, nextContinuationToken } = await ask(() =>
      client.listObjectsV2Query(bucket, prefix, from, '', 1_000, ''),
    );
    for (const { name, size, lastModified } of objects)
      if (name !== undefined && lastModified !== undefined)
        yield { key: name, sizeBytes: size, modifiedAt: lastModified.getTime() };
    if (!isTruncated) return;
    if (!nextContinuationToken || nextContinuationToken === from)
      throw new ObjectStoreError('unavailable', 'the object store lists without end');
    from = nextContinuationToken;
  }
}
