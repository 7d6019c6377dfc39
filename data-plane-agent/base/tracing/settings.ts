import { boolean, integer, oneOf, setting, text, url, type Rule, type Values } from '../config.js';
import { caFile, fraction, headerPairs, keyValuePairs, propagators } from './kinds.js';

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** `http/protobuf` by default. `grpc` is refused by a rule, which does not matter while no spans are exported. */
const protocol = oneOf('http/protobuf', 'http/json', 'grpc');
const compression = oneOf('none', 'gzip');
const exportTimeout = integer({ min: 1, max: 600_000 });

/**
 * The standard variables of OpenTelemetry, for every program that records spans. Those with `TRACES` in their name go
 * before those without it, which the specification has for all signals.
 */
export const TRACING_SETTINGS = {
  otelDisabled: setting({
    name: 'OTEL_SDK_DISABLED',
    about: 'Whether no spans are recorded, whatever the other OTEL_ settings say.',
    kind: boolean(),
    default: false,
  }),
  otelExporter: setting({
    name: 'OTEL_TRACES_EXPORTER',
    about:
      'Where spans are sent: otlp (a collector, over HTTP), console (lines of the log) or none. If not set: otlp if an endpoint is set, otherwise none.',
    kind: oneOf('otlp', 'console', 'none'),
  }),
  otelEndpoint: setting({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    about: 'URL of the collector, such as http://collector:4318: spans are sent to /v1/traces below it.',
    kind: url({ protocols: ['http', 'https'] }),
  }),
  otelTracesEndpoint: setting({
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    about:
      'URL to which spans are sent, with its path. Defaults to http://localhost:4318/v1/traces with the exporter otlp.',
    kind: url({ protocols: ['http', 'https'] }),
  }),
  otelHeaders: setting({
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    about: 'Headers for the collector, as name=value,name=value with percent-encoded values.',
    kind: headerPairs(),
    secret: true,
  }),
  otelTracesHeaders: setting({
    name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    about: 'The same for spans alone: they replace those of the same name.',
    kind: headerPairs(),
    secret: true,
  }),
  otelProtocol: setting({
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    about: 'Encoding of what is sent: http/protobuf or http/json; grpc is not supported.',
    kind: protocol,
    default: 'http/protobuf',
  }),
  otelTracesProtocol: setting({
    name: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    about: 'The same for spans alone.',
    kind: protocol,
  }),
  otelTimeout: setting({
    name: 'OTEL_EXPORTER_OTLP_TIMEOUT',
    about: 'Milliseconds within which the collector has to accept a batch of spans.',
    kind: exportTimeout,
    default: 10_000,
  }),
  otelTracesTimeout: setting({
    name: 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
    about: 'The same for spans alone.',
    kind: exportTimeout,
  }),
  otelCompression: setting({
    name: 'OTEL_EXPORTER_OTLP_COMPRESSION',
    about: 'Compression of what is sent: none or gzip.',
    kind: compression,
    default: 'none',
  }),
  otelTracesCompression: setting({
    name: 'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION',
    about: 'The same for spans alone.',
    kind: compression,
  }),
  otelCertificate: setting({
    name: 'OTEL_EXPORTER_OTLP_CERTIFICATE',
    about: 'File with the certificates (PEM) to trust for the collector instead of those of Node.js.',
    kind: caFile(),
  }),
  otelTracesCertificate: setting({
    name: 'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE',
    about: 'The same for spans alone.',
    kind: caFile(),
  }),
  otelServiceName: setting({
    name: 'OTEL_SERVICE_NAME',
    about:
      'The name of this program in traces. If not set: service.name in OTEL_RESOURCE_ATTRIBUTES, otherwise duebook-server or duebook-agent.',
    kind: text({ max: 255 }),
  }),
  otelResourceAttributes: setting({
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    about: 'What all spans say about this program, as name=value,name=value with percent-encoded values.',
    kind: keyValuePairs(),
  }),
  otelSampler: setting({
    name: 'OTEL_TRACES_SAMPLER',
    about: `Which traces are recorded: ${SAMPLERS.join(', ')}. Those that begin with parentbased follow the decision of a client that sends traceparent.`,
    kind: oneOf(...SAMPLERS),
    default: 'parentbased_always_on',
  }),
  otelSamplerArg: setting({
    name: 'OTEL_TRACES_SAMPLER_ARG',
    about: 'The part of traces that a sampler with traceidratio records, from 0 to 1; 1 if not set.',
    kind: fraction(),
  }),
  otelPropagators: setting({
    name: 'OTEL_PROPAGATORS',
    about: 'Formats in which traces are passed on: tracecontext is the only one. baggage is allowed and does nothing.',
    kind: propagators(),
    default: 'tracecontext',
  }),
  otelScheduleDelay: setting({
    name: 'OTEL_BSP_SCHEDULE_DELAY',
    about: 'Milliseconds after which spans are sent.',
    kind: integer({ min: 1, max: 600_000 }),
    default: 5_000,
  }),
  otelExportTimeout: setting({
    name: 'OTEL_BSP_EXPORT_TIMEOUT',
    about: 'Milliseconds after which a batch of spans that is being sent, and sent again, is given up.',
    kind: integer({ min: 1, max: 600_000 }),
    default: 30_000,
  }),
  otelQueueSize: setting({
    name: 'OTEL_BSP_MAX_QUEUE_SIZE',
    about: 'Spans that wait to be sent; more are dropped.',
    kind: integer({ min: 1, max: 1_000_000 }),
    default: 2_048,
  }),
  otelBatchSize: setting({
    name: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    about: 'Spans that are sent at once, at most.',
    kind: integer({ min: 1, max: 1_000_000 }),
    default: 512,
  }),
} as const;

