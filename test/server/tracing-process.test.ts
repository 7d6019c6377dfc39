import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startCollector, type Collector } from '../support/collector.js';
import { COMPILE_CACHE, program } from '../support/programs.js';

/** Writes the packages of OpenTelemetry that were loaded, at the end of the process. */
const LOADED = `
  import { createRequire } from 'node:module';
  process.on('exit', () => {
    const files = Object.keys(createRequire('/of-the-test.js').cache);
    const names = files.flatMap((file) => /@opentelemetry[/\\\\]([^/\\\\]+)/.exec(file)?.[1] ?? []);
    process.stderr.write('loaded ' + JSON.stringify([...new Set(names)].sort()) + '\\n');
  });
`;

describe('a process and the collector of its spans', function () {
  this.timeout(180_000); // starts processes
  let home: string;
  let collector: Collector;
  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'duebook-tracing-'));
    collector = await startCollector();
  });
  after(async () => {
    rmSync(home, { recursive: true, force: true });
    await collector?.stop();
  });

  const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    spawn(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(LOADED)}`, ...args], {
      cwd: home,
      env: { PATH: process.env['PATH'], ...COMPILE_CACHE, DATA_DIR: join(home, 'data'), PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const SERVER = [program('server/main.ts')];
  const AGENT = [program('data-plane-agent/agent/main.ts'), 'run'];

  /** Starts it, asks it for something once it listens, stops it with SIGTERM, and returns what it did. */
  async function session(args: readonly string[], env: Readonly<Record<string, string>>) {
    const child = run(args, env);
    const said: Record<string, unknown>[] = [];
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const closed = once(child, 'close');
    let stoppedAt = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const record = JSON.parse(line) as Record<string, unknown>;
      said.push(record);
      if (!String(record['msg']).startsWith('listening on ')) continue;
      const answer = await fetch(`http://127.0.0.1:${String(record['port'])}/api/v1/health`);
      expect(answer.status).to.equal(200);
      stoppedAt = performance.now();
      child.kill('SIGTERM');
    }
    const [code] = (await closed) as [number | null];
    const loaded = JSON.parse(/^loaded (.*)$/m.exec(stderr)?.[1] ?? 'null') as readonly string[] | null;
    return { code, said, stderr, loaded, stopMs: performance.now() - stoppedAt };
  }

  // prom-client loads the API, which alone records nothing.
  const OFF = ['api'];

  it('loads nothing of the SDK without the settings, and exits 0', async () => {
    const { code, loaded, said } = await session(SERVER, {});
    expect([code, loaded]).to.deep.equal([0, OFF]);
    expect(said.filter(({ msg }) => msg === 'request').map(({ traceId }) => traceId)).to.deep.equal([undefined]);
  });

  it('loads nothing of it if it is switched off, whatever else is set', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' };
    const { code, loaded } = await session(SERVER, env);
    expect([code, loaded]).to.deep.equal([0, OFF]);
    expect(collector.requests).to.deep.equal([]);
  });

  it('loads it with an endpoint, and sends the spans before it ends', async () => {
    const { code, loaded, said } = await session(SERVER, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    expect(code).to.equal(0);
    expect(loaded).to.include.members(['sdk-trace', 'exporter-trace-otlp-proto', 'resources']);
    const [span] = collector.spans.filter(({ name }) => name === 'GET /health');
    expect(span?.traceId).to.equal(said.find(({ msg }) => msg === 'request')?.['traceId']);
  });

  it('of an agent is loaded by the same settings', async () => {
    // Ends because it has not joined.
    const env = { DATA_DIR: join(home, 'agent') };
    const off = await session(AGENT, env);
    const on = await session(AGENT, { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    expect([off.code, on.code]).to.deep.equal([1, 1]);
    expect(off.loaded?.filter((name) => name !== 'api')).to.deep.equal([]);
    expect(on.loaded).to.include('sdk-trace');
  });

  it('that hangs delays the end by three seconds, and it is still 0', async () => {
    collector.behave('hang');
    try {
      const { code, stopMs, said } = await session(SERVER, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
      expect(code).to.equal(0);
      expect(stopMs).to.be.within(2_900, 15_000);
      expect(said.map(({ msg }) => msg)).to.include('the last spans were not sent before the stop');
    } finally {
      collector.behave('accept');
    }
  });

  for (const [what, args] of [
    ['server', SERVER],
    ['agent', AGENT],
  ] as const)
    it(`of the ${what} is a fault of the configuration with the others, if it cannot be used`, async () => {
      const child = run(args, {
        PORT: '99999',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_TRACES_SAMPLER_ARG: 'half',
      });
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const [code] = (await once(child, 'close')) as [number | null];
      expect(code).to.equal(78);
      for (const part of [
        'has 3 faults',
        'PORT must',
        'OTEL_TRACES_SAMPLER_ARG must',
        'OTEL_EXPORTER_OTLP_PROTOCOL is grpc',
      ])
        expect(stderr).to.contain(part);
    });
});
