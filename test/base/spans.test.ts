import { expect } from 'chai';
import { CallEnded } from '../../data-plane-agent/base/deadline.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { currentTrace, traceHeader, traceOf, withTrace, type Trace } from '../../data-plane-agent/base/trace.js';
import { tracedOutbound } from '../../data-plane-agent/base/tracing/outbound.js';
import { diagnosticsInLog, reportExports } from '../../data-plane-agent/base/tracing/reporting.js';
import {
  inFirstSpan,
  inSpan,
  type Span,
  type SpanStart,
  type Tracer,
} from '../../data-plane-agent/base/tracing/spans.js';
import { OutboundError } from '../../data-plane-agent/base/outbound.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { fakeClock } from '../support/clock.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLIENT = traceOf(`00-${TRACE}-b7ad6b7169203331-01`);
const WORK: SpanStart = { name: 'work', kind: 'internal' };

interface Recorded {
  name: string;
  readonly parent: string | undefined;
  readonly facts: Record<string, unknown>;
  failed: string | undefined;
  ended: number;
}

/** A tracer that keeps its spans. */
function recorder(): { readonly tracer: Tracer; readonly spans: readonly Recorded[] } {
  const spans: Recorded[] = [];
  const begin = ({ name, facts }: SpanStart, parent?: Trace): Span => {
    const record: Recorded = { name, parent: parent?.traceparent, facts: { ...facts }, failed: undefined, ended: 0 };
    spans.push(record);
    const span: Span = {
      traceId: parent?.traceId ?? 'f'.repeat(32),
      traceparent: `span ${spans.length}`,
      begin: (start) => begin(start, span),
      rename: (to) => void (record.name = to),
      add: (more) => void Object.assign(record.facts, more),
      fail: (type) => void (record.failed = type),
      end: () => void record.ended++,
    };
    return span;
  };
  return { tracer: { begin }, spans };
}

const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('spans', () => {
  it('are none outside a span: the work is only run, and its promise is returned as it is', () => {
    const promise = Promise.resolve(1);
    expect(inSpan(WORK, () => promise)).to.equal(promise);
    expect(withTrace(CLIENT, () => inSpan(WORK, () => promise))).to.equal(promise);
    expect(inFirstSpan(undefined, { ...WORK, parent: CLIENT }, () => promise)).to.equal(promise);
  });

  it('leave the work in the trace of the parent where no spans are recorded', async () => {
    const seen = await inFirstSpan(undefined, { ...WORK, parent: CLIENT }, () => Promise.resolve(currentTrace()));
    expect(seen).to.equal(CLIENT);
  });

  it('are below the one that is current, which is also what is passed on', async () => {
    const { tracer, spans } = recorder();
    const sent = await inFirstSpan(tracer, { ...WORK, parent: CLIENT }, () =>
      inSpan({ name: 'part', kind: 'client' }, () => Promise.resolve(traceHeader())),
    );
    expect(sent).to.deep.equal({ traceparent: 'span 2' });
    expect(spans.map(({ name, parent, ended }) => [name, parent, ended])).to.deep.equal([
      ['work', CLIENT?.traceparent, 1],
      ['part', 'span 1', 1],
    ]);
    expect(traceHeader()).to.deep.equal({});
  });

  it('begin a trace where none is, if a tracer is given', async () => {
    const { tracer, spans } = recorder();
    await inSpan(WORK, () => Promise.resolve(), tracer);
    await withTrace(CLIENT, () => inSpan(WORK, () => Promise.resolve(), tracer));
    expect(spans.map(({ parent }) => parent)).to.deep.equal([undefined, CLIENT?.traceparent]);
  });

  const ENDINGS: readonly (readonly [what: string, error: unknown, outcome: string, failed: boolean])[] = [
    ['a refusal', fail('NOT_FOUND', {}), 'NOT_FOUND', false],
    [
      'a failure of the service',
      fail('DATA_PLANE_UNAVAILABLE', { retryAfterSeconds: 5 }),
      'DATA_PLANE_UNAVAILABLE',
      true,
    ],
    ['a deadline', new CallEnded('timeout'), 'timeout', true],
    ['a client that has gone', new CallEnded('disconnected'), 'disconnected', false],
    ['an error with a code', new OutboundError('UNREACHABLE', 'secret'), 'UNREACHABLE', true],
    ['an error of a class', new TypeError('secret'), 'TypeError', true],
    ['an error whose code is a text', Object.assign(new Error('secret'), { code: 'a secret text' }), 'Error', true],
    ['something else', 'secret', 'Error', true],
  ];
  for (const [what, error, outcome, isFailed] of ENDINGS)
    it(`end with the code or the class of ${what}, and never its text`, async () => {
      const { tracer, spans } = recorder();
      expect(await caught(inFirstSpan(tracer, WORK, () => Promise.reject(error as Error)))).to.equal(error);
      expect(spans[0]).to.deep.include({ ended: 1, failed: isFailed ? outcome : undefined });
      expect(JSON.stringify(spans)).to.contain(`"${outcome}"`).and.not.to.contain('secret');
    });

  it('of requests to others name the host only where it is of a setting, and fail from 400 on', async () => {
    const outbound = {
      refusalOf: () => undefined,
      request: () => Promise.resolve({ status: 404, headers: new Headers(), body: Buffer.alloc(0) }),
    };
    const url = 'https://user:secret@a.example/secret?secret';
    const { tracer, spans } = recorder();
    await inFirstSpan(tracer, WORK, async () => {
      await tracedOutbound(outbound, { namesHost: true }).request({ url });
      await tracedOutbound(outbound, { namesHost: false }).request({ url, method: 'POST' });
    });
    expect(spans.slice(1).map(({ name, facts, failed }) => [name, facts, failed])).to.deep.equal([
      [
        'GET',
        {
          'http.request.method': 'GET',
          'server.address': 'a.example',
          'server.port': 443,
          'http.response.status_code': 404,
        },
        '404',
      ],
      ['POST', { 'http.request.method': 'POST', 'http.response.status_code': 404 }, '404'],
    ]);
  });
});

