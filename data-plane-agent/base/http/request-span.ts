import type { Trace } from '../trace.js';
import type { Span, Tracer } from '../tracing/spans.js';
import type { Served } from './exchange.js';

/** The methods of HTTP that a span names; others are `_OTHER`, as the conventions of OpenTelemetry have it. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const methodOf = (method: string): string => (METHODS.has(method) ? method : '_OTHER');

/** The span of a request, below the one that the client named. */
export const beginRequestSpan = (tracer: Tracer, method: string, parent: Trace | undefined): Span =>
  tracer.begin({ name: methodOf(method), kind: 'server', facts: { 'http.request.method': methodOf(method) } }, parent);

/** It has neither the path nor the query, in which clients may write anything. */
export function endRequestSpan(span: Span, { method, route, status, exchange, aborted }: Served): void {
  if (route !== undefined) span.rename(`${methodOf(method)} ${route}`);
  span.add({
    'http.route': route,
    'http.response.status_code': status,
    'duebook.tenant.id': exchange.caller?.tenantId,
    'duebook.request.id': exchange.info.id,
    'duebook.aborted': aborted || undefined,
  });
  if (status >= 500) span.fail(String(status));
  span.end();
}
