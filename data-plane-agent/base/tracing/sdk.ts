import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace as api,
  type Context,
  type Span as ApiSpan,
  type Tracer as ApiTracer,
} from '@opentelemetry/api';
import { resourceFromAttributes, defaultResource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../ids.js';
import type { Trace } from '../trace.js';
import { exporterFor } from './exporters.js';
import type { TracingParts } from './open.js';
import { diagnosticsInLog, reportExports } from './reporting.js';
import type { TracingOptions } from './settings.js';
import type { Span, SpanFacts, Tracer } from './spans.js';

// The only module that loads OpenTelemetry, with `exporters.ts` beside it: `open.ts` imports it when spans are recorded.

/** How long a stop waits until the collector has accepted the last spans. */
const FLUSH_MS = 3_000;

/** The SDK of OpenTelemetry behind our interface. Nothing is registered globally but the log of the SDK itself. */
export function createSdk(
  options: TracingOptions,
  { serviceName, version, clock, log }: Omit<TracingParts, 'lifecycle'>,
): { readonly tracer: Tracer; close(): Promise<void> } {
  diag.setLogger(diagnosticsInLog({ clock, log }), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const { delayMs, timeoutMs, queueSize, batchSize } = options.batches;
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.version': version,
        'service.instance.id': newId(),
        ...options.resource,
        'service.name': options.serviceName ?? serviceName,
      }),
    ),
    sampler: samplerFor(options.sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: exporterFor(options, { log, report: reportExports({ clock, log }) }),
        scheduledDelayMillis: delayMs,
        exportTimeoutMillis: timeoutMs,
        maxQueueSize: queueSize,
        maxExportBatchSize: batchSize,
      }),
    ],
  });
  return {
    tracer: tracerOver(provider.getTracer('duebook', version)),
    close: async () => {
      const waiting = new AbortController();
      const isFlushed = await Promise.race([
        provider.shutdown().then(() => true),
        sleep(FLUSH_MS, false, { signal: waiting.signal }),
      ]);
      waiting.abort();
      if (!isFlushed) log.warn({ waitedMs: FLUSH_MS }, 'the last spans were not sent before the stop');
    },
  };
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

function tracerOver(tracer: ApiTracer): Tracer {
  const begin = ({ name, kind, facts }: Parameters<Tracer['begin']>[0], around: Context): Span => {
    const started = tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...facts } }, around);
    const { traceId, spanId, traceFlags } = started.spanContext();
    return {
      traceId,
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      begin: (start) => begin(start, api.setSpan(ROOT_CONTEXT, started)),
      rename: (to) => void started.updateName(to),
      add: (more) => addTo(started, more),
      // Without a message: those of errors may quote what somebody entered.
      fail: (type) => void started.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
      end: () => started.end(),
    };
  };
  return { begin: (start, parent) => begin(start, parent ? contextOf(parent) : ROOT_CONTEXT) };
}

function addTo(span: ApiSpan, facts: SpanFacts): void {
  for (const [name, value] of Object.entries(facts))
    if (value !== undefined) span.setAttribute(name, value as string | number | boolean);
}

/** Of a parent in another program. Its flags beside `sampled` are not known to this version of the format. */
function contextOf({ traceId, traceparent }: Trace): Context {
  const [, , spanId = '', flags = ''] = traceparent.split('-');
  return api.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
  });
}

function samplerFor({ name, ratio }: TracingOptions['sampler']): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
