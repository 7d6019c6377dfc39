import { lookup } from 'node:dns/promises';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { addressPolicy, type AddressPolicy } from './outbound-addresses.js';
import { unlessAborted } from './unless-aborted.js';

/**
 * HTTP requests to URLs chosen by users. Only public addresses and listed private ones are allowed, over https, or http
 * to this machine outside production. Redirects are returned, not followed. The name is resolved once and the
 * connection uses the checked address, so that DNS rebinding has no effect. Proxy environment variables are ignored.
 */
export interface Outbound {
  /** Resolves for any status. Throws OutboundError. */
  request(request: OutboundRequest): Promise<OutboundAnswer>;
  /**
   * The problem with a URL judged by its form, as the end of a sentence that begins with its name; `undefined` if there
   * is none. Host names are checked when they are resolved.
   */
  refusalOf(url: string): string | undefined;
}

export interface OutboundRequest {
  readonly url: string;
  /** `GET` by default. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The maximum size of the response in bytes, 1 MiB by default. */
  readonly maxBytes?: number;
  /** Certificates (PEM) to trust instead of the system's certificates. */
  readonly ca?: string;
  /** The caller no longer waits: the request ends with the signal's reason. */
  readonly signal?: AbortSignal;
  /** The time limit of this request in milliseconds. */
  readonly totalMs?: number;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/**
 * `ADDRESS_REFUSED`: no connection was attempted. The other codes: the attempt failed. The message reveals nothing
 * about the internal network.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    readonly code: 'ADDRESS_REFUSED' | 'UNREACHABLE' | 'TIMED_OUT' | 'ANSWER_TOO_LARGE',
    message: string,
    options: ErrorOptions & {
      /** No part of the request was sent. */
      readonly nothingSent?: boolean;
      /** The request was sent on a kept connection, which the other side may have closed before it. */
      readonly onKeptConnection?: boolean;
    } = {},
  ) {
    super(message, options);
    this.nothingSent = options.nothingSent ?? code === 'ADDRESS_REFUSED';
    this.onKeptConnection = options.onKeptConnection ?? false;
  }

  readonly nothingSent: boolean;
  readonly onKeptConnection: boolean;
}

/** Resolves a host name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/**
 * `allowPrivate`: CIDR ranges; include loopback to allow it. Times are in milliseconds; connecting includes the TLS
 * handshake.
 */
export function createOutbound({
  allowPrivate,
  production,
  resolve = systemResolve,
  connectMs = 5_000,
  totalMs = 10_000,
  keepAlive = false,
}: {
  allowPrivate: readonly string[];
  production: boolean;
  resolve?: Resolve;
  connectMs?: number;
  totalMs?: number;
  /** Keeps connections for further requests. An address is checked when a connection to it is opened. */
  keepAlive?: boolean;
}): Outbound {
  const policy = addressPolicy(allowPrivate);
  const kept = { keepAlive: true, timeout: IDLE_MS };
  const agents = keepAlive ? { http: new HttpAgent(kept), https: new HttpsAgent(kept) } : undefined;

  /** Resolves the host. Fails unless all of its addresses may be connected to. */
  const pin = async (target: URL): Promise<readonly string[]> => {
    const host = hostOf(target);
    const addresses = isIP(host) === 0 ? await resolve(host) : [host];
    if (addresses.length === 0) throw new OutboundError('UNREACHABLE', 'the name has no address');
    const refused = addresses.some(
      (address) => !policy.allows(address) || (target.protocol === 'http:' && !policy.isLoopback(address)),
    );
    if (refused) throw new OutboundError('ADDRESS_REFUSED', 'requests to the address are not allowed');
    return addresses;
  };

  return {
    refusalOf: (url) => formFault(url, { policy, production }),
    request: async (request) => {
      const fault = formFault(request.url, { policy, production });
      if (fault !== undefined) throw new OutboundError('ADDRESS_REFUSED', `the address ${fault}`);
      const target = new URL(request.url);
      const timeout = AbortSignal.timeout(request.totalMs ?? totalMs);
      const ends = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
      const progress: Progress = { isSent: false, onKeptConnection: false };
      try {
        const addresses = await unlessAborted(ends, pin(target));
        return await send(request, { target, addresses, policy, connectMs, ends, agents, progress });
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason;
        if (error instanceof OutboundError) throw error;
        const facts = { cause: error, nothingSent: !progress.isSent, onKeptConnection: progress.onKeptConnection };
        throw ends.aborted
          ? new OutboundError('TIMED_OUT', 'there was no response in time', facts)
          : new OutboundError('UNREACHABLE', 'there was no response', facts);
      }
    },
  };
}

