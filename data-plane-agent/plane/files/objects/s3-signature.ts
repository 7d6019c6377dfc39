import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Signatures from '@smithy/signature-v4';
import type { Clock } from '../../../base/clock.js';
import { onFirstUse } from '../../../base/on-first-use.js';
import type { S3Address } from './object-store-address.js';

export interface Signing {
  readonly method: 'PUT' | 'GET' | 'HEAD';
  readonly key: string;
  /** Signed headers; requests that lack or change one are refused. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of the store's response, such as `response-content-type`. */
  readonly query?: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Signs URLs (AWS Signature Version 4, in the query) for requests to `origin`; the signature covers the host. */
export function createS3Signer(
  address: S3Address,
  { origin, clock }: { readonly origin: string; readonly clock: Clock },
): (signing: Signing) => Promise<string> {
  const { region, accessKey, secretKey } = address;
  const signer = new (signatures().SignatureV4)({
    service: 's3',
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const base = bucketUrl(address, origin);
  return async ({ method, key, headers = {}, query = {}, expiresAt }) => {
    // Signatures have whole seconds: both ends are rounded down, so that the URL does not expire late.
    const signedAt = Math.floor(clock.now() / 1_000);
    const request = {
      method,
      protocol: base.protocol,
      hostname: base.hostname,
      path: `${base.pathname}${key}`,
      // The content is not known yet.
      headers: { host: base.host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...headers },
      query: { ...query },
    };
    const { query: signed } = await signer.presign(request, {
      signingDate: new Date(signedAt * 1_000),
      expiresIn: Math.max(1, Math.floor(expiresAt / 1_000) - signedAt),
    });
    return `${base.origin}${request.path}?${Object.entries(signed ?? {})
      .map(([name, value]) => `${escaped(name)}=${escaped(String(value))}`)
      .join('&')}`;
  };
}

/** Loaded on first use, because most installations have no such store. */
const signatures = onFirstUse(() => createRequire(import.meta.url)('@smithy/signature-v4') as typeof Signatures);

/** The URL of the bucket's objects, ending with `/`. */
export function bucketUrl({ style, bucket }: S3Address, origin: string): URL {
  const base = new URL(origin);
  if (style === 'virtual') base.hostname = `${bucket}.${base.hostname}`;
  base.pathname = style === 'virtual' ? '/' : `/${bucket}/`;
  return base;
}

/** Percent-encodes as the signature requires. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** Adapts Node's hashes to the interface of the signer. */
class Sha256 {
  private hash: Hash | Hmac;

  constructor(private readonly secret?: Secret) {
    this.hash = Sha256.begun(secret);
  }

  update(data: Uint8Array): void {
    this.hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.hash.digest());
  }

  reset(): void {
    this.hash = Sha256.begun(this.secret);
  }

  private static begun(secret: Secret | undefined): Hash | Hmac {
    if (secret === undefined) return createHash('sha256');
    return createHmac(
      'sha256',
      typeof secret === 'string'
        ? secret
        : ArrayBuffer.isView(secret)
          ? Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength)
          : Buffer.from(secret),
    );
  }
}

type Secret = string | ArrayBuffer | ArrayBufferView;