describe('what the log says of the sending of spans', () => {
  const logged: Record<string, unknown>[] = [];
  const log = createLog({
    level: 'info',
    name: 'test',
    destination: { write: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const clock = fakeClock();
  beforeEach(() => logged.splice(0));
  const lines = () => logged.map(({ msg, lost, reason, message }) => [msg, lost ?? message, reason]);

  it('is one line at first, one every ten minutes, and one when it works again', () => {
    const report = reportExports({ clock, log });
    report.accepted();
    for (let minute = 0; minute < 25; minute++) {
      report.lost(10, Object.assign(new Error('secret'), { code: 503 }));
      clock.advance(60_000);
    }
    report.accepted();
    report.accepted();
    expect(lines()).to.deep.equal([
      ['spans were not sent', 10, '503'],
      ['spans were not sent', 110, '503'],
      ['spans were not sent', 210, '503'],
      ['spans are sent again', 250, undefined],
    ]);
  });

  it('is the sentence of what OpenTelemetry reports, without what follows it, each kind once in ten minutes', () => {
    const { warn, error, debug } = diagnosticsInLog({ clock, log });
    warn('Dropped 12 spans because maxQueueSize reached');
    warn('Dropped 345 spans because maxQueueSize reached');
    warn('OTLPExportDelegate', 'Received Partial Success response:', 'secret');
    error(JSON.stringify({ stack: 'Error: Timeout\n    at secret', message: 'Timeout' }));
    debug('items to be sent', 'secret');
    clock.advance(10 * 60_000);
    warn('Dropped 6 spans because maxQueueSize reached');
    expect(lines().map(([msg, message]) => [msg, message])).to.deep.equal(
      [
        'Dropped 12 spans because maxQueueSize reached',
        'Received Partial Success response:',
        'Timeout',
        'Dropped 6 spans because maxQueueSize reached',
      ].map((message) => ['OpenTelemetry reports a problem', message]),
    );
  });
});
