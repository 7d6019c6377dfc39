import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { administration, type Administration } from '../support/administration.js';
import { LOCAL_CERTIFICATE, LOCAL_PRIVATE_KEY } from '../support/certificate.js';
import { startCollector, type Collector } from '../support/collector.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { aContract } from '../support/samples.js';
import { startServer, type TestServer } from '../support/server.js';
import { until } from '../support/joined-agent.js';

const SOON = { OTEL_BSP_SCHEDULE_DELAY: '20' } as const;
const HEADERS = 'authorization=Bearer%20of-a-collector';

describe('spans of a server that stores contract data itself', () => {
  let collector: Collector;
  let receiver: Receiver;
  let server: TestServer;
  let org: Administration;

  before(async () => {
    collector = await startCollector();
    receiver = await startReceiver();
    server = await startServer({
      env: {
        ...SOON,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: HEADERS,
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%20test',
        OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8',
      },
    });
    org = await administration(server);
  });
  after(async () => {
    await server?.stop();
    await receiver?.stop();
    await collector?.stop();
  });

  const lastRequest = () => server.logged.findLast(({ msg }) => msg === 'request') ?? {};

  it('are the request and the operation below it, sent with the headers and the resource of the settings', async () => {
    const made = await org.asOwner.post('/contracts', aContract({ subjectId: org.subjectId, ownerId: org.owner.id }));
    expect(made.status).to.equal(201);
    const { traceId } = lastRequest();
    expect(traceId).to.match(/^[0-9a-f]{32}$/);
    const [request] = await collector.get((span) => span.traceId === traceId && span.kind === 'server');
    const [operation] = await collector.get((span) => span.traceId === traceId && span.name === 'createContract');
    expect(request).to.include({ name: 'POST /contracts', parentSpanId: '', failed: false });
    expect(operation).to.include({ kind: 'internal', parentSpanId: request?.spanId, failed: false });
    expect(operation?.attributes).to.include({ 'duebook.outcome': 'ok', 'duebook.tenant.id': org.tenant.id });
    expect(request?.resource).to.include({
      'service.name': 'duebook-server',
      'deployment.environment.name': 'a test',
    });
    const { headers } = collector.requests[0] ?? {};
    expect(headers).to.include({
      authorization: 'Bearer of-a-collector',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    });
  });

  it('have neither the path nor the query, whatever a client asks for', async () => {
    await server.client.get('/nothing/secret-of-a-path?token=secret-of-a-query');
    const { traceId } = lastRequest();
    const spans = await collector.get((span) => span.traceId === traceId);
    expect(spans.map(({ name, failed }) => [name, failed])).to.deep.equal([['GET', false]]);
    expect(spans[0]?.attributes).to.have.keys('http.request.method', 'http.response.status_code', 'duebook.request.id');
    expect(JSON.stringify(collector.spans)).not.to.contain('secret-of');
  });

  it('include requests to other services, which are not told the trace, and not where a member sends notices', async () => {
    const channel = { kind: 'webhook', name: 'Accounting', target: `${receiver.url}/path-of-a-tenant` };
    const made = await org.asOwner.post<{ id: string }>('/tenant-admin/notification-channels', channel);
    expect(made.status, made.text).to.equal(201);
    const tested = await org.asOwner.post(`/tenant-admin/notification-channels/${made.body.id}/test`, {});
    expect(tested.status, tested.text).to.equal(200);
    const { traceId } = lastRequest();
    const [call] = await collector.get((span) => span.traceId === traceId && span.kind === 'client');
    expect(call).to.include({ name: 'POST', failed: false });
    expect(call?.attributes).to.deep.equal({ 'http.request.method': 'POST', 'http.response.status_code': 200 });
    expect(receiver.requests).to.have.length(1);
    expect(receiver.requests[0]?.headers).not.to.have.any.keys('traceparent', 'tracestate', 'baggage');
  });
});

describe('spans that are lines of the log', () => {
  it('have the same facts', async () => {
    const server = await startServer({ env: { ...SOON, OTEL_TRACES_EXPORTER: 'console' } });
    try {
      await server.client.get('/health');
      const isIt = (line: Record<string, unknown>) => line['msg'] === 'span' && line['span'] === 'GET /health';
      await until(() => Promise.resolve(server.logged.some(isIt)), 'the span is in the log');
      const request = server.logged.find(({ msg }) => msg === 'request');
      expect(server.logged.find(isIt)).to.deep.include({
        traceId: request?.['traceId'],
        parentSpanId: null,
        kind: 'server',
        failed: false,
      });
    } finally {
      await server.stop();
    }
  });
});

