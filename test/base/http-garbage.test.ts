import { expect } from 'chai';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { Worker } from 'node:worker_threads';
import type { Answering, Counted } from '../support/answering-thread.js';
import { program } from '../support/programs.js';

const CONNECTIONS = 64;

describe('the HTTP of a process', () => {
  let thread: Worker;
  let agent: Agent;
  let port: number;
  before(async () => {
    agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    thread = new Worker(program('test/support/answering-thread.ts'), { execArgv: [] });
    [{ port }] = (await once(thread, 'message')) as [Answering];
  });
  after(async () => {
    agent.destroy();
    await thread.terminate();
  });

  const ask = async (): Promise<void> => {
    const [answer] = (await once(get({ host: '127.0.0.1', port, path: '/', agent }), 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
  };
  const askTimes = async (times: number): Promise<void> => {
    let left = times;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (left-- > 0) await ask();
      }),
    );
  };
  const oldBytes = async (): Promise<number> => {
    thread.postMessage('old');
    const [{ oldBytes: bytes }] = (await once(thread, 'message')) as [Counted];
    return bytes;
  };

  it('keeps nothing of a request that is answered', async function () {
    this.timeout(60_000);
    await askTimes(2_000);
    const before = await oldBytes();
    await askTimes(4_000);
    const bytesOfEach = ((await oldBytes()) - before) / 4_000;
    expect(bytesOfEach).to.be.lessThan(1_000);
  });
});
