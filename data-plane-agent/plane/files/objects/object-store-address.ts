import { isIP } from 'node:net';
import type { Kind, Parsed } from '../../../base/config-kinds.js';

/** Where file contents are stored, from `OBJECT_STORE_URL`. */
export type ObjectStoreAddress = FileSystemAddress | S3Address;

export interface FileSystemAddress {
  readonly provider: 'filesystem';
  readonly directory: string;
}

export interface S3Address {
  readonly provider: 's3';
  /** A name or address, with IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly region: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Whether the bucket is in the path, or in the host name as some providers require. */
  readonly style: 'path' | 'virtual';
}

/**
 * `file:DIR`, or `s3://key:secret@host:9000/bucket?tls=true&region=us-east-1&style=path` with key and secret
 * percent-encoded.
 */
export function objectStoreAddress(): Kind<ObjectStoreAddress> {
  return {
    parse: (given) => {
      const written = given.trim();
      if (/^file:/i.test(written)) return fileSystemAddress(written);
      if (/^s3:\/\//i.test(written)) return s3Address(written);
      return bad('must begin with file: or s3://, as in file:./data/files or s3://key:secret@host:9000/bucket');
    },
    show: shown,
  };
}

/** For display, without the secret. */
function shown(address: ObjectStoreAddress): string {
  if (address.provider === 'filesystem') return `file:${address.directory}`;
  const { accessKey, host, port, bucket, tls, region, style } = address;
  return `s3://${encodeURIComponent(accessKey)}:••••@${host}:${port}/${bucket}?tls=${tls}&region=${region}${style === 'path' ? '' : `&style=${style}`}`;
}

function fileSystemAddress(written: string): Parsed<ObjectStoreAddress> {
  const given = written.slice('file:'.length);
  // `file:///var/files` is the same directory as `file:/var/files`.
  const directory = given.startsWith('///') ? given.slice(2) : given;
  if (directory.startsWith('//'))
    return bad('must name a folder of this machine, as in file:./data/files or file:/var/lib/duebook/files');
  if (directory === '' || directory.includes('\0')) return bad('must name a folder after file:');
  return { ok: true, value: { provider: 'filesystem', directory } };
}

function s3Address(written: string): Parsed<ObjectStoreAddress> {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (!url || url.hostname === '')
    return bad(
      'must be an address such as s3://key:secret@host:9000/bucket, with special characters in key and secret percent-encoded',
    );
  const accessKey = decoded(url.username);
  const secretKey = decoded(url.password);
  if (!accessKey || !secretKey)
    return bad('must contain access key and secret, percent-encoded: s3://key:secret@host/bucket');
  const bucket = url.pathname.slice(1).replace(/\/$/, '');
  if (!BUCKET.test(bucket) || isIP(bucket) !== 0)
    return bad('must name one bucket after the host: 3 to 63 characters of a-z 0-9 . -');
  if (url.hash !== '') return bad('must not have a #; percent-encode it');
  const unknown = [...url.searchParams.keys()].find(
    (name, index, names) => !['tls', 'region', 'style'].includes(name) || names.indexOf(name) !== index,
  );
  if (unknown !== undefined) return bad('may only have the parameters tls, region and style, each once');
  const tls = url.searchParams.get('tls') ?? 'true';
  if (tls !== 'true' && tls !== 'false') return bad('must have tls=true or tls=false');
  const style = url.searchParams.get('style') ?? 'path';
  if (style !== 'path' && style !== 'virtual') return bad('must have style=path or style=virtual');
  // A certificate for *.host covers only one label below it.
  if (style === 'virtual' && tls === 'true' && bucket.includes('.'))
    return bad('must have style=path when the bucket name contains a dot');
  const region = url.searchParams.get('region') ?? 'us-east-1';
  if (!/^[a-z0-9-]{1,64}$/i.test(region)) return bad('must have a region such as us-east-1');
  const port = url.port === '' ? (tls === 'true' ? 443 : 80) : Number(url.port);
  return {
    ok: true,
    value: {
      provider: 's3',
      host: url.hostname,
      port,
      tls: tls === 'true',
      region,
      bucket,
      accessKey,
      secretKey,
      style,
    },
  };
}

const BUCKET = /^[a-z0-9](?:[a-z0-9-]|\.(?![.-])){1,61}[a-z0-9]$/;

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined; // a stray %, reported by the caller
  }
}

const bad = (problem: string): { ok: false; problem: string } => ({ ok: false, problem });
