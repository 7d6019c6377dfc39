import { endingOfCode } from '../../base/tracing/ending.js';
import type { Span, SpanStart } from '../../base/tracing/spans.js';
import type { Call } from './call.js';
import { outcomeOf, type WireReply } from './wire.js';

/** The span of an operation: `internal` in the process that hosts the plane, `client` and `server` at the ends of a link. */
export const operationSpan = (
  kind: SpanStart['kind'],
  { name, call }: { readonly name: string; readonly call: Pick<Call, 'tenantId' | 'requestId'> },
): SpanStart => ({
  name,
  kind,
  facts: { 'duebook.operation': name, 'duebook.tenant.id': call.tenantId, 'duebook.request.id': call.requestId },
});

/** The span of a request whose operation was not known when it began. */
export function isFor(span: Span | undefined, request: Parameters<typeof operationSpan>[1]): void {
  if (!span) return;
  const { name, facts = {} } = operationSpan('server', request);
  span.rename(name);
  span.add(facts);
}

/** A failure that is no fault of the planes is an outcome like others. */
export function replied(span: Span | undefined, reply: WireReply): void {
  if (!span) return;
  const { outcome, isFailed } = endingOfCode(outcomeOf(reply));
  span.add({ 'duebook.outcome': outcome });
  if (isFailed) span.fail(outcome);
}
