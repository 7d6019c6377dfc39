import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON of the answer, if any. */
  readonly body: T;
  readonly text: string;
}

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean>> | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the client's token; `null` sends none. */
  readonly token?: string | null;
  /** A body for a GET request. */
  readonly body?: unknown;
}

/** A raw request. */
export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is sent without a Content-Length. */
  readonly body?: string | Uint8Array | Readable;
}

/** The two formats of error answers. */
export interface FrameworkError {
  readonly statusCode: number;
  readonly message: string | readonly string[];
  readonly error: string;
}
export interface DomainError {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: Readonly<Record<string, unknown>>;
  };
}

/** The status of a refused request, and the field at the beginning of each message. */
export const namedFields = ({ status, body }: Pick<Answer<FrameworkError>, 'status' | 'body'>) => [
  status,
  [body.message].flat().map((line) => line.split(' ')[0]),
];

/** A JSON client of the service under test. Paths are relative to `/api/v1`. */
export interface Client {
  /** The URL of the API, with its prefix. */
  readonly base: string;
  /** The URL of the server. */
  readonly origin: string;
  get<T = unknown>(path: string, options?: RequestOptions): Promise<Answer<T>>;
  post<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<Answer<T>>;
  patch<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<Answer<T>>;
  put<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<Answer<T>>;
  delete<T = unknown>(path: string, body?: unknown, options?: RequestOptions): Promise<Answer<T>>;
  /** Sends any method, body and path (from the server's root). */
  raw<T = unknown>(path: string, request?: RawRequest): Promise<Answer<T>>;
  /** A client of the same server with this token. */
  as(token: string): Client;
}

export function client(origin: string, token?: string): Client {
  const base = `${origin}/api/v1`;
  const send = async <T>(
    method: string,
    path: string,
    body: unknown,
    options: RequestOptions = {},
  ): Promise<Answer<T>> => {
    const { query, headers = {}, token: other } = options;
    const bearer = other === undefined ? token : other;
    const search =
      query === undefined
        ? ''
        : `?${typeof query === 'string' ? query : new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, String(value)])).toString()}`;
    return exchange<T>(`${base}${path}${search}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(bearer ? { Authorization: `Bearer ${bearer}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  };
  return {
    base,
    origin,
    get: (path, options) => send('GET', path, options?.body, options),
    post: (path, body, options) => send('POST', path, body, options),
    patch: (path, body, options) => send('PATCH', path, body, options),
    put: (path, body, options) => send('PUT', path, body, options),
    delete: (path, body, options) => send('DELETE', path, body, options),
    raw: (path, sent) => exchange(`${origin}${path}`, sent),
    as: (other) => client(origin, other),
  };
}

/** Closes idle connections before the server does. */
const agent = new Agent({ keepAlive: true, timeout: 3_000 });

/** `fetch` would need four times the processor time, and the suite sends about a hundred thousand requests. */
async function exchange<T>(
  url: string,
  { method = 'GET', headers = {}, body = '' }: RawRequest = {},
): Promise<Answer<T>> {
  const length = body instanceof Readable || body === '' ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const sent = request(url, { method, agent, headers: { ...length, ...headers } });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    // Errors after the answer are ignored: the server may close the connection before a refused request was sent
    // completely.
    sent.on('response', resolve).on('error', reject);
  });
  if (body instanceof Readable) body.pipe(sent);
  else sent.end(body);
  const response = await answered;
  const text = await textOf(response);
  const isJson = /json/.test(response.headers['content-type'] ?? '');
  return {
    status: response.statusCode ?? 0,
    text,
    body: (isJson && text !== '' ? JSON.parse(text) : undefined) as T,
    get headers() {
      return headersOf(response);
    },
  };
}

/** Raw headers: names may be repeated. */
function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  return headers;
}

/** Sends bytes to the server and returns its complete response until it closes the connection. */
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
