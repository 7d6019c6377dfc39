const REPLY = Symbol('reply');

/** An answer with more than a body: a cookie, a redirect, an entity tag. */
export interface Reply<T> {
  readonly [REPLY]: true;
  readonly body: T;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** HttpOnly, SameSite=Strict, and Secure when the public address is https. `maxAgeMs` 0 clears it. */
  readonly cookie?: { readonly name: string; readonly value: string; readonly path: string; readonly maxAgeMs: number };
}

export const reply = <T>(body: T, more: Omit<Reply<T>, 'body' | typeof REPLY>): Reply<T> => ({ [REPLY]: true, body, ...more });

/** A record with its version as the entity tag, which a client sends back in `If-Match`. */
export const tagged = <T extends { readonly version: number }>(body: T): Reply<T> => reply(body, { headers: { ETag: `"${body.version}"` } });

export const isReply = (value: unknown): value is Reply<unknown> => typeof value === 'object' && value !== null && REPLY in value;