describe('a collector with a certificate of its own authority', () => {
  it('gets spans over https if it is trusted, and none if it is not', async () => {
    const collector = await startCollector({ tls: { cert: LOCAL_CERTIFICATE, key: LOCAL_PRIVATE_KEY } });
    const folder = mkdtempSync(join(tmpdir(), 'duebook-collector-'));
    const file = join(folder, 'ca.pem');
    writeFileSync(file, LOCAL_CERTIFICATE);
    const env = { ...SOON, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    let trusting: TestServer | undefined;
    const wary = await startServer({ env });
    try {
      await wary.client.get('/health');
      await until(
        () => Promise.resolve(wary.logged.some(({ msg }) => msg === 'spans were not sent')),
        'the log says that the certificate is not trusted',
      );
      expect(wary.logged.find(({ msg }) => msg === 'spans were not sent')?.['reason']).to.contain('SELF_SIGNED');
      expect(collector.requests).to.deep.equal([]);
      // Only now, because its scheduled jobs are spans as well.
      trusting = await startServer({ env: { ...env, OTEL_EXPORTER_OTLP_CERTIFICATE: file } });
      await trusting.client.get('/health');
      await collector.get(({ name }) => name === 'GET /health');
    } finally {
      await wary.stop();
      await trusting?.stop();
      await collector.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('the sampler', () => {
  it('records no trace of which it says so, and the log has its id nevertheless', async () => {
    const collector = await startCollector();
    const env = { ...SOON, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const server = await startServer({
      env: { ...env, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    });
    try {
      const sampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      await server.client.get('/health');
      await server.client.get('/health', { headers: { traceparent: sampled } });
      await collector.get(({ name }) => name === 'GET /health');
      expect(collector.spans.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).to.deep.equal([
        ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'],
      ]);
      const [first] = server.logged.filter(({ msg }) => msg === 'request');
      expect(first?.['traceId']).to.match(/^[0-9a-f]{32}$/);
    } finally {
      await server.stop();
      await collector.stop();
    }
  });
});

describe('a collector that is not there for spans', () => {
  let collector: Collector;
  beforeEach(async () => {
    collector = await startCollector();
  });
  afterEach(() => collector.stop());

  const serverWith = (env: Readonly<Record<string, string>>) =>
    startServer({ env: { ...SOON, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env } });
  const about = ({ logged }: TestServer) =>
    logged.filter(({ msg }) => /span|OpenTelemetry/.test(String(msg))).map(({ msg, reason }) => [msg, reason]);

  it('is in the log once when it refuses them, without what it says, and once when it takes them again', async () => {
    collector.behave('refuse');
    const server = await serverWith({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=bearer-of-the-test' });
    try {
      for (let sent = 1; sent <= 3; sent++) {
        expect((await server.client.get('/health')).status).to.equal(200);
        await until(() => Promise.resolve(collector.requests.length >= sent), 'another batch has arrived');
      }
      expect(about(server)).to.deep.equal([['spans were not sent', '400']]);
      collector.behave('accept');
      await server.client.get('/health');
      await until(() => Promise.resolve(about(server).length === 2), 'the log says that it works again');
      expect(about(server)[1]?.[0]).to.equal('spans are sent again');
      expect(server.logged.find(({ msg }) => msg === 'spans are sent again')?.['lost']).to.be.at.least(3);
      expect(JSON.stringify(server.logged)).not.to.contain('bearer-of-the-test');
    } finally {
      await server.stop();
    }
  });

  it('costs requests nothing while it hangs, drops spans above the queue, and delays the stop by three seconds', async () => {
    collector.behave('hang');
    const server = await serverWith({
      // Longer than the stop waits, and short enough that no attempt outlives the test.
      OTEL_EXPORTER_OTLP_TIMEOUT: '4000',
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '5',
    });
    await server.client.get('/health');
    await until(() => Promise.resolve(collector.requests.length > 0), 'the first batch hangs');
    for (let sent = 0; sent < 40; sent++) expect((await server.client.get('/health')).status).to.equal(200);
    const began = performance.now();
    await server.stop();
    const took = performance.now() - began;
    expect(took).to.be.within(2_900, 8_000);
    // The one that hangs, and those that were queued: not the 41 spans.
    expect(collector.requests.length).to.be.at.most(4);
    expect(about(server).map(([msg]) => msg)).to.include('the last spans were not sent before the stop');
  });

  it('is in the log when nothing listens at its address', async () => {
    await collector.stop();
    const server = await serverWith({ OTEL_EXPORTER_OTLP_TIMEOUT: '300' });
    try {
      await server.client.get('/health');
      await until(() => Promise.resolve(about(server).length > 0), 'the log says so', { ms: 20_000 });
      await server.client.get('/health');
      await sleep(500);
      expect(about(server)).to.deep.equal([['spans were not sent', 'ECONNREFUSED']]);
    } finally {
      await server.stop();
    }
  });

  it('gets what is left when the server stops', async () => {
    const server = await serverWith({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
    await server.client.get('/health');
    expect(collector.spans).to.deep.equal([]);
    await server.stop();
    expect(collector.spans.map(({ name }) => name)).to.include('GET /health');
  });
});
