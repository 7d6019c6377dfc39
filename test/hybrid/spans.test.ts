import { expect } from 'chai';
import { administration, type Administration } from '../support/administration.js';
import { startCollector, type Collector, type ReceivedSpan } from '../support/collector.js';
import { startAgent, type TestAgent } from '../support/joined-agent.js';
import { startHybrid } from '../support/hybrid.js';
import { aContract } from '../support/samples.js';
import type { TestServer } from '../support/server.js';

const CLIENT = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' } as const;
const traceparent = (flags: '00' | '01', traceId: string = CLIENT.traceId) => ({
  headers: { traceparent: `00-${traceId}-${CLIENT.spanId}-${flags}` },
});

for (const [accessMode, protocol] of [
  ['outbound', 'http/protobuf'],
  ['direct', 'http/json'],
] as const)
  describe(`spans of a server and an agent (${accessMode}, ${protocol})`, () => {
    let collector: Collector;
    let server: TestServer;
    let org: Administration;
    let agent: TestAgent;

    before(async () => {
      collector = await startCollector();
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_BSP_SCHEDULE_DELAY: '20',
      };
      server = await startHybrid({ env: { ...env, OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' } });
      org = await administration(server);
      agent = await startAgent(server, org.tenant.id, { accessMode, env });
    });
    after(async () => {
      await agent?.stop();
      await server?.stop();
      await collector?.stop();
    });

    /** The spans of a trace, once there are as many. */
    const traceOf = (traceId: string, count: number) => collector.get((span) => span.traceId === traceId, count);
    /** The trace of the last request in the log of the server. */
    const lastTrace = (): string => String(server.logged.findLast(({ msg }) => msg === 'request')?.['traceId']);
    const shape = ({ service, kind, name, failed, parentSpanId }: ReceivedSpan, all: readonly ReceivedSpan[]) => ({
      service,
      kind,
      name,
      failed,
      below: all.find(({ spanId }) => spanId === parentSpanId)?.service ?? parentSpanId,
    });
    const shapes = (spans: readonly ReceivedSpan[]) => spans.map((span) => shape(span, spans));

    it('are one trace: the request, the call to the agent, the operation of the agent', async () => {
      const contract = aContract({ subjectId: org.subjectId, ownerId: org.owner.id });
      expect((await org.asOwner.post('/contracts', contract)).status).to.equal(201);
      const traceId = lastTrace();
      // Without the delivery that the change causes.
      const isOfIt = (span: ReceivedSpan) => span.traceId === traceId && /createContract|POST/.test(span.name);
      const spans = await collector.get(isOfIt, 3);
      expect(shapes(spans)).to.have.deep.members([
        { service: 'duebook-server', kind: 'server', name: 'POST /contracts', failed: false, below: '' },
        {
          service: 'duebook-server',
          kind: 'client',
          name: 'createContract',
          failed: false,
          below: 'duebook-server',
        },
        { service: 'duebook-agent', kind: 'server', name: 'createContract', failed: false, below: 'duebook-server' },
      ]);
      const [request, call, operation] = ['POST /contracts', 'createContract', 'createContract'].map((name, at) =>
        spans.find((span) => span.name === name && at < 2 === (span.service === 'duebook-server')),
      );
      expect(call?.parentSpanId).to.equal(request?.spanId);
      expect(operation?.parentSpanId).to.equal(call?.spanId);
      const requestId = server.logged.findLast(({ msg }) => msg === 'request')?.['requestId'];
      const about = { 'duebook.tenant.id': org.tenant.id, 'duebook.request.id': requestId };
      expect(request?.attributes).to.deep.equal({
        'http.request.method': 'POST',
        'http.route': '/contracts',
        'http.response.status_code': 201,
        ...about,
      });
      const done = { 'duebook.operation': 'createContract', 'duebook.outcome': 'ok', ...about };
      expect([call?.attributes, operation?.attributes]).to.deep.equal([done, done]);
      expect(operation?.resource).to.include.keys('service.version', 'service.instance.id', 'telemetry.sdk.name');
      expect(collector.requests[0]?.path).to.equal('/v1/traces');
    });

    it('are below the span of the client that names one, and its trace is in both logs', async () => {
      const answer = await org.asOwner.get('/contracts', traceparent('01'));
      expect(answer.status).to.equal(200);
      expect([...answer.headers.keys()].filter((name) => name.startsWith('trace'))).to.deep.equal([]);
      const spans = await traceOf(CLIENT.traceId, 3);
      expect(spans.map(({ name }) => name)).to.have.members(['GET /contracts', 'listContracts', 'listContracts']);
      expect(spans.find(({ name }) => name === 'GET /contracts')?.parentSpanId).to.equal(CLIENT.spanId);
      expect(lastTrace()).to.equal(CLIENT.traceId);
    });

    it('are not recorded if the client says that its trace is not', async () => {
      const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
      expect((await org.asOwner.get('/contracts', traceparent('00', traceId))).status).to.equal(200);
      expect(lastTrace()).to.equal(traceId);
      // What came after it has arrived.
      expect((await org.asOwner.get('/contracts')).status).to.equal(200);
      await traceOf(lastTrace(), 3);
      expect(collector.spans.filter((span) => span.traceId === traceId)).to.deep.equal([]);
    });

    it('name the code of a refusal, which is no failure', async () => {
      const unknown = '01890000-0000-7000-8000-000000000000';
      expect((await org.asOwner.get(`/contracts/${unknown}`)).status).to.equal(404);
      const spans = await traceOf(lastTrace(), 3);
      expect(spans.map(({ name, failed }) => [name, failed])).to.have.deep.members([
        ['GET /contracts/:id', false],
        ['getContract', false],
        ['getContract', false],
      ]);
      expect(
        spans.filter(({ name }) => name === 'getContract').map(({ attributes }) => attributes['duebook.outcome']),
      ).to.deep.equal(['NOT_FOUND', 'NOT_FOUND']);
      expect(JSON.stringify(spans)).not.to.contain(unknown);
    });

    it('are failed where the agent is away', async () => {
      await agent.halt();
      try {
        expect((await org.asOwner.get('/contracts')).status).to.equal(503);
        const spans = await collector.get(({ traceId, failed }) => traceId === lastTrace() && failed, 2);
        const request = spans.find(({ name }) => name === 'GET /contracts');
        expect(request?.attributes).to.include({ 'http.response.status_code': 503, 'error.type': '503' });
        expect(spans.filter(({ kind }) => kind === 'client').map(({ message }) => message)[0]).to.equal('');
        expect(spans.find(({ kind }) => kind === 'client')?.attributes).to.include({ 'error.type': 'TransportError' });
      } finally {
        await agent.start();
      }
    });

    it('are begun by scheduled work too', async () => {
      await server.schedules.run('direct-agents');
      const [job] = await collector.get(({ name }) => name === 'job direct-agents');
      expect(job).to.include({ kind: 'internal', parentSpanId: '', failed: false, service: 'duebook-server' });
      expect(job?.attributes).to.deep.equal({ 'duebook.job': 'direct-agents' });
    });
  });
