import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../../../base/clock.js';
import type { S3Address } from './object-store-address.js';

export interface Signing {
  readonly method: 'PUT' | 'GET' | 'HEAD';
  readonly key: string;
  /** Signed, so that a request that sends other ones, or lacks one, is refused. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the store is to answer with, such as `response-content-type`. */
  readonly query?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly expiresAt: number;
}

/**
 * Signs URLs (AWS Signature Version 4, in the query) for requests that go to `origin`: the host is part of what is
 * signed.
 */
export function createS3Signer(
  address: S3Address,
  { origin, clock }: { readonly origin: string; readonly clock: Clock },
): (signing: Signing) => Promise<string> {
  const { region, accessKey, secretKey } = address;
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const base = bucketUrl(address, origin);
  return async ({ method, key, headers = {}, query = {}, expiresAt }) => {
    // The signature knows whole seconds alone: cut off where it begins and where it ends, it ends no later than it is
    // to.
    const signedAt = Math.floor(clock.now() / 1_000);
    const request = {
      method,
      protocol: base.protocol,
      hostname: base.hostname,
      path: `${base.pathname}${key}`,
      // The bytes are not known yet: what is signed says so.
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

/** Where the bucket's objects are, ending at a `/`. */
export function bucketUrl({ style, bucket }: S3Address, origin: string): URL {
  const base = new URL(origin);
  if (style === 'virtual') base.hostname = `${bucket}.${base.hostname}`;
  base.pathname = style === 'virtual' ? '/' : `/${bucket}/`;
  return base;
}

/** As it was signed. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** Node's own hashes in the shape that the signer asks for. */
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
