import Type, { type TUnsafe } from 'typebox';
import type { JsonText } from '../../data-plane-agent/base/json-text.js';
import { digestTag } from '../../data-plane-agent/base/http/pages.js';
import { attachmentDisposition } from '../../data-plane-agent/base/content-disposition.js';

const REPLY = Symbol('reply');

/** An answer with a cookie, a status or headers in addition to the body. */
export interface Reply<T> {
  readonly [REPLY]: true;
  readonly body: T | JsonBody;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** HttpOnly, SameSite=Strict by default, and Secure if the public URL is https. `maxAgeMs` 0 clears the cookie. */
  readonly cookie?: {
    readonly name: string;
    readonly value: string;
    readonly path: string;
    readonly maxAgeMs: number;
    /** `Lax`: sent also when another site redirects the browser here. */ readonly sameSite?: 'Lax' | 'Strict';
  };
}

export const reply = <T>(body: T | JsonBody, more: Omit<Reply<T>, 'body' | typeof REPLY>): Reply<T> => ({
  [REPLY]: true,
  body,
  ...more,
});

/**
 * Redirects the browser, from an endpoint whose status is 302. The endpoint must make sure that the location is safe.
 */
export const redirect = (location: string, more: Pick<Reply<object>, 'cookie'> = {}): Reply<Record<string, never>> =>
  reply({}, { status: 302, headers: { Location: location }, ...more });

/** A body whose JSON was made before. */
export class JsonBody {
  private known: string | undefined;

  constructor(readonly bytes: Buffer) {}

  /** A digest of the JSON as an entity tag. It is made once, however often the body is sent. */
  get tag(): string {
    return (this.known ??= digestTag(this.bytes));
  }
}

/**
 * The JSON of an answer that is made of two objects, neither of which changes: of what the data plane returned, which is
 * the same object while the data is the same, and of the directory. It is made once for both.
 */
export async function madeOnce(
  output: object,
  directory: object,
  make: () => JsonText<unknown> | Promise<Buffer>,
): Promise<JsonBody> {
  const known = made.get(output);
  if (known?.directory === directory) return known.body;
  const json = await make();
  const body = new JsonBody(typeof json === 'string' ? Buffer.from(json) : json);
  made.set(output, { directory, body });
  return body;
}

const made = new WeakMap<object, { readonly directory: object; readonly body: JsonBody }>();

/** An answer whose JSON was made before. */
export const serialised = <T>(body: JsonBody): Reply<T> => reply<T>(body, {});

/** A file to download. Pieces are sent as they arrive; if producing one fails, the transfer is aborted. */
export const attachment = <T extends FileText>(body: T, { fileName }: { readonly fileName: string }): Reply<T> =>
  reply(body, { headers: { 'Content-Disposition': attachmentDisposition(fileName) } });

/** The media types of answers other than JSON. */
export type MediaType = 'text/csv';

export type FileText = string | AsyncIterable<string>;

/** The schema of a file answer. */
export const fileOf = (mediaType: MediaType, about: string): TUnsafe<FileText> =>
  Type.Unsafe<FileText>({ type: 'string', contentMediaType: mediaType, description: about });

/** Adds the version of a record as its entity tag, which a client sends back in `If-Match`. */
export const tagged = <T extends { readonly version: number }>(body: T): Reply<T> => taggedWith(body.version, body);

export const taggedWith = <T>(version: number, body: T | JsonBody): Reply<T> =>
  reply(body, { headers: { ETag: `"${version}"` } });

export const isReply = (value: unknown): value is Reply<unknown> =>
  typeof value === 'object' && value !== null && REPLY in value;
