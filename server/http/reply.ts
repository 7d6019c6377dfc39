import Type, { type TUnsafe } from 'typebox';
import { attachmentDisposition } from '../../data-plane-agent/base/content-disposition.js';

const REPLY = Symbol('reply');

/** An answer with more than a body: a cookie, a redirect, an entity tag. */
export interface Reply<T> {
  readonly [REPLY]: true;
  readonly body: T;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** HttpOnly, SameSite=Strict unless said, and Secure when the public address is https. `maxAgeMs` 0 clears it. */
  readonly cookie?: {
    readonly name: string;
    readonly value: string;
    readonly path: string;
    readonly maxAgeMs: number;
    /** `Lax`: comes along when another site sends the browser here. */ readonly sameSite?: 'Lax' | 'Strict';
  };
}

export const reply = <T>(body: T, more: Omit<Reply<T>, 'body' | typeof REPLY>): Reply<T> => ({
  [REPLY]: true,
  body,
  ...more,
});

/** Sends the browser on, from an endpoint whose status is 302. The address is the endpoint's to vouch for. */
export const redirect = (location: string, more: Pick<Reply<object>, 'cookie'> = {}): Reply<Record<string, never>> =>
  reply({}, { status: 302, headers: { Location: location }, ...more });

/**
 * A file for the client to keep. What is given piece by piece is sent as it comes; when it fails, the transfer breaks
 * off.
 */
export const attachment = <T extends FileText>(body: T, { fileName }: { readonly fileName: string }): Reply<T> =>
  reply(body, { headers: { 'Content-Disposition': attachmentDisposition(fileName) } });

/** What an endpoint gives that is not JSON. */
export type MediaType = 'text/csv';

export type FileText = string | AsyncIterable<string>;

/** The schema of such an answer. */
export const fileOf = (mediaType: MediaType, about: string): TUnsafe<FileText> =>
  Type.Unsafe<FileText>({ type: 'string', contentMediaType: mediaType, description: about });

/** A record with its version as the entity tag, which a client sends back in `If-Match`. */
export const tagged = <T extends { readonly version: number }>(body: T): Reply<T> =>
  reply(body, { headers: { ETag: `"${body.version}"` } });

export const isReply = (value: unknown): value is Reply<unknown> =>
  typeof value === 'object' && value !== null && REPLY in value;
