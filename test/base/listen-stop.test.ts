import { expect } from 'chai';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../data-plane-agent/base/http/listen.js';

describe('a listening socket that stops', () => {
  it('answers what runs, and says with it that the connection closes', async () => {
    const waiting: ServerResponse[] = [];
    const { port, stop } = await listen(
      (request, answer) => {
        if (request.url === '/slow') waiting.push(answer);
        else answer.end('done');
      },
      { host: '127.0.0.1', port: 0 },
    );
    const agent = new Agent({ keepAlive: true });
    const answerTo = async (path: string): Promise<IncomingMessage> => {
      const [answer] = (await once(get({ host: '127.0.0.1', port, path, agent }), 'response')) as [IncomingMessage];
      answer.resume();
      await once(answer, 'end');
      return answer;
    };
    try {
      expect((await answerTo('/')).headers.connection).to.equal('keep-alive');
      const slow = answerTo('/slow');
      while (waiting.length === 0) await new Promise(setImmediate);
      const stopped = stop();
      waiting[0]?.end('done');
      expect((await slow).headers.connection).to.equal('close');
      await stopped;
    } finally {
      agent.destroy();
    }
  });
});