const DEFAULT_MAX_BYTES = 1_048_576;

const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/** Shorter than the time for which servers keep idle connections. */
const IDLE_MS = 4_000;

/** The host in canonical form: the URL parser converts decimal, hexadecimal and short IP addresses. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

function formFault(
  url: string,
  { policy, production }: { policy: AddressPolicy; production: boolean },
): string | undefined {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (!target || !/^https?:$/.test(target.protocol)) return 'must be an https URL';
  if (target.protocol === 'http:' && production) return 'must begin with https:';
  if (target.username !== '' || target.password !== '') return 'must not contain a user name or a password';
  // Ports below 1024 are used by mail, remote shells and the like, which must not receive HTTP.
  if (target.port !== '' && Number(target.port) < 1024 && !['80', '443'].includes(target.port))
    return 'must not use a port below 1024 other than 80 and 443';
  const host = hostOf(target);
  if (isIP(host) === 0) return undefined;
  if (!policy.allows(host)) return 'must not be a private, loopback or link-local address';
  return target.protocol === 'http:' && !policy.isLoopback(host) ? 'must begin with https:' : undefined;
}

interface Connection {
  readonly target: URL;
  readonly addresses: readonly string[];
  readonly policy: AddressPolicy;
  readonly connectMs: number;
  readonly ends: AbortSignal;
  readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent } | undefined;
  readonly progress: Progress;
}

/** How far a request got. */
interface Progress {
  isSent: boolean;
  onKeptConnection: boolean;
}

function send(
  { method = 'GET', headers = {}, body, maxBytes = DEFAULT_MAX_BYTES, ca }: OutboundRequest,
  { target, addresses, policy, connectMs, ends, agents, progress }: Connection,
): Promise<OutboundAnswer> {
  const host = hostOf(target);
  const secure = target.protocol === 'https:';
  const options: RequestOptions = {
    hostname: host,
    port: target.port === '' ? (secure ? 443 : 80) : Number(target.port),
    path: `${target.pathname}${target.search}`,
    method,
    // No compression, which would circumvent the size limit.
    headers: { ...headers, 'Accept-Encoding': 'identity', Host: target.host },
    agent: (secure ? agents?.https : agents?.http) ?? false,
    // Not called for an IP address, which has already been checked.
    lookup: pinned(addresses),
    signal: ends,
  };
  // Set explicitly, because an environment variable can disable it. For an IP address there is no server name; the
  // certificate is verified against the address.
  const tls = {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2' as const,
    servername: isIP(host) === 0 ? host.replace(/\.$/, '') : '',
    ...(ca === undefined ? {} : { ca }),
  };
  return new Promise((resolve, reject) => {
    const request = secure ? httpsRequest({ ...options, ...tls }) : httpRequest(options);
    const slow = setTimeout(
      () => request.destroy(new OutboundError('TIMED_OUT', 'there was no connection in time', { nothingSent: true })),
      connectMs,
    );
    const connected = (): void => {
      clearTimeout(slow);
      progress.isSent = true;
    };
    request.on('socket', (socket) => {
      progress.onKeptConnection = request.reusedSocket;
      if (request.reusedSocket) return connected();
      socket.once('connect', () => {
        if (!policy.allows(socket.remoteAddress ?? ''))
          request.destroy(new OutboundError('ADDRESS_REFUSED', 'the connection went to another address'));
      });
      socket.once(secure ? 'secureConnect' : 'connect', connected);
    });
    request.on('response', (response) => {
      readAll(response, maxBytes)
        .then((read) => resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: read }))
        .catch((error: unknown) => {
          request.destroy();
          reject(error as Error);
        });
    });
    request.on('error', reject);
    request.on('close', () => clearTimeout(slow));
    request.end(body);
  });
}

const pinned =
  (addresses: readonly string[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    if (all === true) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };

async function readAll(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new OutboundError('ANSWER_TOO_LARGE', `the response has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  return headers;
}
