import { connect } from 'node:net';

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of the answer; `undefined` when it has none. */
  readonly body: T;
  readonly text: string;
}

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean>> | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the client's own; `null` sends none. */
  readonly token?: string | null;
}

/** The two shapes of an error answer, as a test reads them. */
export interface FrameworkError {
  readonly statusCode: number;
  readonly message: string | readonly string[];
  readonly error: string;
}
export interface DomainError {
  readonly error: { readonly code: string; readonly message: string; readonly details: Readonly<Record<string, unknown>> };
}

/** Speaks JSON to the service under test. Paths are relative to `/api/v1`. */
export interface Client {
  /** Address of the API, with its prefix. */
  readonly base: string;
  /** Address of the server. */
  readonly origin: string;
  get<T = unknown>(path: string, options?: RequestOptions): Promise<Answer<T>>;
  post<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<Answer<T>>;
  patch<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<Answer<T>>;
  put<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<Answer<T>>;
  delete<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<Answer<T>>;
  /** Any method, any bytes, any path from the server's root. */
  raw<T = unknown>(path: string, init?: RequestInit): Promise<Answer<T>>;
  /** The same server, signed in. */
  as(token: string): Client;
}

export function client(origin: string, token?: string): Client {
  const base = `${origin}/api/v1`;
  const send = async <T>(method: string, path: string, body: unknown, options: RequestOptions = {}): Promise<Answer<T>> => {
    const { query, headers = {}, token: other } = options;
    const bearer = other === undefined ? token : other;
    const search = query === undefined ? '' : `?${typeof query === 'string' ? query : new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, String(value)])).toString()}`;
    return answerOf<T>(await fetch(`${base}${path}${search}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(bearer ? { Authorization: `Bearer ${bearer}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
    }));
  };
  return {
    base,
    origin,
    get: (path, options) => send('GET', path, undefined, options),
    post: (path, body, options) => send('POST', path, body, options),
    patch: (path, body, options) => send('PATCH', path, body, options),
    put: (path, body, options) => send('PUT', path, body, options),
    delete: (path, body, options) => send('DELETE', path, body, options),
    raw: async (path, init) => answerOf(await fetch(`${origin}${path}`, { redirect: 'manual', ...init })),
    as: (other) => client(origin, other),
  };
}

async function answerOf<T>(response: Response): Promise<Answer<T>> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, body: (isJson && text !== '' ? JSON.parse(text) : undefined) as T };
}

/** Writes bytes to the server and gives everything that it answers until it closes the connection. */
export function speak(origin: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
    socket.on('error', reject);
  });
}
