import { expect } from 'chai';
import { createLifecycle } from '../../data-plane-agent/base/lifecycle.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { stopInOrder } from '../../data-plane-agent/host/stop-in-order.js';

describe('the shutdown of a process that hosts a data plane', () => {
  const ended: string[] = [];
  const end = (what: string) => (): Promise<void> => Promise.resolve(void ended.push(what));
  const lifecycle = () => createLifecycle({ log: createLog({ level: 'silent', name: 'test' }) });
  beforeEach(() => void ended.splice(0));

  it('cancels document readings first, waits for jobs and background work, and closes databases last', async () => {
    const stopping = lifecycle();
    stopInOrder(stopping, {
      hosted: { background: { settled: end('background') }, files: { documents: { close: end('documents') } } },
      schedules: { stop: end('schedules') },
      close: end('databases'),
    });
    expect(await stopping.stop('test')).to.equal(0);
    expect(ended).to.deep.equal(['documents', 'schedules', 'background', 'databases']);
  });

  it('is the same without one', async () => {
    const stopping = lifecycle();
    stopInOrder(stopping, { hosted: undefined, schedules: { stop: end('schedules') }, close: end('databases') });
    await stopping.stop('test');
    expect(ended).to.deep.equal(['schedules', 'databases']);
  });
});
