import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { announce } from '../../data-plane-agent/base/link/announcement.js';
import { newLinkKey, signerOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import { LINK, negotiated, PROTOCOLS, type ProtocolRange } from '../../data-plane-agent/base/link/limits.js';
import type { Hello } from '../../data-plane-agent/base/link/messages.js';
import { greet, type Greeted } from '../../server/data-planes/link/greeting.js';
import type { AuthenticatedAgent } from '../../server/data-planes/joining/agent-token.js';
import { linkedTenant } from '../support/agent.js';
import { linesOf } from '../base/link-support.js';
import { agentOf, eventually, factsOf, TENANT_ID, type Agent } from './link-support.js';

interface Meeting {
  readonly agent: Agent;
  readonly greeted: readonly Greeted[];
  /** The log of the control plane. */
  readonly lines: readonly Record<string, unknown>[];
}

describe('the version of the protocol', () => {
  let key: LinkKeyPair;
  const undo: (() => Promise<unknown>)[] = [];
  before(async () => {
    key = await newLinkKey();
  });
  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  });

  /** The control plane's real handshake meets the agent's. */
  const meet = async (theirs: ProtocolRange, ours: ProtocolRange, changes: Partial<Hello> = {}): Promise<Meeting> => {
    const server = createServer();
    const sockets = new WebSocketServer({ server, perMessageDeflate: false, maxPayload: LINK.maxPayload });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const own = await newLinkKey();
    const signer = signerOf(own);
    const { log, lines } = linesOf();
    const greeted: Greeted[] = [];
    const instanceId = newId();
    const connection = { id: factsOf({ origin }, '').connectionId, tenantId: TENANT_ID, instanceId };
    sockets.on('connection', (ws) =>
      greet(ws, { connection } as unknown as AuthenticatedAgent, {
        clock: systemClock,
        log,
        protocols: ours,
        welcome: ({ hello }) =>
          Promise.resolve({
            version: '2.0.0',
            operations: hello.operations,
            tenant: linkedTenant(),
            keys: [own.publicJwk],
            connections: 1,
          }),
        announce: ({ sid }, topic, value) =>
          announce(factsOf({ origin }, sid), { topic, value, signer, clock: systemClock }),
        ready: (it) => Promise.resolve(void greeted.push(it)),
        reported: () => undefined,
        outboxDue: () => undefined,
        ended: () => Promise.resolve(),
      }),
    );
    const agent = await agentOf({ origin, key: own, attempts: 0 } as Parameters<typeof agentOf>[0], {
      key,
      hello: () =>
        Promise.resolve({
          instanceId,
          bootId: newId(),
          sequence: 0,
          version: '1.0.0',
          protocols: theirs,
          operations: 'hash',
          schema: '0001-first',
          report: { components: [], outboxDue: false },
          ...changes,
        }),
    });
    undo.push(
      async () => {
        for (const client of sockets.clients) client.terminate();
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
      async () => {
        const stopped = agent.link.stop();
        agent.timers.advance(LINK.drainMs);
        await stopped;
      },
    );
    await eventually(() => greeted.length > 0 || agent.link.connection === 'incompatible');
    return { agent, greeted, lines };
  };

  it('is stated as one version, and from the second one on also the one before', () => {
    expect(PROTOCOLS.max - PROTOCOLS.min).to.equal(Math.min(1, PROTOCOLS.max - 1));
    expect(PROTOCOLS.min).to.be.at.least(1);
  });

  for (const [what, theirs, ours, agreed] of [
    ['the same two versions', { min: 2, max: 3 }, { min: 2, max: 3 }, 3],
    ['an agent one version behind', { min: 1, max: 2 }, { min: 2, max: 3 }, 2],
    ['an agent of the first version, one behind', { min: 1, max: 1 }, { min: 1, max: 2 }, 1],
    ['an agent one version ahead', { min: 3, max: 4 }, { min: 2, max: 3 }, 3],
    ['an agent ahead of the first version', { min: 1, max: 2 }, { min: 1, max: 1 }, 1],
  ] as const)
    it(`is the newest that both speak: ${what}`, async () => {
      expect(negotiated(theirs, ours)).to.equal(agreed);
      const { agent, greeted } = await meet(theirs, ours);
      expect(greeted.map(({ protocol }) => protocol)).to.deep.equal([agreed]);
      await eventually(() => agent.lines.length > 0);
      expect(agent.lines[0]).to.include({ msg: 'connected to the control plane', protocol: agreed });
    });

  for (const [what, theirs, ours, advice] of [
    [
      'an agent two versions behind',
      { min: 1, max: 1 },
      { min: 2, max: 3 },
      'upgrade the agent: the agent (1.0.0) speaks version 1 of the protocol, the control plane 2 to 3',
    ],
    [
      'an agent two versions ahead',
      { min: 3, max: 4 },
      { min: 1, max: 2 },
      'upgrade the control plane: the agent (1.0.0) speaks version 3 to 4 of the protocol, the control plane 1 to 2',
    ],
  ] as const)
    it(`is none with ${what}: both sides log which program to upgrade, and the agent waits before it tries again`, async () => {
      expect(negotiated(theirs, ours)).to.equal(undefined);
      const { agent, greeted, lines } = await meet(theirs, ours);
      expect(greeted).to.deep.equal([]);
      expect(agent.link.connection).to.equal('incompatible');
      expect(agent.lines).to.have.length(1);
      expect(agent.lines[0]).to.include({
        msg: 'this agent and the control plane have no protocol version in common',
        reason: `close code 4426, ${advice}`,
        fix: 'upgrade the older of the two programs',
      });
      expect(lines[0]).to.include({ msg: 'the session of an agent was refused', closeCode: 4426, reason: advice });
      expect(agent.timers.isPending(300_000), 'the next attempt is in five minutes').to.equal(true);
    });

  it('is agreed with a newer agent whose hello has fields that this program does not know', async () => {
    const newer = { features: ['more'] } as Partial<Hello>;
    const { greeted } = await meet({ min: 1, max: 2 }, { min: 1, max: 1 }, newer);
    expect(greeted.map(({ protocol }) => protocol)).to.deep.equal([1]);
    expect(greeted[0]?.hello).not.to.have.property('features');
  });
});
