import type { Agent, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { LINK } from '../../base/link/limits.js';
import { LINK_PATHS } from '../../base/link/messages.js';
import type { Timers } from '../../base/link/timers.js';
import { NotConnected } from './connection-state.js';

export interface DialOptions {
  /** The origin of the control plane. */
  readonly controlPlane: string;
  /** The token that identifies the agent. */
  readonly token: string;
  /**
   * For connections by TLS: with a proxy, or other certificates. Without one, and for plain connections, which are only
   * allowed on this machine, the connection is direct.
   */
  readonly httpAgent?: Agent | undefined;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/**
 * Opens a WebSocket to the control plane. `onOpen` is called in the turn in which it opens. Rejects with NotConnected,
 * or with the signal's reason.
 */
export function dial<T>(options: DialOptions, onOpen: (ws: WebSocket, stream: Duplex | undefined) => T): Promise<T> {
  const { controlPlane, token, httpAgent, timers, signal } = options;
  const url = new URL(LINK_PATHS.connect, controlPlane);
  const isSecure = url.protocol === 'https:';
  url.protocol = isSecure ? 'wss:' : 'ws:';
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const ws = new WebSocket(url, [LINK.subprotocol], {
      perMessageDeflate: false,
      maxPayload: LINK.maxPayload,
      followRedirects: false,
      generateMask: noMask,
      headers: { Authorization: `Bearer ${token}` },
      // Set explicitly, because an environment variable can disable it.
      ...(isSecure ? { minVersion: 'TLSv1.2', rejectUnauthorized: true, agent: httpAgent } : {}),
    });
    const end = (error: Error): void => {
      settled();
      reject(error);
      ws.terminate();
    };
    const onAbort = (): void => end(signal.reason as Error);
    const cancel = timers.after(LINK.handshakeMs, () =>
      end(new NotConnected('unreachable', `there was no response within ${LINK.handshakeMs / 1_000} s`)),
    );
    const settled = (): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    let stream: Duplex | undefined;
    ws.on('upgrade', ({ socket }) => (stream = socket));
    ws.on('open', () => {
      settled();
      resolve(onOpen(ws, stream));
    });
    ws.on('error', (error) => {
      settled();
      reject(new NotConnected('unreachable', error.message, { cause: error }));
    });
    ws.on('unexpected-response', (_request, response) => {
      void refusalOf(response).then(end);
    });
    return undefined;
  });
}

/**
 * A masking key of zeros, for which `ws` leaves the bytes as they are on both sides: masking takes half of the time that
 * encoding takes. It protects intermediaries that mistake a WebSocket for HTTP (RFC 6455, section 10.3); a connection of an
 * agent passes through none that could read it: it is encrypted, or does not leave this machine.
 */
const noMask = (key: Buffer): void => void key.fill(0);

const MAX_REFUSAL_BYTES = 64 * 1024;
const MAX_RETRY_AFTER_S = 300;

const BY_ERROR_CODE = new Map<string, NotConnected['state']>([
  ['CONNECTION_REVOKED', 'revoked'],
  ['CONNECTION_SUSPENDED', 'suspended'],
]);

/** Why the control plane, or a proxy before it, refuses the connection. */
async function refusalOf(response: IncomingMessage): Promise<NotConnected> {
  const { statusCode = 0, headers } = response;
  const { code, message } = errorIn(await textOf(response));
  const seconds = Number(headers['retry-after']);
  const retryAfterMs = seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_S) * 1_000 : 0;
  const text = `HTTP ${statusCode}${code === '' ? '' : ` ${code}`}${message === '' ? '' : `: ${message}`}`;
  return new NotConnected(stateOf(statusCode, code), text, { retryAfterMs });
}

function stateOf(status: number, code: string): NotConnected['state'] {
  const state = BY_ERROR_CODE.get(code);
  if (state) return state;
  if (status === 426) return 'incompatible';
  // Without a code of ours the response may be that of a proxy.
  if (status === 403 && code !== '') return 'revoked';
  return status === 401 || status === 403 ? 'refused' : 'unreachable';
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).toString();
}

/** The code and message of a domain error; empty if the response is something else. */
function errorIn(text: string): { readonly code: string; readonly message: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { code: '', message: '' };
  }
  const error: unknown = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined;
  const field = (name: string): string => {
    const found: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
    return typeof found === 'string' ? found.slice(0, 500) : '';
  };
  return { code: field('code'), message: field('message') };
}
