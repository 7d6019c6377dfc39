import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { createLifecycle, type ProcessLike } from '../../data-plane-agent/base/lifecycle.js';
import { createLog } from '../../data-plane-agent/base/log.js';

function started(limitMs?: number) {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    name: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const lifecycle = createLifecycle(limitMs === undefined ? { log } : { log, limitMs });
  return { lifecycle, lines };
}

function fakeProcess() {
  const events = new EventEmitter();
  let exited: (code: number) => void = () => undefined;
  const exitCode = new Promise<number>((resolve) => {
    exited = resolve;
  });
  const process: ProcessLike = { on: (event, listener) => events.on(event, listener), exit: (code) => exited(code) };
  return { process, events, exitCode };
}

describe('the lifecycle', () => {
  it('goes from starting through ready and draining to stopped', async () => {
    const { lifecycle } = started();
    expect(lifecycle.state).to.equal('starting');
    lifecycle.ready();
    expect(lifecycle.state).to.equal('ready');
    const stopped = lifecycle.stop('test');
    expect(lifecycle.state).to.equal('draining');
    expect(() => lifecycle.ready()).to.throw('draining');
    expect(await stopped).to.equal(0);
    expect(lifecycle.state).to.equal('stopped');
    expect(() => lifecycle.onStop('late', 'work', () => undefined)).to.throw('late');
  });

  it('stops phase by phase, within a phase one after the other, the last registered first', async () => {
    const { lifecycle } = started();
    const order: string[] = [];
    const step = (name: string) => async () => {
      order.push(`${name} begins`);
      await new Promise(setImmediate);
      order.push(`${name} ends`);
    };
    lifecycle.onStop('database', 'databases', step('database'));
    lifecycle.onStop('schedules', 'work', step('schedules'));
    lifecycle.onStop('outbox', 'work', step('outbox'));
    lifecycle.onStop('links', 'links', step('links'));
    lifecycle.onStop('http', 'server', step('http'));
    lifecycle.onStop('readiness', 'drain', step('readiness'));
    expect(await lifecycle.stop('test')).to.equal(0);
    const names = ['readiness', 'http', 'outbox', 'schedules', 'links', 'database'];
    expect(order).to.deep.equal(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('stops once, however often and from wherever stop is called', async () => {
    const { lifecycle } = started();
    let calls = 0;
    let inner: Promise<number> | undefined;
    let serverClosed = false;
    lifecycle.onStop('asks again', 'server', async () => {
      calls += 1;
      inner = lifecycle.stop('from a handler');
      await new Promise(setImmediate);
      serverClosed = true;
    });
    lifecycle.onStop('database', 'databases', () => {
      if (!serverClosed) throw new Error('closed under a running server');
    });
    expect(await Promise.all([lifecycle.stop('one'), lifecycle.stop('two')])).to.deep.equal([0, 0]);
    expect(await inner).to.equal(0);
    expect(await lifecycle.stop('three')).to.equal(0);
    expect(calls).to.equal(1);
  });

  it('runs handlers that are registered during the stop', async () => {
    const { lifecycle } = started();
    const stopped: string[] = [];
    lifecycle.onStop('server', 'server', () =>
      lifecycle.onStop('opened late', 'databases', () => void stopped.push('opened late')),
    );
    await lifecycle.stop('test');
    expect(stopped).to.deep.equal(['opened late']);
  });

  it('logs a failing handler, runs the others, and sets the exit code', async () => {
    const { lifecycle, lines } = started();
    const stopped: string[] = [];
    lifecycle.onStop('throws', 'server', () => {
      throw new Error('sync fault');
    });
    lifecycle.onStop('rejects', 'work', () => Promise.reject(new Error('async fault')));
    lifecycle.onStop('database', 'databases', () => void stopped.push('database'));
    expect(await lifecycle.stop('test')).to.equal(1);
    expect(stopped).to.deep.equal(['database']);
    expect(lines.join('')).to.include('sync fault').and.to.include('async fault');
  });

  it('waits for a hanging handler only until its limit, and still runs the following ones', async () => {
    const { lifecycle, lines } = started(20);
    const stopped: string[] = [];
    lifecycle.onStop('hangs', 'server', () => new Promise(() => undefined));
    lifecycle.onStop('database', 'databases', () => void stopped.push('database'));
    expect(await lifecycle.stop('test')).to.equal(1);
    expect(stopped).to.deep.equal(['database']);
    expect(lines.join('')).to.include('"handler":"hangs"').and.to.include('did not end in time');
  });

  for (const signal of ['SIGTERM', 'SIGINT']) {
    it(`stops and exits 0 on ${signal}, also when it is sent twice`, async () => {
      const { lifecycle } = started();
      const { process, events, exitCode } = fakeProcess();
      const stopped: string[] = [];
      lifecycle.onStop('server', 'server', () => void stopped.push('server'));
      lifecycle.listen(process);
      events.emit(signal);
      events.emit(signal);
      expect(await exitCode).to.equal(0);
      expect(stopped).to.deep.equal(['server']);
    });
  }

  for (const event of ['uncaughtException', 'unhandledRejection']) {
    it(`logs, stops and exits 1 on ${event}, also during a regular stop`, async () => {
      const { lifecycle, lines } = started();
      const { process, events, exitCode } = fakeProcess();
      lifecycle.onStop('server', 'server', () => void events.emit(event, new Error('nobody caught me')));
      lifecycle.listen(process);
      events.emit('SIGTERM');
      expect(await exitCode).to.equal(1);
      expect(lines.some((line) => line.includes('"level":60') && line.includes('nobody caught me'))).to.equal(true);
    });
  }
});
