import { currentTrace, withTrace, type Trace } from '../trace.js';
import { endingOf } from './ending.js';

/** What a span says: ids, codes, templates and numbers, and never a text, a name or a value that somebody entered. */
export interface SpanFacts {
  readonly 'http.request.method'?: string | undefined;
  /** The template of the path. */
  readonly 'http.route'?: string | undefined;
  readonly 'http.response.status_code'?: number | undefined;
  readonly 'server.address'?: string | undefined;
  readonly 'server.port'?: number | undefined;
  readonly 'duebook.tenant.id'?: string | undefined;
  readonly 'duebook.request.id'?: string | undefined;
  readonly 'duebook.operation'?: string | undefined;
  /** `ok`, the code of a failure, or the class of an error. */
  readonly 'duebook.outcome'?: string | undefined;
  readonly 'duebook.job'?: string | undefined;
  /** The client disconnected before the response was complete. */
  readonly 'duebook.aborted'?: true | undefined;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly facts?: SpanFacts;
}

/** A piece of work that is recorded with its time. */
export interface Span extends Trace {
  /** Begins a span below this one. */
  begin(start: SpanStart): Span;
  rename(name: string): void;
  add(facts: SpanFacts): void;
  /** Marks the work as failed. `type` is the code of a failure, an HTTP status or the class of an error. */
  fail(type: string): void;
  end(): void;
}

/** Begins the first span of this program in a trace. */
export interface Tracer {
  /** Below the parent that another program named, or in a new trace. */
  begin(start: SpanStart, parent?: Trace): Span;
}

/** Runs work in a span below the current one. Outside a span it only runs it, or with a tracer in a first span. */
export function inSpan<T>(start: SpanStart, work: (span?: Span) => Promise<T>, tracer?: Tracer): Promise<T> {
  const around = currentTrace();
  if (isSpan(around)) return within(around.begin(start), work);
  return tracer ? inFirstSpan(tracer, { ...start, parent: around }, work) : work();
}

/**
 * Runs work in the first span of this program in a trace: below `parent`, or in a new trace. Without a tracer the work
 * only belongs to the trace of the parent.
 */
export function inFirstSpan<T>(
  tracer: Tracer | undefined,
  { parent, ...start }: SpanStart & { readonly parent?: Trace | undefined },
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  return tracer ? within(tracer.begin(start, parent), work) : withTrace(parent, () => work());
}

const isSpan = (trace: Trace | undefined): trace is Span => trace !== undefined && 'begin' in trace;

const within = <T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> =>
  withTrace(span, async () => {
    try {
      return await work(span);
    } catch (error) {
      const { outcome, isFailed } = endingOf(error);
      span.add({ 'duebook.outcome': outcome });
      if (isFailed) span.fail(outcome);
      throw error;
    } finally {
      span.end();
    }
  });
