import { expect } from 'chai';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import type { Database } from '../../data-plane-agent/base/database/database.js';
import { createLog } from '../../data-plane-agent/base/log.js';
import { createDirectAgents } from '../../server/data-planes/link/direct-agents.js';
import type { LinkedConnection } from '../../server/store/linked-connections.js';

describe('an agent that is not reached at its endpoint', () => {
  it('is a warning in the log for each new reason, with the cause', async () => {
    const lines: { level: number; connectionId: string; err: { message: string } }[] = [];
    const log = createLog({
      level: 'debug',
      name: 'test',
      destination: { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
    });
    let reason = '';
    const database = {
      read: () => (reason === '' ? Promise.resolve(undefined) : Promise.reject(new Error(reason))),
    } as unknown as Database; // greeting calls nothing else of it
    const agents = createDirectAgents({
      database,
      clock: systemClock,
      log,
      direct: { hello: () => Promise.reject(new Error('nobody is greeted here')) },
      publicKeys: () => Promise.resolve([]),
      version: '0.1.0',
      onChanged: () => undefined,
      onOutbox: () => undefined,
      onReturn: () => undefined,
    });
    const greet = async (id: string, why: string): Promise<void> => {
      reason = why;
      expect(await agents.greet({ id, tenantId: 'acme' } as LinkedConnection)).to.equal(undefined);
    };
    await greet('a', 'private address');
    await greet('a', 'private address');
    await greet('b', 'private address');
    await greet('a', 'connection refused');
    await greet('a', '');
    await greet('a', 'connection refused');
    expect(lines.map(({ level, connectionId, err }) => [level, connectionId, err.message])).to.deep.equal([
      [40, 'a', 'private address'],
      [20, 'a', 'private address'],
      [40, 'b', 'private address'],
      [40, 'a', 'connection refused'],
      [40, 'a', 'connection refused'],
    ]);
  });
});
