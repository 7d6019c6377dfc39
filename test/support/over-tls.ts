import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { LOCAL_CERTIFICATE } from './certificate.js';

/**
 * Sends a request over TLS to a server on this machine, whatever host name the URL has, trusting only its certificate.
 */
export function overTls(
  link: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: Uint8Array } = {},
): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const { hostname, host, port, pathname, search } = new URL(link);
  // An IP address is not sent as a server name (SNI).
  const name = hostname === '127.0.0.1' ? 'localhost' : hostname;
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        servername: name,
        ca: LOCAL_CERTIFICATE,
        agent: false,
        method,
        path: `${pathname}${search}`,
        headers: { Host: host, ...(body ? { 'Content-Length': String(body.length) } : {}), ...headers },
      },
      (answer) => {
        buffer(answer).then((bytes) => resolve({ status: answer.statusCode ?? 0, bytes }), reject);
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}
