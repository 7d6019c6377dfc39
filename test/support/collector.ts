import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';
import { until } from './joined-agent.js';

/** A span as a collector gets it. */
export interface ReceivedSpan {
  /** `service.name` of the program that sent it. */
  readonly service: string;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
  readonly message: string;
}

export interface Collector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[];
  /** Resolves with the spans that match once there are that many. */
  get(matches: (span: ReceivedSpan) => boolean, count?: number): Promise<readonly ReceivedSpan[]>;
  /** How it answers from now on; by default it accepts everything. `hang` answers nothing. */
  behave(how: 'accept' | 'refuse' | 'hang'): void;
  stop(): Promise<void>;
}

/** A collector of OpenTelemetry on a free port, which takes spans over HTTP, or HTTPS, as protobuf and as JSON. */
export async function startCollector({
  tls,
}: { readonly tls?: { readonly cert: string; readonly key: string } } = {}): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  let behaviour: 'accept' | 'refuse' | 'hang' = 'accept';
  const take: RequestListener = (request, response) => {
    void buffer(request).then((sent) => {
      const { headers, url: path = '' } = request;
      const body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      requests.push({ path, headers, body });
      if (behaviour === 'hang') return;
      if (behaviour === 'refuse') return void response.writeHead(400).end('the collector says: bearer-of-the-test');
      if (headers['content-type'] === 'application/json') spans.push(...spansOf(JSON.parse(body.toString('utf8'))));
      else if (headers['content-type'] === 'application/x-protobuf') spans.push(...spansOf(decoded(body)));
      else return void response.writeHead(415).end();
      response.writeHead(200, { 'Content-Type': headers['content-type'] }).end();
    });
  };
  const server = tls ? createTlsServer(tls, take) : createServer(take);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    get: async (matches, count = 1) => {
      await until(
        () => Promise.resolve(spans.filter(matches).length >= count),
        `the collector has ${count} such spans among ${JSON.stringify(spans.map(({ service, name }) => [service, name])).slice(-1_000)}`,
      );
      return spans.filter(matches);
    },
    behave: (how) => {
      behaviour = how;
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The parts of opentelemetry-proto that spans of ours have, by their numbers there. */
const SCHEMA = protobuf
  .parse(
    `
  syntax = "proto3";
  message Request { repeated ResourceSpans resourceSpans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; string version = 2; }
  message Span {
    bytes traceId = 1; bytes spanId = 2; string traceState = 3; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
    fixed64 startTimeUnixNano = 7; fixed64 endTimeUnixNano = 8; repeated KeyValue attributes = 9;
    repeated Event events = 11; Status status = 15;
  }
  message Event { fixed64 timeUnixNano = 1; string name = 2; repeated KeyValue attributes = 3; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue {
    oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4; }
  }
`,
  )
  .root.lookupType('Request');

const decoded = (body: Buffer): unknown => SCHEMA.toObject(SCHEMA.decode(body), { longs: Number, arrays: true });

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}
interface SentSpan {
  readonly traceId: string | Uint8Array;
  readonly spanId: string | Uint8Array;
  readonly parentSpanId?: string | Uint8Array;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly KeyValue[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

const KINDS = ['internal', 'internal', 'server', 'client'] as const;
const FAILED = 2;

const spansOf = (sent: unknown): ReceivedSpan[] =>
  (sent as Sent).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const about = valuesOf(resource.attributes);
    return scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        service: String(about['service.name']),
        resource: about,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId ?? ''),
        name: span.name,
        kind: KINDS[span.kind] ?? 'internal',
        attributes: valuesOf(span.attributes),
        failed: span.status?.code === FAILED,
        message: span.status?.message ?? '',
      }));
  });

const hex = (id: string | Uint8Array): string => (typeof id === 'string' ? id : Buffer.from(id).toString('hex'));

const valuesOf = (attributes: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
