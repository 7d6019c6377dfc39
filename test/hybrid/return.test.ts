import { expect } from 'chai';
import { OPERATOR } from '../support/accounts.js';
import { connected, startAgent, until, type TestAgent } from '../support/joined-agent.js';
import { fakeClock } from '../support/clock.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { reminding, shownDelivery, type Reminding } from '../support/reminding.js';
import { startHybrid } from '../support/hybrid.js';
import type { TestServer } from '../support/server.js';

const clock = fakeClock('2026-03-15T00:59:00.000Z');
const MINUTE_MS = 60_000;

describe('when an agent is back', () => {
  let server: TestServer;
  let receiver: Receiver;
  let org: Reminding;
  let agent: TestAgent;

  before(async () => {
    receiver = await startReceiver();
    server = await startHybrid({ clock, env: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' } });
  });
  beforeEach('an organisation in Shanghai, at 08:59 there', async () => {
    clock.set('2026-03-15T00:59:00.000Z');
    org = await reminding(server);
    agent = await startAgent(server, org.made.tenant.id, { clock });
  });
  afterEach(() => agent?.stop());
  after(async () => {
    await server?.stop();
    await receiver?.stop();
  });

  const tick = () => server.schedules.run('reminders');
  const decided = async () => (await org.deliveries()).map(shownDelivery);

  it('the sweep that was missed runs once, without waiting for the next attempt', async () => {
    await org.enter([{ dueDate: '2026-03-15' }]);
    await agent.halt();
    clock.advance(2 * MINUTE_MS);
    await tick();
    await tick();
    await agent.start();
    await connected(server, org.made.tenant.id);
    expect(await decided()).to.deep.equal([]);
    await until(async () => {
      await tick();
      return (await decided()).length > 0;
    }, 'the sweep has run');
    clock.advance(10 * MINUTE_MS);
    await tick();
    expect(await decided()).to.deep.equal(['due_day skipped NO_CHANNEL']);
  });

  it('the sweep of a day that is over is not made up for', async () => {
    await org.enter([{ dueDate: '2026-03-15' }]);
    await agent.halt();
    clock.advance(2 * MINUTE_MS);
    await tick();
    clock.set('2026-03-16T00:30:00.000Z');
    await agent.start();
    await connected(server, org.made.tenant.id);
    await tick();
    expect(await decided(), 'at 08:30 on the next day').to.deep.equal([]);
    clock.set('2026-03-16T01:01:00.000Z');
    await tick();
    expect(await decided()).to.deep.equal(['due_day superseded SUPERSEDED', 'overdue_1 skipped NO_CHANNEL']);
  });

  it('its messages are delivered, once each', async () => {
    await org.addChannel({ kind: 'webhook', name: 'Desk', target: `${receiver.url}/desk` });
    await org.enter([{ dueDate: '2026-03-15' }]);
    clock.advance(2 * MINUTE_MS);
    await tick();
    await until(async () => receiver.requests.length > 0, 'the reminder is delivered');
    await until(async () => (await decided()).includes('due_day sent'), 'the delivery is recorded');
    expect(receiver.requests).to.have.length(1);
  });

  it('nothing is sent for an organisation whose agent was revoked', async () => {
    await org.enter([{ dueDate: '2026-03-15' }]);
    await server.services.tenants.connections.revoke({ tenantId: org.made.tenant.id, kind: 'agent' }, OPERATOR);
    clock.advance(2 * MINUTE_MS);
    await tick();
    expect(server.logged.filter(({ level, job }) => level === 50 && job === 'reminders')).to.deep.equal([]);
  });
});
