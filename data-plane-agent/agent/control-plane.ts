import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { CommandError, misuse } from '../base/command-line/errors.js';
import { isLoopback } from '../base/loopback.js';
import type { Static, TSchema } from '../base/schema.js';
import { newerToo } from '../base/link/reading.js';
import type { AgentConfig } from './config.js';

/** Requests of the agent to its control plane, outside of a session: to join, and to replace its key. */
export interface ControlPlaneClient {
  /**
   * Posts JSON. Throws CommandError: REFUSED_… with the control plane's own code and message, or UNREACHABLE with the
   * cause. `mayHaveRun` of the error is false only if the request was certainly not processed.
   */
  post<T extends TSchema>(
    path: string,
    body: object,
    about: { readonly answer: T; readonly token?: string },
  ): Promise<Static<T>>;
}

/** A request that failed, and whether the control plane may have processed it. */
export class ControlPlaneError extends CommandError {
  /** False only if the request was certainly not processed. */
  readonly mayHaveRun: boolean;

  constructor(code: string, message: string, { mayHaveRun, cause }: { mayHaveRun: boolean; cause?: unknown }) {
    super(code, message, { cause });
    this.mayHaveRun = mayHaveRun;
  }
}

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 256 * 1024;

export function createControlPlaneClient(
  origin: string,
  { httpAgent, timeoutMs = TIMEOUT_MS }: { readonly httpAgent?: HttpsAgent | undefined; readonly timeoutMs?: number },
): ControlPlaneClient {
  return {
    async post(path, body, { answer, token }) {
      const { status, text } = await send(new URL(path, origin), {
        body: JSON.stringify(body),
        token,
        httpAgent,
        timeoutMs,
      });
      const value = parsed(text);
      if (status !== 200) throw refusalOf(origin, { status, value });
      const checked = newerToo<TSchema>(answer)(value);
      if (!checked.ok)
        throw new ControlPlaneError(
          'ANSWER_INVALID',
          `${origin} answered in a form that this version does not know: ${checked.issues[0]?.path ?? ''} ${checked.issues[0]?.problem ?? ''}; check that the URL is that of a control plane, and update the older of the two programs`,
          { mayHaveRun: true },
        );
      return checked.value as Static<typeof answer>; // checked with this schema
    },
  };
}

/** For connections to the control plane; undefined without a proxy. */
export const proxyAgent = ({
  httpsProxy,
  noProxy,
}: Pick<AgentConfig, 'httpsProxy' | 'noProxy'>): HttpsAgent | undefined =>
  httpsProxy === undefined
    ? undefined
    : new HttpsAgent({
        proxyEnv: { HTTPS_PROXY: httpsProxy, ...(noProxy === undefined ? {} : { NO_PROXY: noProxy }) },
      });

/**
 * The origin of a control plane. https only: over http, a join token and everything else could be read on the way,
 * except on this machine. `allowHttp` allows it outside production.
 */
export function controlPlaneOrigin(
  given: string,
  { allowHttp, production }: { readonly allowHttp: boolean; readonly production: boolean },
): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw misuse('--control-plane must be an https URL, such as https://duebook.example.com');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '' || url.pathname !== '/')
    throw misuse('--control-plane must be an origin: an https URL without user name, path and query');
  if (url.protocol === 'http:' && !isLoopback(given)) {
    if (production) throw misuse('--control-plane must begin with https: in production');
    if (!allowHttp)
      throw misuse(
        '--control-plane must begin with https:, because the join token would be sent unencrypted; for a trial in your own network add --allow-http',
      );
  }
  return url.origin;
}

interface Sent {
  readonly body: string;
  readonly token: string | undefined;
  readonly httpAgent: HttpsAgent | undefined;
  readonly timeoutMs: number;
}

async function send(url: URL, { body, token, httpAgent, timeoutMs }: Sent): Promise<{ status: number; text: string }> {
  const isSecure = url.protocol === 'https:';
  let connected = false;
  try {
    return await new Promise((resolve, reject) => {
      const request = (isSecure ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          Accept: 'application/json',
          'Accept-Encoding': 'identity',
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        },
        signal: AbortSignal.timeout(timeoutMs),
        ...(isSecure
          ? { agent: httpAgent ?? false, minVersion: 'TLSv1.2', rejectUnauthorized: true }
          : { agent: false }),
      });
      request.on('socket', (socket) => {
        // A socket that comes with its connection, such as one through a proxy, has no such event.
        if (!socket.connecting) connected = true;
        socket.once(isSecure ? 'secureConnect' : 'connect', () => {
          connected = true;
        });
      });
      request.on('response', (response) => {
        readAll(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
      });
      request.on('error', reject);
      request.end(body);
    });
  } catch (error) {
    const timedOut = error instanceof Error && ['TimeoutError', 'AbortError'].includes(error.name);
    throw new ControlPlaneError(
      'UNREACHABLE',
      `${url.origin} cannot be reached: ${timedOut ? `no answer within ${timeoutMs / 1_000} s` : causeOf(error)}`,
      { mayHaveRun: connected, cause: error },
    );
  }
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused; check the URL, and that the control plane runs',
  ENOTFOUND: 'the host name is unknown; check the URL and the name server',
  EAI_AGAIN: 'the name server does not answer',
  ECONNRESET: 'the connection was closed; a firewall or a proxy may be in between (HTTPS_PROXY)',
  EHOSTUNREACH: 'there is no route to the host; check the network and HTTPS_PROXY',
  ENETUNREACH: 'there is no route to the network; check the network and HTTPS_PROXY',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is not trusted here; set NODE_EXTRA_CA_CERTS to the file of your own CA',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted here; set NODE_EXTRA_CA_CERTS to the file of your own CA',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is not trusted here; set NODE_EXTRA_CA_CERTS to the file of your own CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate is not trusted here; set NODE_EXTRA_CA_CERTS to the file of your own CA',
};

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several addresses of one name were tried.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  return CAUSES[code] ?? (first instanceof Error && first.message !== '' ? first.message : code);
}

/** The control plane's own words, for a refusal in the form of domain errors. */
function refusalOf(origin: string, { status, value }: { status: number; value: unknown }): ControlPlaneError {
  const error = fieldOf(value, 'error');
  const code = fieldOf(error, 'code');
  const message = fieldOf(error, 'message');
  if (typeof code !== 'string' || typeof message !== 'string')
    return new ControlPlaneError(
      'NO_CONTROL_PLANE',
      status >= 500
        ? `${origin} answered with status ${status}; try again later`
        : `${origin} answered with status ${status}: it is no control plane, or its version does not know agents`,
      { mayHaveRun: status >= 500 },
    );
  const details = fieldOf(error, 'details');
  const reason = fieldOf(details, 'reason') ?? skewText(fieldOf(details, 'seconds'));
  return new ControlPlaneError(
    code,
    `the control plane refused it: ${message}${typeof reason === 'string' ? ` (${reason})` : ''}`,
    { mayHaveRun: false },
  );
}

/** Of CLOCK_SKEW: how far this machine is ahead. */
const skewText = (seconds: unknown): string | undefined =>
  typeof seconds === 'number'
    ? `this machine is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`
    : undefined;

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
