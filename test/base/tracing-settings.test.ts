import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAgentConfig } from '../../data-plane-agent/agent/config.js';
import { describeConfig } from '../../data-plane-agent/base/config.js';
import { tracingOf } from '../../data-plane-agent/base/tracing/settings.js';
import { readServerConfig, SETTINGS } from '../../server/config.js';
import { LOCAL_CERTIFICATE } from '../support/certificate.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const options = (env: NodeJS.ProcessEnv) => {
  const result = readServerConfig(env);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return tracingOf(result.values);
};
const otlp = (env: NodeJS.ProcessEnv) => {
  const exporter = options({ ...ENDPOINT, ...env })?.exporter;
  return exporter?.kind === 'otlp' ? exporter : undefined;
};
const faultsOf = (env: NodeJS.ProcessEnv) => {
  const [server, agent] = [readServerConfig(env), readAgentConfig(env)];
  if (server.ok || agent.ok) return [];
  expect(agent.faults).to.deep.equal(server.faults);
  return server.faults.map(({ name, problem }) => `${name} ${problem}`);
};

describe('the settings of traces', () => {
  it('record nothing unless there is an exporter or an endpoint, and it is not switched off', () => {
    expect(options({})).to.equal(undefined);
    expect(options({ OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'x' })).to.equal(undefined);
    expect(options({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).to.equal(undefined);
    expect(options({ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' })).to.equal(undefined);
    expect(options({ OTEL_TRACES_EXPORTER: 'console', OTEL_SDK_DISABLED: 'true' })).to.equal(undefined);
    expect(options({ OTEL_TRACES_EXPORTER: 'console' })?.exporter).to.deep.equal({ kind: 'console' });
    expect(options({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'console' })?.exporter).to.deep.equal({ kind: 'console' });
  });

  it('have the defaults of the specification', () => {
    expect(options({ OTEL_TRACES_EXPORTER: 'otlp' })).to.deep.equal({
      exporter: {
        kind: 'otlp',
        url: 'http://localhost:4318/v1/traces',
        format: 'protobuf',
        headers: {},
        timeoutMs: 10_000,
        compression: 'none',
        ca: undefined,
      },
      sampler: { name: 'parentbased_always_on', ratio: 1 },
      serviceName: undefined,
      resource: {},
      batches: { delayMs: 5_000, timeoutMs: 30_000, queueSize: 2_048, batchSize: 512 },
    });
  });

  it('have an endpoint for all signals, below which spans go, and one for spans alone', () => {
    expect(otlp({})?.url).to.equal('http://collector:4318/v1/traces');
    expect(otlp({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example/otel/' })?.url).to.equal(
      'https://c.example/otel/v1/traces',
    );
    expect(otlp({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t:1/spans' })?.url).to.equal('http://t:1/spans');
  });

  it('let those for spans alone go before those for all signals', () => {
    const general = {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi,x-one=1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
    };
    expect(
      otlp({
        ...general,
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'X-One=2',
        OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '500',
        OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
      }),
    ).to.deep.equal({
      kind: 'otlp',
      url: 'http://collector:4318/v1/traces',
      format: 'json',
      headers: { authorization: 'Basic YTpi', 'x-one': '2' },
      timeoutMs: 500,
      compression: 'gzip',
      ca: undefined,
    });
  });

  it('name the program, by its own variable before that of the resource', () => {
    const resource = { ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,deployment.environment.name=the%20test' };
    expect(options(resource)).to.deep.include({
      serviceName: 'a',
      resource: { 'deployment.environment.name': 'the test' },
    });
    expect(options({ ...resource, OTEL_SERVICE_NAME: 'b' })?.serviceName).to.equal('b');
  });

  it('report all faults of server and agent, with the names of their settings and no value that may be secret', () => {
    expect(
      faultsOf({
        OTEL_SDK_DISABLED: 'yes',
        OTEL_TRACES_EXPORTER: 'zipkin',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
        OTEL_EXPORTER_OTLP_HEADERS: 'Bearer of-a-secret',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=two%0D%0Alines',
        OTEL_EXPORTER_OTLP_TIMEOUT: '10s',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'br',
        OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere/ca.pem',
        OTEL_RESOURCE_ATTRIBUTES: 'a=%ZZ',
        OTEL_TRACES_SAMPLER: 'jaeger_remote',
        OTEL_TRACES_SAMPLER_ARG: '1.5',
        OTEL_PROPAGATORS: 'b3',
        OTEL_BSP_SCHEDULE_DELAY: '0',
      }),
    ).to.deep.equal([
      'OTEL_SDK_DISABLED must be true or false, not "yes"',
      'OTEL_TRACES_EXPORTER must be one of otlp, console, none, not "zipkin"',
      'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with http: or https:',
      'OTEL_EXPORTER_OTLP_HEADERS must be name=value,name=value with percent-encoded values',
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS must be name=value,name=value with percent-encoded values',
      'OTEL_EXPORTER_OTLP_TIMEOUT must be an integer from 1 to 600000, not "10s"',
      'OTEL_EXPORTER_OTLP_COMPRESSION must be one of none, gzip, not "br"',
      'OTEL_EXPORTER_OTLP_CERTIFICATE names a file that cannot be read (ENOENT)',
      'OTEL_RESOURCE_ATTRIBUTES must be name=value,name=value with percent-encoded values',
      'OTEL_TRACES_SAMPLER must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio, not "jaeger_remote"',
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1',
      'OTEL_PROPAGATORS must be tracecontext, with or without baggage: other formats are not supported',
      'OTEL_BSP_SCHEDULE_DELAY must be an integer from 1 to 600000, not "0"',
    ]);
  });

  it('refuse grpc by the name of the setting that says it, if spans are sent', () => {
    const problem =
      'is grpc, which is not supported: set it to http/protobuf or http/json, and the endpoint to the port of the collector for HTTP, usually 4318';
    expect(faultsOf({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).to.deep.equal([
      `OTEL_EXPORTER_OTLP_PROTOCOL ${problem}`,
    ]);
    expect(faultsOf({ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' })).to.deep.equal([
      `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ${problem}`,
    ]);
    expect(options({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).to.equal(undefined);
  });

  it('refuse batches that are larger than the queue', () => {
    expect(faultsOf({ OTEL_BSP_MAX_QUEUE_SIZE: '100' })).to.deep.equal([
      'OTEL_BSP_MAX_EXPORT_BATCH_SIZE must not be greater than OTEL_BSP_MAX_QUEUE_SIZE',
    ]);
  });

  it('read the certificates that are trusted, and refuse a file that has none', () => {
    const folder = mkdtempSync(join(tmpdir(), 'duebook-ca-'));
    try {
      const [good, bad] = [join(folder, 'ca.pem'), join(folder, 'key.pem')];
      writeFileSync(good, LOCAL_CERTIFICATE);
      writeFileSync(bad, 'no certificate');
      expect(otlp({ OTEL_EXPORTER_OTLP_CERTIFICATE: good })?.ca).to.equal(LOCAL_CERTIFICATE);
      expect(faultsOf({ OTEL_EXPORTER_OTLP_CERTIFICATE: bad })).to.deep.equal([
        'OTEL_EXPORTER_OTLP_CERTIFICATE names a file that has no certificate in PEM',
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('never show headers', () => {
    const result = readServerConfig({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=of-a-secret',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=of-a-secret',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://user:of-a-secret@collector:4318/',
    });
    if (!result.ok) throw new Error(JSON.stringify(result.faults));
    const shown = describeConfig(SETTINGS, result);
    expect(shown.find(({ name }) => name === 'OTEL_EXPORTER_OTLP_HEADERS')?.value).to.equal('••••');
    expect(JSON.stringify(shown)).not.to.contain('of-a-secret');
  });
});
