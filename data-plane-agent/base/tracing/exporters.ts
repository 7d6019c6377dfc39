import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Log } from '../log.js';
import type { ExportReport } from './reporting.js';
import type { TracingOptions } from './settings.js';

/** Sends spans as the settings say. How it goes is reported, and never an error of whoever sends. */
export function exporterFor({ exporter }: TracingOptions, { log, report }: ExporterParts): SpanExporter {
  if (exporter.kind === 'console') return logExporter(log);
  return reported(
    exporter.format === 'json' ? new JsonExporter(otlp(exporter)) : new ProtobufExporter(otlp(exporter)),
    report,
  );
}

interface ExporterParts {
  readonly log: Log;
  readonly report: ExportReport;
}

type Otlp = Extract<TracingOptions['exporter'], { kind: 'otlp' }>;
type ExporterConfig = NonNullable<ConstructorParameters<typeof ProtobufExporter>[0]>;

/** Everything is given, because the exporter reads from the environment what is not. */
const otlp = ({ url, headers, timeoutMs, compression, ca }: Otlp): ExporterConfig => ({
  url,
  headers,
  timeoutMillis: timeoutMs,
  // The enumeration's values are these texts.
  compression: compression as NonNullable<ExporterConfig['compression']>,
  httpAgentOptions: (protocol) =>
    protocol === 'https:' ? new HttpsAgent({ ...KEPT, minVersion: 'TLSv1.2', ...(ca && { ca }) }) : new HttpAgent(KEPT),
});

/** Shorter than the time for which servers keep idle connections. */
const KEPT = { keepAlive: true, timeout: 4_000 } as const;

/** `failed` of a batch is final: the exporter has tried it several times, within its time. */
const reported = (exporter: SpanExporter, report: ExportReport): SpanExporter => ({
  export: (spans, done) =>
    exporter.export(spans, (result) => {
      if (result.error) report.lost(spans.length, result.error);
      else report.accepted();
      // The batch processor passes an error on to a handler that would log it again, with its stack, for each batch.
      done({ code: 0 });
    }),
  forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  shutdown: () => exporter.shutdown(),
});

/** Standard output is a log of JSON lines, so that spans are lines of it. */
const logExporter = (log: Log): SpanExporter => ({
  export: (spans, done) => {
    for (const span of spans) log.info(lineOf(span), 'span');
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
});

const KINDS = ['internal', 'server', 'client', 'producer', 'consumer'] as const;

function lineOf(span: ReadableSpan): object {
  const { traceId, spanId } = span.spanContext();
  const [seconds, nanoseconds] = span.duration;
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    span: span.name,
    kind: KINDS[span.kind],
    ms: Math.round(seconds * 10_000 + nanoseconds / 100_000) / 10,
    facts: span.attributes,
    failed: span.status.code === 2,
  };
}
