import { AsyncLocalStorage } from 'node:async_hooks';

/** A place in a distributed trace (W3C Trace Context), as a client, another program or a span of ours names it. */
export interface Trace {
  /** 32 hexadecimal digits, the same in every program that works for one request. */
  readonly traceId: string;
  /** The header `traceparent`, to pass on. */
  readonly traceparent: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
/** Later versions may append fields. */
const LONGEST = 512;

/** Undefined for anything that is no valid `traceparent`: a trace that cannot be followed is not an error of the request. */
export function traceOf(traceparent: unknown): Trace | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > LONGEST) return undefined;
  const [, version, traceId = '', parentId = '', more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, traceparent };
}

const current = new AsyncLocalStorage<Trace>();

/** Runs work that belongs to the trace: what it logs has the id, and what it sends to other programs of ours the header. */
export const withTrace = <T>(trace: Trace | undefined, work: () => T): T => (trace ? current.run(trace, work) : work());

export const currentTrace = (): Trace | undefined => current.getStore();

/** The header for another program of ours; nothing outside a trace. */
export function traceHeader(): { readonly traceparent?: string } {
  const trace = current.getStore();
  return trace ? { traceparent: trace.traceparent } : {};
}
