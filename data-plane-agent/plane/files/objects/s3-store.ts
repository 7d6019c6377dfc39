import { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { addAbortSignal, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { BucketItemStat, Client } from 'minio';
import type * as Minio from 'minio';
import { attachmentDisposition } from '../../../base/content-disposition.js';
import type { Clock } from '../../../base/clock.js';
import { noteStreamed } from '../../../base/collect-garbage.js';
import { onFirstUse } from '../../../base/on-first-use.js';
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
 * Stores objects in a bucket of an S3 server. The `minio` client cannot sign the length of an upload and buffers what
 * it puts, so URLs, including those for uploads from here, are signed by `createS3Signer`. Each object is one PUT (at
 * most 5 GiB), so that no incomplete parts remain.
 */
export function createS3Store({
  address,
  publicOrigin,
  clock,
  timeoutMs = TIMEOUT_MS,
}: {
  readonly address: S3Address;
  /** Where clients reach the same server, if it differs from `address`. */
  readonly publicOrigin?: string | undefined;
  readonly clock: Clock;
  /** Set by tests. */
  readonly timeoutMs?: number;
}): ObjectStore {
  const { bucket, host, port, tls, region, style, accessKey, secretKey } = address;
  const origin = new URL(`${tls ? 'https' : 'http'}://${host}:${port}`).origin;
  const transport = createS3Transport({ tls, timeoutMs });
  const clientOver = (requests: Requests): Client =>
    new (minio().Client)({
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
  const client = clientOver(transport.buffered(timeoutMs * COPY_TIMEOUTS));
  const reader = clientOver(transport.streamed);
  const signForClients = createS3Signer(address, { origin: publicOrigin ?? origin, clock });
  const signForUs = createS3Signer(address, { origin, clock });
  /** Runs a request with a timeout and converts its errors. */
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

    read: async (key, { sizeBytes, signal, part }) => {
      signal.throwIfAborted();
      const length = part && part.end - part.start;
      const content = await ask(() =>
        unlessAbsent(() =>
          part ? reader.getPartialObject(bucket, key, part.start, length) : reader.getObject(bucket, key),
        ),
      );
      return content && addAbortSignal(signal, ofSize(content, length ?? sizeBytes));
    },

    write: async (key, content, { sizeBytes, contentType }) => {
      const headers = { 'content-type': contentType, 'content-length': String(sizeBytes) };
      try {
        const url = await signForUs({ method: 'PUT', key, headers, expiresAt: clock.now() + UPLOAD_MS });
        const etag = await put(transport.buffered(timeoutFor(sizeBytes, timeoutMs)), {
          url,
          headers,
          content: metered(content, sizeBytes),
        });
        return { key, sizeBytes, etag, modifiedAt: clock.now() };
      } catch (error) {
        content.destroy();
        // Errors of the content are not errors of the store.
        throw error instanceof WrongLengthError || error === content.errored ? error : storeError(error, bucket);
      }
    },

    copy: (from, to, ifMatch) =>
      ask(
        () =>
          unlessAbsent(async (): Promise<StoredObject | undefined> => {
            // Ceph's gateway supports only the second name, and would otherwise copy any version.
            const condition = { 'x-amz-copy-source-if-match': ifMatch, 'x-amz-copy-if-match': ifMatch };
            const answer = await client.makeRequestAsync({
              method: 'PUT',
              bucketName: bucket,
              objectName: to,
              headers: { 'x-amz-copy-source': `/${bucket}/${from}`, ...condition },
            });
            // A copy that fails after its start is reported with status 200.
            if (!(await text(answer)).includes('<ETag>'))
              throw new ObjectStoreError('unavailable', 'the object store did not finish a copy');
            return objectOf(to, await client.statObject(bucket, to));
          }),
        timeoutMs * COPY_TIMEOUTS,
      ),

    remove: async (key) => {
      await ask(() => unlessAbsent(() => client.removeObject(bucket, key)));
    },
    list: (prefix) => listed(client, { bucket, prefix }, ask),
    tidy: () => Promise.resolve(), // a PUT is atomic
    probe: ({ makes } = { makes: true }) => probeS3(store, { address, origin, client, clock, transport, ask, makes }),
    close: () => Promise.resolve(transport.close()),
  };
  return store;
}

/** Loaded with the first store on S3: it has hundreds of modules. */
const minio = onFirstUse(() => createRequire(import.meta.url)('minio') as typeof Minio);

const UPLOAD_MS = 900_000;
/** The timeout of a copy, in multiples of the normal one. */
const COPY_TIMEOUTS = 3;

function objectOf(
  key: string,
  { size, etag, lastModified }: Pick<BucketItemStat, 'size' | 'etag' | 'lastModified'>,
): StoredObject {
  // An incomplete response must not be mistaken for a missing upload.
  if (!Number.isSafeInteger(size) || etag === '')
    throw new ObjectStoreError('unavailable', 'the object store returned no size or entity tag');
  return { key, sizeBytes: size, etag, modifiedAt: lastModified.getTime() };
}

/** A response of exactly this size: the HTTP parser enforces the declared length. */
function ofSize(content: Readable, sizeBytes: number): Readable {
  const declared = content instanceof IncomingMessage ? content.headers['content-length'] : undefined;
  if (declared === String(sizeBytes)) return content;
  content.destroy();
  throw new ObjectStoreError(
    'unavailable',
    `the object store returned ${declared ?? 'an unknown number of'} bytes instead of ${sizeBytes}`,
  );
}

/**
 * Streams the content to a signed URL and returns the entity tag. The content sets the pace; a stalled connection times
 * out.
 */
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
  const body = await text(answer);
  const { etag } = answer.headers;
  if (answer.statusCode === 200 && etag !== undefined) return etag.replaceAll('"', '');
  throw Object.assign(new (minio().S3Error)(`the object store answered ${answer.statusCode ?? 0}`), {
    code: /<Code>([A-Za-z]{1,80})<\/Code>/.exec(body)?.[1] ?? `Http${answer.statusCode ?? 0}`,
  });
}

/** Checks the length: with too few bytes a PUT would wait for more, and excess bytes would be dropped silently. */
async function* metered(content: Readable, sizeBytes: number): AsyncIterable<Buffer> {
  let size = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    noteStreamed(chunk.length);
    size += chunk.length;
    if (size > sizeBytes) throw new WrongLengthError('longer');
    yield chunk;
  }
  if (size < sizeBytes) throw new WrongLengthError('shorter');
}

/** Fetches one page at a time, on demand. */
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
      throw new ObjectStoreError('unavailable', 'the object store returned an endless list');
    from = nextContinuationToken;
  }
}
