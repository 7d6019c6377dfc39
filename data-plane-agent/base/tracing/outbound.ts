import type { Outbound } from '../outbound.js';
import { inSpan } from './spans.js';

/**
 * A span for each request within a traced one. The other side is not told the trace: it belongs to somebody else.
 * `namesHost` adds the host and port, which are those of a setting; an address that a tenant entered is not shown.
 */
export const tracedOutbound = (outbound: Outbound, { namesHost }: { readonly namesHost: boolean }): Outbound => ({
  ...outbound,
  request: (request) => {
    const method = request.method ?? 'GET';
    const facts = { 'http.request.method': method, ...(namesHost && hostOf(request.url)) };
    return inSpan({ name: method, kind: 'client', facts }, async (span) => {
      const answer = await outbound.request(request);
      span?.add({ 'http.response.status_code': answer.status });
      if (answer.status >= 400) span?.fail(String(answer.status));
      return answer;
    });
  },
});

function hostOf(url: string): { readonly 'server.address'?: string; readonly 'server.port'?: number } {
  if (!URL.canParse(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  return { 'server.address': hostname, 'server.port': port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) };
}