export type TracingSettings = Values<typeof TRACING_SETTINGS>;

/** Rules for the configuration of a program that records spans. */
export const TRACING_REFUSALS: readonly Rule<typeof TRACING_SETTINGS>[] = [
  (values) => {
    const { otelTracesProtocol, otelProtocol } = values;
    if (exporterOf(values) !== 'otlp' || (otelTracesProtocol ?? otelProtocol) !== 'grpc') return [];
    return [
      {
        name: `OTEL_EXPORTER_OTLP_${otelTracesProtocol === undefined ? '' : 'TRACES_'}PROTOCOL`,
        problem:
          'is grpc, which is not supported: set it to http/protobuf or http/json, and the endpoint to the port of the collector for HTTP, usually 4318',
      },
    ];
  },
  ({ otelQueueSize, otelBatchSize }) =>
    otelBatchSize > otelQueueSize
      ? [{ name: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', problem: 'must not be greater than OTEL_BSP_MAX_QUEUE_SIZE' }]
      : [],
];

/** How spans are recorded and where they are sent. Times are in milliseconds. */
export interface TracingOptions {
  readonly exporter:
    | { readonly kind: 'console' }
    | {
        readonly kind: 'otlp';
        readonly url: string;
        readonly format: 'protobuf' | 'json';
        readonly headers: Readonly<Record<string, string>>;
        readonly timeoutMs: number;
        readonly compression: 'none' | 'gzip';
        /** Certificates (PEM) to trust instead of those of Node.js. */
        readonly ca: string | undefined;
      };
  readonly sampler: { readonly name: (typeof SAMPLERS)[number]; readonly ratio: number };
  readonly serviceName: string | undefined;
  readonly resource: Readonly<Record<string, string>>;
  readonly batches: {
    readonly delayMs: number;
    readonly timeoutMs: number;
    readonly queueSize: number;
    readonly batchSize: number;
  };
}

/** Undefined if no spans are recorded. */
export function tracingOf(values: TracingSettings): TracingOptions | undefined {
  const kind = exporterOf(values);
  if (kind === 'none') return undefined;
  const { 'service.name': named, ...resource } = values.otelResourceAttributes ?? {};
  return {
    exporter: kind === 'console' ? { kind } : otlpOf(values),
    sampler: { name: values.otelSampler, ratio: values.otelSamplerArg ?? 1 },
    serviceName: values.otelServiceName ?? named,
    resource,
    batches: {
      delayMs: values.otelScheduleDelay,
      timeoutMs: values.otelExportTimeout,
      queueSize: values.otelQueueSize,
      batchSize: values.otelBatchSize,
    },
  };
}

function exporterOf({
  otelDisabled,
  otelExporter,
  otelEndpoint,
  otelTracesEndpoint,
}: TracingSettings): 'otlp' | 'console' | 'none' {
  if (otelDisabled) return 'none';
  return otelExporter ?? ((otelTracesEndpoint ?? otelEndpoint) === undefined ? 'none' : 'otlp');
}

const DEFAULT_ENDPOINT = 'http://localhost:4318';

const otlpOf = (values: TracingSettings): TracingOptions['exporter'] => ({
  kind: 'otlp',
  url: values.otelTracesEndpoint ?? belowEndpoint(values.otelEndpoint ?? DEFAULT_ENDPOINT),
  format: (values.otelTracesProtocol ?? values.otelProtocol) === 'http/json' ? 'json' : 'protobuf',
  headers: { ...values.otelHeaders, ...values.otelTracesHeaders },
  timeoutMs: values.otelTracesTimeout ?? values.otelTimeout,
  compression: values.otelTracesCompression ?? values.otelCompression,
  ca: (values.otelTracesCertificate ?? values.otelCertificate)?.pem,
});

function belowEndpoint(endpoint: string): string {
  const target = new URL(endpoint);
  target.pathname = `${target.pathname.replace(/\/+$/, '')}/v1/traces`;
  return target.href;
}
